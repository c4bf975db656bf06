//! Fuzz target for splitting a file that arrives in any blocks: its records partition its bytes, and equal those of the
//! oracle.
//!
//! The first six bytes set the format, three block sizes, and the items and bytes of a chunk.

use futures::FutureExt;
use std::collections::BTreeSet;

use longshore::header::{FileHeader, HeaderError, read_header};
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{FileInfo, Files};
use longshore_domain::records::{Cutter, Extent, Form, Format, GivenReading, Reading, Span, records, sniff};
use longshore_domain::split::{ChunkLimits, Chunker};
use longshore_testing::MemoryFiles;

use crate::oracle;

pub(crate) fn check(input: &[u8]) {
    let Some((parameters, bytes)) = input.split_at_checked(6) else { return };
    let format = if parameters[0] % 2 == 0 { Format::Csv } else { Format::JsonLines };
    let spans: Vec<Span> = records(format, bytes).collect();
    assert_eq!(in_blocks(format, bytes, &parameters[1..4]), spans, "the records depend on the blocks");
    partition(format, bytes, &spans);
    compare_with_oracle(format, bytes, &spans);
    let limits =
        ChunkLimits { items: u32::from(parameters[4] % 8) + 1, bytes: u64::from(parameters[5]) + 1, item_bytes: 200 };
    chunks_contain_the_records(format, bytes, &spans, limits);
    check_header(format, bytes);
}

fn in_blocks(format: Format, bytes: &[u8], sizes: &[u8]) -> Vec<Span> {
    let (mut cutter, mut spans, mut remaining) = (Cutter::new(format), Vec::new(), bytes);
    let mut sizes = sizes.iter().map(|size| usize::from(*size) + 1).cycle();
    while !remaining.is_empty() {
        let (block, later) = remaining.split_at(sizes.next().unwrap_or(1).min(remaining.len()));
        cutter.feed(block, &mut |span| spans.push(span));
        let done = bytes.len() - later.len();
        assert_eq!(cutter.offset(), done as u64);
        assert!(cutter.open_since().is_none_or(|since| since < done as u64));
        remaining = later;
    }
    spans.extend(cutter.finish());
    spans
}

fn is_blank(format: Format, bytes: &[u8]) -> bool {
    let blank: &[u8] = if format == Format::Csv { b"\r\n" } else { b" \t\r\n" };
    bytes.iter().all(|byte| blank.contains(byte))
}

fn partition(format: Format, bytes: &[u8], spans: &[Span]) {
    let mut before = 0;
    for span in spans {
        let (start, content_end, end) = (span.start as usize, span.content_end as usize, span.end as usize);
        assert!(before <= start && start < content_end && content_end <= end && end <= bytes.len(), "{span:?}");
        assert!(is_blank(format, &bytes[before..start]), "{before} to {start} is not in a record");
        assert!(
            matches!(&bytes[content_end..end], b"" | b"\n" | b"\r" | b"\r\n"),
            "{span:?} does not end with a line end"
        );
        assert!(content_end < end || end == bytes.len(), "{span:?} contains its line end");
        before = end;
    }
    assert!(is_blank(format, &bytes[before..]), "the text after {before} is not in a record");
}

fn compare_with_oracle(format: Format, bytes: &[u8], spans: &[Span]) {
    let contents: Vec<_> = spans.iter().map(|span| span.content(bytes)).collect();
    if format == Format::JsonLines {
        assert_eq!(contents, oracle::lines(bytes));
        return;
    }
    let actual: Vec<_> = contents.iter().flat_map(|content| oracle::records(b',', content)).collect();
    assert_eq!(actual, oracle::records(b',', bytes));
    assert_eq!(actual.len(), spans.len(), "a record is read as none or several");
    let open = spans.iter().position(|span| span.unterminated);
    assert_eq!(open, oracle::is_open(b',', bytes).then(|| spans.len() - 1), "the unterminated record");
}

fn chunks_contain_the_records(format: Format, bytes: &[u8], spans: &[Span], limits: ChunkLimits) {
    let (mut chunker, mut plans) = (Chunker::new(limits, 1), Vec::new());
    for span in spans {
        chunker.push(*span, &mut |plan| plans.push(plan));
    }
    plans.extend(chunker.finish());
    let (mut next, mut actual) = (1, Vec::new());
    for ChunkPlan { first, items, start, end, oversize, .. } in plans {
        assert!(first == next && items > 0 && items <= limits.items);
        next += u64::from(items);
        let chunk = &bytes[start as usize..end as usize];
        let inside: Vec<Span> = records(format, chunk).collect();
        assert_eq!(inside.len(), items as usize, "the number of items in a chunk differs from its plan");
        let longest = limits.item_bytes.max(limits.bytes);
        assert_eq!(oversize, inside.iter().any(|span| span.content_end - span.start > longest));
        actual.extend(inside.iter().map(|span| span.content(chunk).to_vec()));
    }
    let contents: Vec<_> = spans.iter().map(|span| span.content(bytes).to_vec()).collect();
    assert_eq!(actual, contents, "the records of the chunks differ from the records of the file");
}

/// Compares the header with the oracle's first record.
fn check_header(format: Format, bytes: &[u8]) {
    let actual = header(format, bytes, Reading::default().into());
    if Form::detect(bytes).is_some() {
        return assert_eq!(code(&actual), "unprepared");
    }
    let bom_len = match sniff(bytes, Extent::Whole) {
        Ok(header) => header.bom_len,
        Err(refused) => return assert_eq!(code(&actual), refused.code()),
    };
    let text = &bytes[bom_len..];
    if format == Format::JsonLines {
        let start = actual.map(|header| header.start).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(bytes[start as usize..].starts_with(oracle::lines(text)[0]));
        return;
    }
    let Some(first) = Reading::default().cutter(0).all(text).next() else {
        return assert_eq!(code(&actual), "file_empty");
    };
    if first.unterminated {
        return assert_eq!(code(&actual), "unterminated_quote");
    }
    if std::str::from_utf8(first.content(text)).is_err() {
        return assert_eq!(code(&actual), "file_not_utf8");
    }
    let FileHeader { start, columns, reading, .. } = actual.unwrap_or_else(|error| panic!("{error:?}"));
    let columns = columns.unwrap_or_default();
    let cells = oracle::records(b',', first.content(text)).concat();
    assert_eq!((start, columns.len()), (bom_len as u64 + first.end, cells.len()));
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len(), "two columns have one name: {columns:?}");
    for (i, (column, cell)) in columns.iter().zip(&cells).enumerate() {
        let name = name((i, cell));
        let is_first = cells[..i].iter().all(|earlier| trimmed(earlier) != trimmed(cell));
        assert!(if is_first && !trimmed(cell).is_empty() {
            *column == name
        } else {
            column.chars().next() == name.chars().next()
        });
    }
    assert_eq!(reading, Some(Reading::default()));
    // What is found depends on the bytes alone, and is found again if it is given.
    if let Ok(found) = header(format, bytes, GivenReading::default()) {
        let given = found.reading.map(GivenReading::from).unwrap_or_default();
        let again = header(format, bytes, given).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((found.start, found.columns, found.reading), (again.start, again.columns, again.reading));
    }
}

fn code(header: &Result<FileHeader, JobError>) -> &str {
    header.as_ref().err().map_or("", |error| error.code.as_str())
}

fn trimmed(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

fn name((index, cell): (usize, &Vec<u8>)) -> String {
    let text = trimmed(cell);
    if text.is_empty() { format!("column_{}", index + 1) } else { text }
}

pub(crate) fn header(format: Format, bytes: &[u8], given: GivenReading) -> Result<FileHeader, JobError> {
    let (files, key) = (MemoryFiles::default(), "file".to_owned());
    files.put(&key, bytes);
    // In-memory calls never wait.
    let etag = files.info(&key).now_or_never().and_then(Result::ok).flatten().map(|info| info.etag).unwrap_or_default();
    let info = FileInfo { size_bytes: bytes.len() as u64, etag };
    let source = SourceFile::new(key, info, format, "");
    match read_header(&files, &source, given, given).now_or_never() {
        Some(Ok(header)) => Ok(header),
        Some(Err(HeaderError::Source(error))) => Err(error),
        Some(Err(HeaderError::Unprepared(form))) => Err(JobError::new("unprepared", format!("{form:?}"))),
        _ => panic!("an in-memory file failed"),
    }
}
