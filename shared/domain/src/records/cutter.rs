//! The record cutter: a streaming parser that splits blocks, or a slice, into records.
//!
//! The splitter reads files larger than its memory, in the blocks that the network delivers. Block boundaries have no
//! effect: the spans depend on the bytes alone, so a second run of a crashed splitter finds the same ones.

use super::boundaries::{CsvMachine, JsonLinesMachine, Span};
use super::dialect::Dialect;
use super::format::Format;
use super::reading::Reading;

/// Finds the ends of records in a stream that arrives in blocks of any size.
///
/// A cutter keeps a few words of state and never the bytes. A caller that needs a record's bytes keeps those from
/// [`Cutter::open_since`] on. A record has no size limit here: a caller with a limit watches `open_since` too.
///
/// **CSV** is read as the `csv` crate reads it by default: `\n`, `\r` and `\r\n` end a record, a quote opens only at
/// the start of a field, and blank lines are no records. A record whose last byte so far is `\r` is held back until one
/// more byte, or the end, shows if a `\n` belongs to it. A cut between the two loses nothing: the `\n` then is a blank
/// line.
///
/// **JSON Lines**: `\n` alone ends a record, and a `\r` before it is not content. White space before the first byte of
/// a value belongs to no record, so lines of nothing but white space are no records.
#[derive(Clone, Debug)]
pub struct Cutter {
    machine: Machine,
    offset: u64,
}

#[derive(Clone, Debug)]
enum Machine {
    Csv(CsvMachine),
    JsonLines(JsonLinesMachine),
}

impl Cutter {
    /// Creates a cutter that counts from 0, for bytes that begin at a record boundary and without a byte order mark.
    pub fn new(format: Format) -> Self {
        Self::starting_at(format, 0)
    }

    /// Creates a cutter whose first byte is at `offset` of the file: after the byte order mark, or at the `end` of a
    /// record.
    pub fn starting_at(format: Format, offset: u64) -> Self {
        let machine = match format {
            Format::Csv => Machine::Csv(CsvMachine::new(Dialect::default())),
            Format::JsonLines => Machine::JsonLines(JsonLinesMachine::default()),
        };
        Self { machine, offset }
    }

    /// Creates a cutter of CSV of this dialect, counting from 0.
    fn csv(dialect: Dialect) -> Self {
        Self { machine: Machine::Csv(CsvMachine::new(dialect)), offset: 0 }
    }

    /// Creates a cutter of CSV of this reading, whose first byte is at `offset`.
    pub(super) fn reading(reading: &Reading, offset: u64) -> Self {
        Self { machine: Machine::Csv(CsvMachine::reading(reading)), offset }
    }

    /// Takes the next block and passes on, in order, every record known to have ended.
    pub fn feed(&mut self, block: &[u8], out: &mut impl FnMut(Span)) {
        let mut at = 0;
        match &mut self.machine {
            Machine::Csv(csv) => {
                while let Some(span) = csv.next(block, self.offset, &mut at) {
                    out(span);
                }
            }
            Machine::JsonLines(jsonl) => {
                while let Some(span) = jsonl.next(block, self.offset, &mut at) {
                    out(span);
                }
            }
        }
        self.offset += block.len() as u64;
    }

    /// Ends the stream: returns the last record, if one is open. Afterwards the cutter is at a boundary again.
    pub fn finish(&mut self) -> Option<Span> {
        match &mut self.machine {
            Machine::Csv(csv) => csv.finish(self.offset),
            Machine::JsonLines(jsonl) => jsonl.finish(self.offset),
        }
    }

    /// Returns the start of the record that has not ended yet: bytes before it are not needed again.
    pub fn open_since(&self) -> Option<u64> {
        match &self.machine {
            Machine::Csv(csv) => csv.open_since(),
            Machine::JsonLines(jsonl) => jsonl.open_since(),
        }
    }

    /// Returns the offset of the next block's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns all records of a chunk in memory; see [`records()`].
    pub fn all(mut self, bytes: &[u8]) -> impl Iterator<Item = Span> {
        let mut at = 0;
        std::iter::from_fn(move || self.next_in(bytes, &mut at))
    }

    /// Returns the next record of a slice that is complete.
    fn next_in(&mut self, bytes: &[u8], at: &mut usize) -> Option<Span> {
        let span = match &mut self.machine {
            Machine::Csv(csv) => csv.next(bytes, 0, at),
            Machine::JsonLines(jsonl) => jsonl.next(bytes, 0, at),
        };
        self.offset = *at as u64;
        span.or_else(|| self.finish())
    }
}

/// Returns all records of a chunk in memory, with offsets from its first byte; [`Span::content`] returns their bytes.
///
/// The slice begins at a record boundary, and ends at one or at the end of the file.
pub fn records(format: Format, bytes: &[u8]) -> impl Iterator<Item = Span> {
    Cutter::new(format).all(bytes)
}

/// Returns all records of CSV of this dialect.
pub fn csv_records(dialect: Dialect, bytes: &[u8]) -> impl Iterator<Item = Span> {
    Cutter::csv(dialect).all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_from_the_place_where_the_cutter_starts() {
        let mut cutter = Cutter::starting_at(Format::Csv, 100);
        let mut spans = Vec::new();
        cutter.feed(b"a\nb", &mut |span| spans.push(span));
        assert_eq!(spans, [Span { start: 100, content_end: 101, end: 102, unterminated: false }]);
        assert_eq!(cutter.open_since(), Some(102));
        assert_eq!(cutter.offset(), 103);
        assert_eq!(cutter.finish().map(|span| span.start), Some(102));
    }

    #[test]
    fn a_finished_cutter_has_no_open_record_and_can_continue() {
        for format in [Format::Csv, Format::JsonLines] {
            let mut cutter = Cutter::new(format);
            cutter.feed(b"1", &mut |_| panic!("the record is open"));
            assert!(cutter.finish().is_some());
            assert_eq!((cutter.finish(), cutter.open_since()), (None, None));
            let mut seen = 0;
            cutter.feed(b"2\n", &mut |span| seen = span.start);
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn an_exhausted_iterator_stays_exhausted() {
        let mut spans = records(Format::Csv, b"a\r");
        assert!(spans.next().is_some());
        assert_eq!((spans.next(), spans.next()), (None, None));
    }
}
