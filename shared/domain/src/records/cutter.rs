//! Cuts a stream of blocks, or a slice, into records.
//!
//! The splitter reads files larger than its memory, in whatever blocks the network delivers. Where the blocks happen to
//! end must not show: the spans depend on the bytes alone, so a second run of a crashed splitter finds the same ones.

use super::csv::CsvMachine;
use super::jsonl::JsonLinesMachine;
use super::{Format, Span};

/// What stands between the cells of a source.
const COMMA: u8 = b',';

/// Finds where records end in a stream that arrives in blocks of any size.
///
/// It keeps a few words of state and never the bytes; a caller that wants a record's bytes keeps those from
/// [`Cutter::open_since`] on. A record has no size limit here: whoever has one watches `open_since` too.
///
/// **CSV** is read as the `csv` crate reads it by default: `\n`, `\r` and `\r\n` end a record, a quote opens only at the
/// start of a field, and blank lines are no records. A record whose last byte so far is `\r` is held back until one more
/// byte, or the end, says whether a `\n` belongs to it. Should someone cut between the two all the same, nothing is
/// lost: the `\n` then is a blank line.
///
/// **JSON Lines**: `\n` alone ends a record, a `\r` before it is not content, white space before the first byte of a
/// value belongs to no record, and so lines of nothing but white space are none.
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
    /// A cutter that counts from 0, for bytes that begin at a record boundary and without a byte order mark.
    pub fn new(format: Format) -> Self {
        Self::starting_at(format, 0)
    }

    /// A cutter whose first byte lies at `offset` of the file: after the byte order mark, or at the `end` of a record.
    pub fn starting_at(format: Format, offset: u64) -> Self {
        let machine = match format {
            Format::Csv => Machine::Csv(CsvMachine::new(COMMA)),
            Format::JsonLines => Machine::JsonLines(JsonLinesMachine::default()),
        };
        Self { machine, offset }
    }

    /// A cutter of CSV with another byte than a comma between the cells, counting from 0.
    fn delimited(delimiter: u8) -> Self {
        Self { machine: Machine::Csv(CsvMachine::new(delimiter)), offset: 0 }
    }

    /// Takes the next block and hands over, in order, every record known to have ended.
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

    /// The stream is over: the last record, if one is open. Afterwards the cutter is at a boundary again.
    pub fn finish(&mut self) -> Option<Span> {
        match &mut self.machine {
            Machine::Csv(csv) => csv.finish(self.offset),
            Machine::JsonLines(jsonl) => jsonl.finish(self.offset),
        }
    }

    /// Where the record begins that has not ended yet: bytes before it are not needed again.
    pub fn open_since(&self) -> Option<u64> {
        match &self.machine {
            Machine::Csv(csv) => csv.open_since(),
            Machine::JsonLines(jsonl) => jsonl.open_since(),
        }
    }

    /// How far the stream has been read: the offset of the next block's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// One step over a slice that is all there is.
    fn next_in(&mut self, bytes: &[u8], at: &mut usize) -> Option<Span> {
        let span = match &mut self.machine {
            Machine::Csv(csv) => csv.next(bytes, 0, at),
            Machine::JsonLines(jsonl) => jsonl.next(bytes, 0, at),
        };
        self.offset = *at as u64;
        span.or_else(|| self.finish())
    }
}

/// All records of a chunk held in memory, with offsets from its first byte; [`Span::content`] gives their bytes.
///
/// The slice begins at a record boundary and ends at one, or at the end of the file.
pub fn records(format: Format, bytes: &[u8]) -> impl Iterator<Item = Span> {
    all(Cutter::new(format), bytes)
}

/// The same of CSV with another byte than a comma between the cells; no quote and no line break.
pub fn delimited_records(delimiter: u8, bytes: &[u8]) -> impl Iterator<Item = Span> {
    all(Cutter::delimited(delimiter), bytes)
}

fn all(mut cutter: Cutter, bytes: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || cutter.next_in(bytes, &mut at))
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
    fn a_finished_cutter_has_nothing_open_and_can_go_on() {
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
