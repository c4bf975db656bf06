//! A ZIP archive with one file.

use std::io::{Read, Seek, SeekFrom};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::convert::shown_name;
use crate::error::PreparationError;
use crate::limits::Counted;
use crate::sink::{Sink, copy};

/// Maximum number of entries, and of the names that a message lists with the characters of each.
const ENTRIES: usize = 1_000;
const LISTED: usize = 5;
const LISTED_CHARS: usize = 40;

/// Maximum bytes of the directory, which is held in memory. An entry has at least 46.
const DIRECTORY_BYTES: u64 = 1 << 20;

/// Parts that only workbooks have: of Excel, and of OpenDocument, which is refused with its reason.
const WORKBOOK_PARTS: [&str; 2] = ["[Content_Types].xml", "mimetype"];

/// Returns true if an archive has a part of a workbook. Most programs write it first, where
/// [`Form`](longshore_domain::records::Form) finds it.
pub(crate) fn is_workbook<R: Read + Seek>(file: &mut Counted<R>) -> Result<bool, PreparationError> {
    let archive = open(file)?;
    Ok(archive.len() > 1 && WORKBOOK_PARTS.iter().any(|part| archive.index_for_name(part).is_some()))
}

/// Writes the only file of an archive, and its name.
pub(crate) fn only_file<R: Read + Seek>(
    file: &mut Counted<R>,
    sink: &mut impl Sink,
    file_name: &mut Option<String>,
) -> Result<(), PreparationError> {
    let mut archive = open(file)?;
    if archive.len() > ENTRIES {
        return Err(PreparationError::NotOneFile { count: archive.len(), names: "…".to_owned() });
    }
    // The names are in the directory; each entry would be another read.
    let names = archive.file_names_raw().map(String::from_utf8_lossy).enumerate();
    let files: Vec<_> = names.filter(|(_, name)| !name.ends_with('/') && !is_hidden(name)).collect();
    let index = match files.as_slice() {
        [] => return Err(PreparationError::NoFile),
        [(index, name)] => {
            *file_name = Some(shown_name(name));
            *index
        }
        files => {
            let listed: Vec<_> = files.iter().take(LISTED).map(|(_, name)| shown(name)).collect();
            let more = if files.len() > LISTED { ", …" } else { "" };
            return Err(PreparationError::NotOneFile { count: files.len(), names: listed.join(", ") + more });
        }
    };
    let entry = archive.by_index_raw(index).map_err(refused)?;
    match (entry.encrypted(), entry.compression()) {
        (true, _) => return Err(PreparationError::Password),
        (_, CompressionMethod::Stored | CompressionMethod::Deflated) => drop(entry),
        (_, method) => return Err(PreparationError::Method(method.to_string())),
    }
    copy(archive.by_index(index).map_err(refused)?, sink)
}

/// Opens an archive, of which only the directory is read.
fn open<R: Read + Seek>(file: &mut Counted<R>) -> Result<ZipArchive<&mut Counted<R>>, PreparationError> {
    file.seek(SeekFrom::Start(0))?;
    file.limit_to(DIRECTORY_BYTES);
    let budget = file.budget();
    let archive = ZipArchive::new(file).map_err(refused)?;
    budget.set(u64::MAX);
    Ok(archive)
}

/// Returns true for what programs add to an archive: folders of macOS, and files whose names begin with a full stop.
fn is_hidden(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|file| file.starts_with('.'))
}

fn shown(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(LISTED_CHARS).collect();
    format!("{name:?}")
}

fn refused(error: ZipError) -> PreparationError {
    match error {
        ZipError::Io(error) => error.into(),
        error => PreparationError::damaged(error),
    }
}
