//! The header of a source: the position of its first record, and the names of its columns.
//!
//! Read once by the splitter, and again by completion if a job was stopped before its first group. A file that cannot
//! be read at all is refused here, with a code and a message. A bad row later fails alone.

use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{FileStream, Files, PortError, Read};
use longshore_domain::records::{
    Cutter, Extent, Form, Format, GivenReading, Reading, Sheet, Span, TextEncoding, UnreadableFile, check_utf8, sniff,
};

use crate::chunk::{source_changed, source_missing};
use crate::column_names::name_columns;
use crate::first_rows::first_rows;
use crate::handler::CellReader;
use crate::reading::detect_reading;

/// Bytes that are read to recognize a text file. They also contain nearly every header.
const HEAD_BYTES: u64 = 64 * 1024;
/// Maximum size of a header, and of its names with the overhead of each: they are kept in one item of 400 KB, together
/// with options of up to 128 KiB.
const HEADER_BYTES: usize = 256 * 1024;
/// Bytes of a name in an item of DynamoDB, besides its text.
pub(crate) const NAME_OVERHEAD: usize = 4;

/// The header of a readable file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileHeader {
    /// Offset after the header, from which the first item is searched.
    pub start: u64,
    /// Names of the columns of CSV, in order; `None` for JSON Lines.
    pub columns: Option<Vec<String>>,
    /// Cells of the first rows of CSV that have one for each column.
    pub rows: Vec<Vec<String>>,
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
        return Err(UnreadableFile::Empty.into());
    }
    let head_end = source.size_bytes.min(HEAD_BYTES);
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
    Ok(header)
}

/// Returns what is given of the reading of a file. What a preparation has written is known, whatever the client has given.
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
pub fn check_sheet(is_workbook: bool, sheet: Option<&Sheet>) -> Result<(), JobError> {
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
        }
        if start.is_none() && cutter.offset() < source.size_bytes {
            return Err(ended_early().into());
        }
    }
    let start = start.ok_or(UnreadableFile::Empty)?;
    Ok(FileHeader { start, columns: None, rows: Vec::new(), reading: None, issues: Vec::new() })
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

/// Seeks the header row, and keeps no more than one record in memory.
struct Seeker {
    reading: Reading,
    cutter: Cutter,
    /// Records that were passed.
    passed: u32,
    /// The bytes of the unfinished record, from `kept_from` on.
    kept: Vec<u8>,
    kept_from: u64,
}

impl Seeker {
    fn new(reading: Reading, offset: u64) -> Self {
        Self { reading, cutter: reading.cutter(offset), passed: 0, kept: Vec::new(), kept_from: offset }
    }

    /// Returns the header of a file whose first bytes, from the seeker's offset on, are `head`.
    async fn seek(
        mut self,
        files: &impl Files,
        source: &SourceFile,
        head: Vec<u8>,
        extent: Extent,
    ) -> Result<FileHeader, HeaderError> {
        let offset = self.kept_from;
        if let Some(mut found) = self.feed(&head)? {
            let columns = found.columns.as_ref().map_or(0, Vec::len);
            let rows = &head[(found.start - offset) as usize..];
            found.rows = first_rows(rows, found.start, self.reading, columns, extent);
            return Ok(found);
        }
        if self.cutter.offset() < source.size_bytes {
            let mut stream = open(files, source, self.cutter.offset(), None).await?;
            while let Some(block) = stream.next().await? {
                if let Some(found) = self.feed(&block)? {
                    return Ok(found);
                }
            }
            if self.cutter.offset() < source.size_bytes {
                return Err(ended_early().into());
            }
        }
        match self.cutter.finish() {
            Some(span) if self.passed == self.rows_above() => {
                let mut header = self.header(span)?;
                let row = &self.kept[(header.start - self.kept_from) as usize..];
                let columns = header.columns.as_ref().map_or(0, Vec::len);
                header.rows = first_rows(row, header.start, self.reading, columns, Extent::Whole);
                Ok(header)
            }
            None if self.passed == 0 => Err(UnreadableFile::Empty.into()),
            last => Err(too_few_rows(self.passed + u32::from(last.is_some()), self.reading.header_row).into()),
        }
    }

    /// Returns the number of records above the header, or above the first row of a file without one.
    fn rows_above(&self) -> u32 {
        self.reading.header_row.saturating_sub(1)
    }

    fn feed(&mut self, block: &[u8]) -> Result<Option<FileHeader>, HeaderError> {
        self.kept.extend_from_slice(block);
        let (mut header, rows_above) = (None, self.rows_above());
        let passed = &mut self.passed;
        self.cutter.feed(block, &mut |span| {
            if *passed == rows_above {
                header.get_or_insert(span);
            } else {
                *passed += 1;
            }
        });
        if let Some(span) = header {
            return self.header(span).map(Some);
        }
        let keep_from = self.cutter.open_since().unwrap_or(self.cutter.offset());
        self.kept.drain(..(keep_from - self.kept_from) as usize);
        self.kept_from = keep_from;
        if self.kept.len() > HEADER_BYTES { Err(header_too_long().into()) } else { Ok(None) }
    }

    fn header(&self, span: Span) -> Result<FileHeader, HeaderError> {
        if span.unterminated {
            return Err(unterminated_header().into());
        }
        let header = &self.kept[(span.start - self.kept_from) as usize..(span.content_end - self.kept_from) as usize];
        if header.len() > HEADER_BYTES {
            return Err(header_too_long().into());
        }
        let Reading { encoding, dialect, header_row, .. } = self.reading;
        if encoding.is_utf8() {
            check_utf8(header, span.start)?;
        }
        let header = encoding.decode(header).ok_or_else(|| undecodable_header(encoding))?;
        let mut cells = CellReader::new(dialect);
        let cells = cells.read(header.as_bytes());
        let names: Vec<_> = cells.iter().map(|cell| if header_row == 0 { &[] } else { cell }).collect();
        let (columns, mut issues) = name_columns(&names)?;
        if columns.iter().map(|column| column.len() + NAME_OVERHEAD).sum::<usize>() > HEADER_BYTES {
            return Err(names_too_long().into());
        }
        let start = if header_row == 0 { span.start } else { span.end };
        if header_row == 0 {
            issues.clear();
        }
        Ok(FileHeader { start, columns: Some(columns), rows: Vec::new(), reading: Some(self.reading), issues })
    }
}

/// Returns the error of a stream that ended before its file. The file is read again, because a part of a line would
/// otherwise be used as the header.
fn ended_early() -> PortError {
    PortError { service: "files", operation: "read", source: "the stream ended before the end of the file".into() }
}

fn too_few_rows(rows: u32, header_row: u32) -> JobError {
    let message = format!(
        "row {header_row} cannot be the header, because the file has {rows} rows; give the row with the names of the \
         columns as reading.headerRow"
    );
    JobError::new("header_missing", message)
}

fn undecodable_header(encoding: TextEncoding) -> JobError {
    let message = format!(
        "the header has bytes that are no character in {encoding}; give the encoding of the file as reading.encoding, or \
         save the file as UTF-8"
    );
    JobError::new("wrong_encoding", message)
}

fn header_too_long() -> JobError {
    let message = format!(
        "the first line is longer than {} KiB, so it is not a header; check that the file is CSV, and that the first \
         line has no unclosed quote",
        HEADER_BYTES / 1024
    );
    JobError::new("header_too_long", message)
}

fn names_too_long() -> JobError {
    let message = format!(
        "the names of the columns take more than {} KiB, counting {NAME_OVERHEAD} bytes more for each; remove columns, or \
         give them shorter names",
        HEADER_BYTES / 1024
    );
    JobError::new("header_too_long", message)
}

fn unterminated_header() -> JobError {
    let message =
        "a quote that opens in the first line is never closed, so the whole file is one line; close the quote";
    JobError::new("unterminated_quote", message)
}
