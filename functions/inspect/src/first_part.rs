//! The first part of a file that must be converted, converted in memory.

use std::io;
use std::time::Duration;

use longshore::files::ResumingReader;
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{FileInfo, FileStream, Files, PortError, PortResult, PrefixRemoval, Read};
use longshore_domain::records::{Form, GivenSheet};
use longshore_domain::sheet_rows::SheetRows;
use longshore_preparation::{Conversion, Limits, Prepared, Step, sheet_choice};
use tokio::time::{Instant, timeout_at};

use crate::document::{PreparedDocument, SheetDocument};

/// Bytes of the converted text: far more than are read for the header and the first rows.
const PART_BYTES: u64 = 512 << 10;

/// Time after which a conversion is given up: half of the function's.
const LONGEST: Duration = Duration::from_secs(15);

/// The first part of a converted file.
pub struct FirstPart {
    /// The text.
    pub file: TextInMemory,
    /// True if there can be more text.
    pub(crate) is_cut: bool,
    /// The same, as the file of a job.
    pub source: SourceFile,
    /// What was converted.
    pub(crate) document: PreparedDocument,
    /// The numbers of the rows of a sheet.
    pub(crate) rows: Option<SheetRows>,
}

/// Converts a file until there is enough text. Returns the error of a job if the file cannot be converted.
///
/// # Errors
/// If the bucket fails.
pub async fn convert_first_part(
    files: &impl Files,
    source: &SourceFile,
    form: Form,
    sheet: Option<&GivenSheet>,
) -> PortResult<Result<FirstPart, JobError>> {
    let limits = Limits { enough_bytes: PART_BYTES, ..Limits::default() };
    let mut conversion =
        Conversion::start(form, source.size_bytes, sheet_choice(sheet.cloned()), limits).map_err(failed)?;
    let (mut text, ends) = (Vec::new(), Instant::now() + LONGEST);
    loop {
        let Ok(step) = timeout_at(ends, conversion.next()).await else { return Ok(Err(too_long())) };
        match step {
            Step::Read(range) => {
                let bytes = ResumingReader::read_range(files, source, range).await?;
                conversion.answer(bytes.ok_or_else(|| failed("the file was replaced while it was read"))?);
            }
            Step::Part(part) => text.extend_from_slice(&part),
            Step::Ended(Ok(prepared)) => {
                let checked = prepared.check_format(source.format);
                return Ok(checked.map(|()| FirstPart::new(source, form, text, prepared)));
            }
            Step::Ended(Err(error)) => {
                let Some(code) = error.code() else { return Err(failed(error)) };
                return Ok(Err(JobError::new(code, error.to_string())));
            }
        }
    }
}

impl FirstPart {
    fn new(source: &SourceFile, form: Form, text: Vec<u8>, prepared: Prepared) -> Self {
        let rows = prepared.sheet.as_ref().map(|_| SheetRows::from_steps(prepared.row_steps.as_bytes()));
        let original = prepared.original(source, form);
        let sheets = prepared.sheets.into_iter();
        let document = PreparedDocument {
            form: original.form,
            file: prepared.file,
            sheet: prepared.sheet,
            header_sheet_row: None,
            sheets: sheets.map(|sheet| SheetDocument { name: sheet.name, hidden: sheet.is_hidden }).collect(),
        };
        let original = Some(Box::new(original));
        let source = SourceFile { size_bytes: text.len() as u64, original, ..source.clone() };
        Self { is_cut: text.len() as u64 >= PART_BYTES, file: TextInMemory(text), source, document, rows }
    }
}

fn too_long() -> JobError {
    let message = format!(
        "the file could not be converted up to its first rows within {} seconds; create the job, which has more time, or \
         upload the file as CSV",
        LONGEST.as_secs()
    );
    JobError::new("inspection_too_long", message)
}

/// Returns the error of a file whose header is not in its first part.
pub(crate) fn header_too_far() -> JobError {
    let message = format!(
        "the first {} KiB of the file have no header; create the job, which reads further, or remove the rows above the \
         header",
        PART_BYTES >> 10
    );
    JobError::new("inspection_too_long", message)
}

fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(source: E) -> PortError {
    PortError { service: "files", operation: "convert", source: source.into() }
}

/// The text of one file. It can only be read.
#[derive(Debug)]
pub struct TextInMemory(Vec<u8>);

/// The whole text as one block.
#[derive(Debug)]
pub struct Block(Option<Vec<u8>>);

impl FileStream for Block {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        Ok(self.0.take())
    }
}

impl Files for TextInMemory {
    type Stream = Block;

    async fn info(&self, _key: &str) -> PortResult<Option<FileInfo>> {
        Ok(Some(FileInfo { size_bytes: self.0.len() as u64, etag: String::new() }))
    }

    async fn open(&self, _key: &str, _etag: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<Block>> {
        let end = end.map_or(self.0.len(), |end| self.0.len().min(end as usize));
        Ok(Read::Found(Block(self.0.get(start as usize..end).map(<[u8]>::to_vec))))
    }

    async fn read(&self, _key: &str, _etag: Option<&str>, _plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        Ok(Read::Found(self.0.clone()))
    }

    async fn write(&self, _key: &str, _content_type: &str, _bytes: Vec<u8>) -> PortResult<()> {
        Err(failed(read_only()))
    }

    async fn remove(&self, _key: &str) -> PortResult<()> {
        Err(failed(read_only()))
    }

    async fn remove_some(&self, _prefix: &str) -> PortResult<PrefixRemoval> {
        Err(failed(read_only()))
    }
}

fn read_only() -> io::Error {
    io::ErrorKind::ReadOnlyFilesystem.into()
}
