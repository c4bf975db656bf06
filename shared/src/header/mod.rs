//! The header of a source: the position of its first record, and the names of its columns.
//!
//! Read once by the splitter, and again by completion if a job was stopped before its first group. A file that cannot
//! be read at all is refused here, with a code and a message. A bad row later fails alone.

mod refusals;
mod seeker;

use longshore_domain::job::{Job, JobError, Original, SourceFile};
use longshore_domain::ports::{FileStream, Files, PortError, PortResult, Read};
use longshore_domain::records::{
    Cutter, Extent, Form, Format, GivenReading, GivenSheet, Reading, TextEncoding, UnreadableFile, sniff,
};

use crate::chunk::{source_changed, source_missing};
use crate::files::ResumingReader;
use crate::first_rows::FirstCell;
use crate::reading::detect_reading;

use self::refusals::{empty, ended_early, rows_too_far};
use self::seeker::Seeker;

/// Bytes of a name in an item of DynamoDB, besides its text.
pub(crate) const NAME_OVERHEAD: usize = 4;

/// Bytes in which the header, or the first value, must begin. Blank rows and comments before it are read at every split
/// and inspection.
const SEARCH_BYTES: u64 = 64 << 20;

/// The header of a readable file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileHeader {
    /// Offset after the header, from which the first item is searched.
    pub start: u64,
    /// Names of the columns of CSV, in order; `None` for JSON Lines.
    pub columns: Option<Vec<String>>,
    /// Cells of the first rows of CSV that have one for each column.
    pub rows: Vec<Vec<FirstCell>>,
    /// The reading of CSV; `None` for JSON Lines.
    pub reading: Option<Reading>,
    /// Issues of the header to report to the client.
    pub issues: Vec<JobError>,
}

/// Error of reading a header.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// The bucket failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The file cannot be read: an error of the job.
    #[error("{}", .0.message)]
    Source(JobError),
    /// The file must be converted before it can be read: `prepare` does so.
    #[error("the file must be prepared first")]
    Unprepared(Form),
}

impl From<JobError> for HeaderError {
    fn from(error: JobError) -> Self {
        Self::Source(error)
    }
}

impl From<UnreadableFile> for HeaderError {
    fn from(error: UnreadableFile) -> Self {
        Self::Source(JobError::new(error.code(), error.to_string()))
    }
}

/// Reads a file's header. What is not `given` of the reading of CSV is found in the first bytes. The issues are about
/// what the client has not `asked` for.
///
/// # Errors
/// If the bucket fails, or the file cannot be read or must be prepared first.
pub async fn read_header(
    files: &impl Files,
    source: &SourceFile,
    given: GivenReading,
    asked: GivenReading,
) -> Result<FileHeader, HeaderError> {
    if source.size_bytes == 0 {
        return Err(empty(source).into());
    }
    // These bytes contain nearly every header, too.
    let head_end = source.size_bytes.min(Form::HEAD_BYTES);
    let mut stream = open(files, source, 0, Some(head_end)).await?;
    let mut head = Vec::with_capacity(head_end as usize);
    while let Some(block) = stream.next().await? {
        head.extend_from_slice(&block);
    }
    if (head.len() as u64) < head_end {
        return Err(ended_early().into());
    }
    if let Some(form) = Form::detect(&head).filter(|_| source.original.is_none()) {
        return Err(HeaderError::Unprepared(form));
    }
    let extent = Extent::from_lengths(head_end, source.size_bytes);
    let mark = sniff(&head, extent)?.bom_len;
    if source.format == Format::JsonLines {
        return first_value(files, source, head.split_off(mark), mark as u64).await;
    }
    let found = detect_reading(&head, extent, given_of(source, given), asked)?;
    let head = head.split_off(found.table_from);
    let seeker = Seeker::new(found.reading, found.table_from as u64);
    let mut header = seeker.seek(files, source, head, extent).await?;
    header.issues.splice(0..0, found.issues);
    header.issues.extend(source.original.as_deref().into_iter().flat_map(sheet_issues));
    Ok(header)
}

/// Returns what a person may not expect of the rows of a sheet.
fn sheet_issues(original: &Original) -> impl Iterator<Item = JobError> {
    let hidden = counted(original.hidden_rows, "hidden row");
    let hidden = hidden.map(|rows| JobError::new("rows_hidden", format!("the sheet has {rows}; they are read, too")));
    let merged = counted(original.merged_ranges, "merged range").map(|ranges| {
        let message = format!("the sheet has {ranges}; the value of each belongs to its first cell only");
        JobError::new("cells_merged", message)
    });
    hidden.into_iter().chain(merged)
}

fn counted(number: u32, what: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{number} {what}s")),
    }
}

/// Returns the form of a file that must be prepared; `None` for other files, and for a file that is gone.
///
/// # Errors
/// If the bucket fails.
pub async fn detect_form(files: &impl Files, file: &SourceFile) -> PortResult<Option<Form>> {
    if file.original.is_some() {
        return Ok(None);
    }
    let head = ResumingReader::read_range(files, file, 0..Form::HEAD_BYTES).await?;
    Ok(head.and_then(|head| Form::detect(&head)))
}

/// Returns what is given of the reading of a file. What a preparation has written is known, whatever the client has
/// given.
fn given_of(source: &SourceFile, given: GivenReading) -> GivenReading {
    match source.original.as_deref() {
        // Sheets have no comments, and every row counts.
        Some(original) if original.sheet.is_some() => {
            GivenReading { header_row: given.header_row, ..GivenReading::from(Reading::default()) }
        }
        Some(original) if original.form == Form::Utf16 => {
            GivenReading { encoding: Some(TextEncoding::default()), ..given }
        }
        _ => given,
    }
}

/// Refuses the choice of a sheet of a file that is not a workbook.
///
/// # Errors
/// `not_a_workbook`.
pub fn check_sheet(is_workbook: bool, sheet: Option<&GivenSheet>) -> Result<(), JobError> {
    if sheet.is_none() || is_workbook {
        return Ok(());
    }
    let message = "reading.sheet names the sheet of a workbook, but the file is not one; remove it";
    Err(JobError::new("not_a_workbook", message))
}

/// Returns the first byte of a job's file that is in no group. Before the first group, it is the end of the header.
pub fn unsplit_from(job: &Job, header: Option<&FileHeader>) -> u64 {
    header.filter(|_| job.split.groups == 0).map_or(job.split.offset, |header| header.start)
}

/// Finds the start of the first value of JSON Lines.
async fn first_value(
    files: &impl Files,
    source: &SourceFile,
    head: Vec<u8>,
    offset: u64,
) -> Result<FileHeader, HeaderError> {
    let mut cutter = Cutter::starting_at(Format::JsonLines, offset);
    let first = |cutter: &mut Cutter, block: &[u8]| {
        let mut first = None;
        cutter.feed(block, &mut |span| first = first.or(Some(span.start)));
        first.or(cutter.open_since())
    };
    let mut start = first(&mut cutter, &head);
    if start.is_none() && cutter.offset() < source.size_bytes {
        let mut stream = open(files, source, cutter.offset(), None).await?;
        while start.is_none()
            && let Some(block) = stream.next().await?
        {
            start = first(&mut cutter, &block);
            if start.is_none() {
                check_search(cutter.offset())?;
            }
        }
        if start.is_none() && cutter.offset() < source.size_bytes {
            return Err(ended_early().into());
        }
    }
    let start = start.ok_or_else(|| empty(source))?;
    Ok(FileHeader { start, columns: None, rows: Vec::new(), reading: None, issues: Vec::new() })
}

/// Refuses a file in which nothing was found up to this offset.
///
/// # Errors
/// `header_missing`.
fn check_search(offset: u64) -> Result<(), JobError> {
    if offset <= SEARCH_BYTES { Ok(()) } else { Err(rows_too_far()) }
}

/// Opens the source from byte `start` to `end` (exclusive), or to its end.
async fn open<F: Files>(
    files: &F,
    source: &SourceFile,
    start: u64,
    end: Option<u64>,
) -> Result<F::Stream, HeaderError> {
    match files.open(&source.key, Some(&source.etag), start, end).await? {
        Read::Found(stream) => Ok(stream),
        Read::Absent => Err(source_missing(source).into()),
        Read::Changed => Err(source_changed(source).into()),
    }
}
