//! Fuzz target for splitting a file in any blocks: its records partition its bytes, and equal those of the oracle.
//!
//! The first six bytes set the format, three block sizes, and the items and bytes of a chunk.

use futures::FutureExt;
use longshore::header::{FileHeader, HeaderError, read_header};
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::Files;
use longshore_domain::records::{Cutter, Extent, Format, Span, records, sniff};
use longshore_domain::split::{ChunkLimits, Chunker};
use longshore_testing::MemoryFiles;

use crate::oracle;

pub(crate) fn check(input: &[u8]) {
    let Some((how, bytes)) = input.split_at_checked(6) else { return };
    let format = if how[0] % 2 == 0 { Format::Csv } else { Format::JsonLines };
    let spans: Vec<Span> = records(format, bytes).collect();
    assert_eq!(in_blocks(format, bytes, &how[1..4]), spans, "the blocks show");
    partition(format, bytes, &spans);
    are_the_other_readers(format, bytes, &spans);
    let limits = ChunkLimits { items: u32::from(how[4] % 8) + 1, bytes: u64::from(how[5]) + 1, item_bytes: 200 };
    chunks_hold_the_records(format, bytes, &spans, limits);
    opens(format, bytes);
}

fn in_blocks(format: Format, bytes: &[u8], sizes: &[u8]) -> Vec<Span> {
    let (mut cutter, mut spans, mut rest) = (Cutter::new(format), Vec::new(), bytes);
    let mut sizes = sizes.iter().map(|size| usize::from(*size) + 1).cycle();
    while !rest.is_empty() {
        let (block, later) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
        cutter.feed(block, &mut |span| spans.push(span));
        let done = bytes.len() - later.len();
        assert_eq!(cutter.offset(), done as u64);
        assert!(cutter.open_since().is_none_or(|since| since < done as u64));
        rest = later;
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
        assert!(is_blank(format, &bytes[before..start]), "{before} to {start} is in no record");
        assert!(matches!(&bytes[content_end..end], b"" | b"\n" | b"\r" | b"\r\n"), "{span:?} ends otherwise");
        assert!(content_end < end || end == bytes.len(), "{span:?} has its line end for content");
        before = end;
    }
    assert!(is_blank(format, &bytes[before..]), "what comes after {before} is in no record");
}

fn are_the_other_readers(format: Format, bytes: &[u8], spans: &[Span]) {
    let contents: Vec<_> = spans.iter().map(|span| span.content(bytes)).collect();
    if format == Format::JsonLines {
        assert_eq!(contents, oracle::lines(bytes));
        return;
    }
    let found: Vec<_> = contents.iter().flat_map(|content| oracle::records(b',', content)).collect();
    assert_eq!(found, oracle::records(b',', bytes));
    assert_eq!(found.len(), spans.len(), "a record is none, or several");
    let open = spans.iter().position(|span| span.unterminated);
    assert_eq!(open, oracle::is_open(b',', bytes).then(|| spans.len() - 1), "the record that is never closed");
}

fn chunks_hold_the_records(format: Format, bytes: &[u8], spans: &[Span], limits: ChunkLimits) {
    let (mut chunker, mut plans) = (Chunker::new(limits, 1), Vec::new());
    for span in spans {
        chunker.push(*span, &mut |plan| plans.push(plan));
    }
    plans.extend(chunker.finish());
    let (mut next, mut found) = (1, Vec::new());
    for ChunkPlan { first, items, start, end, oversize } in plans {
        assert!(first == next && items > 0 && items <= limits.items);
        next += u64::from(items);
        let chunk = &bytes[start as usize..end as usize];
        let inside: Vec<Span> = records(format, chunk).collect();
        assert_eq!(inside.len(), items as usize, "a chunk holds other items than its plan says");
        let longest = limits.item_bytes.max(limits.bytes);
        assert_eq!(oversize, inside.iter().any(|span| span.content_end - span.start > longest));
        found.extend(inside.iter().map(|span| span.content(chunk).to_vec()));
    }
    let contents: Vec<_> = spans.iter().map(|span| span.content(bytes).to_vec()).collect();
    assert_eq!(found, contents, "the chunks' records are not the file's");
}

/// Compares the header with the oracle's first record.
fn opens(format: Format, bytes: &[u8]) {
    let found = header(format, bytes);
    let bom_len = match sniff(bytes, Extent::Whole) {
        Ok(header) => header.bom_len,
        Err(refused) => return assert_eq!(code(&found), refused.code()),
    };
    let text = &bytes[bom_len..];
    if format == Format::JsonLines {
        let start = found.map(|header| header.start).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(bytes[start as usize..].starts_with(oracle::lines(text)[0]));
        return;
    }
    let rows = oracle::records(b',', text);
    let header = &rows[0];
    if rows.len() == 1 && oracle::is_open(b',', text) {
        return assert_eq!(code(&found), "unterminated_quote");
    }
    if records(format, text).next().is_some_and(|span| std::str::from_utf8(span.content(text)).is_err()) {
        return assert_eq!(code(&found), "file_not_utf8");
    }
    let names: Vec<_> = header.iter().enumerate().map(name).collect();
    let Ok(FileHeader { start, columns, .. }) = &found else {
        let twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
        assert!(twice && code(&found) == "duplicate_column", "{found:?}");
        return;
    };
    assert_eq!(columns.as_ref(), Some(&names));
    assert_eq!(oracle::records(b',', &bytes[*start as usize..]), rows[1..], "the rows behind the header");
}

fn code(found: &Result<FileHeader, JobError>) -> &str {
    found.as_ref().err().map_or("", |error| error.code.as_str())
}

fn name((place, cell): (usize, &Vec<u8>)) -> String {
    let text = String::from_utf8_lossy(cell);
    let text = text.trim_matches(|dead_letter: char| dead_letter.is_whitespace() || dead_letter == '\u{feff}');
    if text.is_empty() { format!("column_{}", place + 1) } else { text.to_owned() }
}

fn header(format: Format, bytes: &[u8]) -> Result<FileHeader, JobError> {
    let (files, key) = (MemoryFiles::default(), "file".to_owned());
    files.put(&key, bytes);
    // In-memory calls never wait.
    let etag = files.info(&key).now_or_never().and_then(Result::ok).flatten().map(|info| info.etag).unwrap_or_default();
    let source = SourceFile { key, size_bytes: bytes.len() as u64, etag, format, name: String::new() };
    match read_header(&files, &source).now_or_never() {
        Some(Ok(header)) => Ok(header),
        Some(Err(HeaderError::Source(error))) => Err(error),
        _ => panic!("files in memory fail"),
    }
}
