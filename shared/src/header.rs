//! The header of a source: the position of its first record, and the names of its columns.
//!
//! Read once by the splitter, and again by completion if a job was stopped before its first group. A file that cannot
//! be read at all is refused here, with a code and a message. A bad row later fails alone.

use std::collections::BTreeSet;

use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{FileStream, Files, PortError, Read};
use longshore_domain::records::{Cutter, Extent, Format, Span, UnreadableFile, check_utf8, sniff};
use longshore_domain::text::{listed, quoted};

use crate::chunk::{source_changed, source_missing};
use crate::handler::CellReader;

/// Bytes that are read to recognize a text file. They also contain nearly every header.
const HEAD_BYTES: u64 = 64 * 1024;
/// Maximum size of a header; its columns are kept in one item of 400 KB, together with options of up to 128 KiB.
const HEADER_BYTES: usize = 256 * 1024;
/// Maximum number of columns. A file with more columns is not a table, or has other separators than commas.
const MAX_COLUMNS: usize = 10_000;

/// The header of a readable file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileHeader {
    /// Offset after the header, from which the first item is searched.
    pub start: u64,
    /// Names of the columns of CSV, in order; `None` for JSON Lines.
    pub columns: Option<Vec<String>>,
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

/// Reads a file's header.
///
/// # Errors
/// If the bucket fails, or the file cannot be read.
pub async fn read_header(files: &impl Files, source: &SourceFile) -> Result<FileHeader, HeaderError> {
    if source.size_bytes == 0 {
        return Err(UnreadableFile::Empty.into());
    }
    let head_end = source.size_bytes.min(HEAD_BYTES);
    let mut stream = match files.open(&source.key, Some(&source.etag), 0, Some(head_end)).await? {
        Read::Found(stream) => stream,
        Read::Absent => return Err(source_missing(source).into()),
        Read::Changed => return Err(source_changed(source).into()),
    };
    let mut head = Vec::with_capacity(head_end as usize);
    while let Some(block) = stream.next().await? {
        head.extend_from_slice(&block);
    }
    if (head.len() as u64) < head_end {
        return Err(ended_early().into());
    }
    let bom_len = sniff(&head, Extent::from_lengths(head_end, source.size_bytes))?.bom_len;
    first_record(files, source, head.split_off(bom_len), bom_len as u64).await
}

/// Returns the first byte of a job's file that is in no group. Before the first group, it is the end of the header.
pub fn unsplit_from(job: &Job, header: Option<&FileHeader>) -> u64 {
    header.filter(|_| job.split.groups == 0).map_or(job.split.offset, |header| header.start)
}

/// Finds the first record after any number of blank lines; keeps no more than that record in memory.
async fn first_record(
    files: &impl Files,
    source: &SourceFile,
    head: Vec<u8>,
    offset: u64,
) -> Result<FileHeader, HeaderError> {
    let mut seeker = Seeker { cutter: Cutter::starting_at(source.format, offset), kept: Vec::new(), kept_from: offset };
    if let Some(found) = seeker.feed(source.format, &head)? {
        return Ok(found);
    }
    let read_to = offset + head.len() as u64;
    if read_to < source.size_bytes {
        let mut stream = match files.open(&source.key, Some(&source.etag), read_to, None).await? {
            Read::Found(stream) => stream,
            Read::Absent => return Err(source_missing(source).into()),
            Read::Changed => return Err(source_changed(source).into()),
        };
        while let Some(block) = stream.next().await? {
            if let Some(found) = seeker.feed(source.format, &block)? {
                return Ok(found);
            }
        }
        if seeker.cutter.offset() < source.size_bytes {
            return Err(ended_early().into());
        }
    }
    match seeker.cutter.finish() {
        Some(span) => seeker.header(source.format, span),
        None => Err(UnreadableFile::Empty.into()),
    }
}

struct Seeker {
    cutter: Cutter,
    /// The bytes of the unfinished record, from `kept_from` on.
    kept: Vec<u8>,
    kept_from: u64,
}

impl Seeker {
    fn feed(&mut self, format: Format, block: &[u8]) -> Result<Option<FileHeader>, HeaderError> {
        self.kept.extend_from_slice(block);
        let mut first = None;
        self.cutter.feed(block, &mut |span| {
            first.get_or_insert(span);
        });
        if let Some(span) = first {
            return self.header(format, span).map(Some);
        }
        let keep_from = self.cutter.open_since().unwrap_or(self.cutter.offset());
        if format == Format::JsonLines && keep_from < self.cutter.offset() {
            return Ok(Some(FileHeader { start: keep_from, columns: None, issues: Vec::new() }));
        }
        self.kept.drain(..(keep_from - self.kept_from) as usize);
        self.kept_from = keep_from;
        if self.kept.len() > HEADER_BYTES { Err(header_too_long().into()) } else { Ok(None) }
    }

    fn header(&self, format: Format, span: Span) -> Result<FileHeader, HeaderError> {
        if format == Format::JsonLines {
            return Ok(FileHeader { start: span.start, columns: None, issues: Vec::new() });
        }
        if span.unterminated {
            return Err(unterminated_header().into());
        }
        let header = &self.kept[(span.start - self.kept_from) as usize..(span.content_end - self.kept_from) as usize];
        if header.len() > HEADER_BYTES {
            return Err(header_too_long().into());
        }
        check_utf8(header, span.start)?;
        let (columns, issues) = name_columns(header)?;
        Ok(FileHeader { start: span.end, columns: Some(columns), issues })
    }
}

/// Returns the names of the columns: trimmed, unique; a column without a name is named by its position. A byte order
/// mark before a name, as in two joined files with one mark each, is invisible and so is removed.
fn name_columns(header: &[u8]) -> Result<(Vec<String>, Vec<JobError>), JobError> {
    let mut cells = CellReader::default();
    let cells = cells.read(header);
    if cells.len() > MAX_COLUMNS {
        return Err(too_many_columns(cells.len()));
    }
    let (mut columns, mut unnamed, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (i, cell) in cells.iter().enumerate() {
        let mut name =
            String::from_utf8_lossy(cell).trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned();
        if name.is_empty() {
            name = format!("column_{}", i + 1);
            unnamed.push(name.clone());
        }
        if !seen.insert(name.clone()) {
            let message =
                format!("two columns are called {}; rename one of them in the first line of the file", quoted(&name));
            return Err(JobError::new("duplicate_column", message));
        }
        columns.push(name);
    }
    let issue = || {
        JobError::new(
            "unnamed_column",
            format!("columns without a name were named {}", listed(unnamed.iter().map(String::as_str))),
        )
    };
    let issues = if unnamed.is_empty() { Vec::new() } else { vec![issue()] };
    Ok((columns, issues))
}

/// Returns the error of a stream that ended before its file. The file is read again, because a part of a line would
/// otherwise be used as the header.
fn ended_early() -> PortError {
    PortError { service: "files", operation: "read", source: "the stream ended before the end of the file".into() }
}

fn too_many_columns(columns: usize) -> JobError {
    let message = format!(
        "the first line has {columns} columns, but a file may have up to {MAX_COLUMNS}; check that the first line is \
         the header, and that each row is on its own line"
    );
    JobError::new("too_many_columns", message)
}

fn header_too_long() -> JobError {
    let message = format!(
        "the first line is longer than {} KiB, so it is not a header; check that the file is CSV, and that the first \
         line has no unclosed quote",
        HEADER_BYTES / 1024
    );
    JobError::new("header_too_long", message)
}

fn unterminated_header() -> JobError {
    let message =
        "a quote that opens in the first line is never closed, so the whole file is one line; close the quote";
    JobError::new("unterminated_quote", message)
}

#[cfg(test)]
mod tests {
    use super::{MAX_COLUMNS, name_columns};

    fn header(columns: usize) -> String {
        (0..columns).map(|n| format!("c{n}")).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_file_may_have_ten_thousand_columns() {
        assert_eq!(name_columns(header(MAX_COLUMNS).as_bytes()).unwrap().0.len(), MAX_COLUMNS);
        for many in [header(MAX_COLUMNS + 1), header(30_000), ",".repeat(200_000)] {
            let error = name_columns(many.as_bytes()).unwrap_err();
            assert_eq!(error.code, "too_many_columns");
            assert!(error.message.contains("up to 10000"), "{}", error.message);
        }
    }

    #[test]
    fn messages_about_a_header_are_short() {
        let (columns, issues) = name_columns(",".repeat(9_000).as_bytes()).unwrap();
        assert_eq!((columns.len(), columns[8_999].as_str()), (9_001, "column_9000"));
        assert!(issues[0].message.ends_with("and 8981 more") && issues[0].message.len() < 500, "{:?}", issues[0]);
        let long = "x".repeat(100_000);
        let error = name_columns(format!("{long},{long}").as_bytes()).unwrap_err();
        assert!(error.code == "duplicate_column" && error.message.len() < 200, "{}", error.message);
    }
}
