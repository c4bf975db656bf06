//! Reproducible ZIP archives: equal files give equal bytes, whatever their order, the time and the machine.

use anyhow::Result;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter};

/// Permissions of a program.
pub const PROGRAM: u32 = 0o755;

/// Permissions of a document.
pub const DOCUMENT: u32 = 0o644;

/// A file of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Path in the archive. Folders are separated by `/`.
    pub name: &'a str,
    /// Contents.
    pub content: &'a [u8],
    /// Unix permissions: [`PROGRAM`] or [`DOCUMENT`].
    pub mode: u32,
}

/// Effort of the compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// None, for files that are compressed already.
    None,
    /// Fast, for archives that are unpacked at once.
    Fast,
    /// Small, for archives that are transferred.
    Small,
}

/// Creates an archive of files, sorted by name, with the time 1980-01-01.
///
/// # Errors
/// If two files have the same name, or a file has more than 4 GiB.
pub fn write(entries: &[Entry<'_>], compression: Compression) -> Result<Vec<u8>> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| entry.name);
    let bytes: usize = entries.iter().map(|entry| entry.content.len() + 256).sum();
    let mut archive = ZipWriter::new(Cursor::new(Vec::with_capacity(bytes)));
    for Entry { name, content, mode } in entries {
        archive.start_file(name, options(compression).unix_permissions(mode))?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Reads a file of an archive.
///
/// # Errors
/// If it is not an archive, or does not have the file.
pub fn read(archive: &[u8], name: &str) -> Result<Vec<u8>> {
    let (mut archive, mut content) = (ZipArchive::new(Cursor::new(archive))?, Vec::new());
    archive.by_name(name)?.read_to_end(&mut content)?;
    Ok(content)
}

fn options(compression: Compression) -> SimpleFileOptions {
    let (method, level) = match compression {
        Compression::None => (CompressionMethod::Stored, None),
        Compression::Fast => (CompressionMethod::Deflated, Some(1)),
        Compression::Small => (CompressionMethod::Deflated, Some(9)),
    };
    SimpleFileOptions::default()
        .compression_method(method)
        .compression_level(level)
        .last_modified_time(DateTime::default())
        .system(System::Unix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_sorted_and_reproducible() -> Result<()> {
        let program = Entry { name: "bootstrap", content: b"binary", mode: PROGRAM };
        let document = Entry { name: "a/b.txt", content: b"text", mode: DOCUMENT };
        for compression in [Compression::None, Compression::Fast, Compression::Small] {
            let bytes = write(&[program, document], compression)?;
            assert_eq!(bytes, write(&[document, program], compression)?);
            assert_eq!(read(&bytes, document.name)?, document.content);
            assert!(read(&bytes, "b.txt").is_err());
            let mut archive = ZipArchive::new(Cursor::new(bytes))?;
            for (index, expected) in [document, program].into_iter().enumerate() {
                let mut file = archive.by_index(index)?;
                assert_eq!(file.unix_mode().map(|mode| mode & 0o777), Some(expected.mode));
                assert_eq!(file.last_modified(), Some(DateTime::default()));
                let mut content = Vec::new();
                file.read_to_end(&mut content)?;
                assert_eq!(content, expected.content);
            }
        }
        Ok(())
    }

    #[test]
    fn two_files_of_one_name_are_an_error() {
        let entry = Entry { name: "a", content: b"", mode: DOCUMENT };
        assert!(write(&[entry, entry], Compression::None).is_err());
    }
}
