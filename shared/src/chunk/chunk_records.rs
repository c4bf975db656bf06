//! The records of a chunk of a file, in UTF-8 with commas and double quotes if the file is CSV.

use std::ops::Range;

use longshore_domain::job::SourceFile;
use longshore_domain::records::{Reading, TextEncoding};
use longshore_tabular::RecordConverter;

/// A record of a chunk.
pub(super) struct ChunkRecord {
    /// Range of its bytes; empty if they exceed the maximum size.
    pub(super) range: Range<usize>,
    /// True if the file ended inside one of the record's quoted cells.
    pub(super) unterminated: bool,
    /// True if the record exceeds the maximum size.
    pub(super) too_long: bool,
}

/// Passes on the records of a chunk in this `encoding`, in order. Returns the bytes of which they are ranges. Records of
/// more than `longest` bytes, after the conversion, are too long: so they have the same size in a message and in the file.
pub(super) fn chunk_records(
    source: &SourceFile,
    encoding: TextEncoding,
    longest: u64,
    bytes: Vec<u8>,
    mut take: impl FnMut(ChunkRecord),
) -> Vec<u8> {
    let mut record = |mut range: Range<usize>, unterminated| {
        let too_long = range.len() as u64 > longest;
        if too_long {
            range.end = range.start;
        }
        let end = range.end;
        take(ChunkRecord { range, unterminated, too_long });
        end
    };
    let converter = source.reading.and_then(|reading| RecordConverter::new(Reading { encoding, ..reading }));
    let Some(mut converter) = converter else {
        for span in source.records(&bytes) {
            record(span.start as usize..span.content_end as usize, span.unterminated);
        }
        return bytes;
    };
    let mut converted = Vec::new();
    for span in source.records(&bytes) {
        let start = converted.len();
        converter.append(span.content(&bytes), span.unterminated, &mut converted);
        let end = record(start..converted.len(), span.unterminated);
        converted.truncate(end);
    }
    converted
}
