//! The cells of a CSV record, read by csv-core into buffers that are reused for the next record.

use std::cell::RefCell;
use std::mem;
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use longshore_domain::records::{CellKind, Dialect};

/// A byte order mark. At the beginning of a file, it is not part of the text; at the beginning of any other record, it
/// is a character of the first cell.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Number of readers that a thread keeps: a report is written to three files at once.
const KEPT: usize = 4;

thread_local! {
    /// Unused readers of the default dialect: building one takes as long as reading some kilobytes.
    static SPARE: RefCell<Vec<Reader>> = const { RefCell::new(Vec::new()) };
}

/// Reads one record after another without allocating for each.
#[derive(Debug)]
pub struct CellReader {
    core: Reader,
    dialect: Dialect,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Default for CellReader {
    fn default() -> Self {
        Self::new(Dialect::default())
    }
}

/// The cells of one record, unquoted.
#[derive(Copy, Clone, Debug)]
pub struct Cells<'a> {
    text: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Cells<'a> {
    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no cells; a record has at least one.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns each cell's bytes, in order, without the marks of its kind.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        self.kinds().map(|(_, text)| text)
    }

    /// Returns the kind and the bytes of each cell, in order.
    pub fn kinds(self) -> impl Iterator<Item = (CellKind<'a>, &'a [u8])> {
        self.encoded().map(CellKind::parse)
    }

    /// Returns each cell's bytes, in order, with the marks of its kind.
    pub fn encoded(self) -> impl Iterator<Item = &'a [u8]> {
        self.ranges().map(move |range| &self.text[range])
    }

    /// Returns each cell's text, in order, of a record that is UTF-8. Otherwise, all cells are empty.
    pub fn utf8_texts(self) -> impl Iterator<Item = &'a str> {
        let text = std::str::from_utf8(self.text).unwrap_or_default();
        self.ranges().map(move |range| {
            let cell = text.get(range).unwrap_or_default();
            match CellKind::parse(cell.as_bytes()) {
                (CellKind::Text, _) => cell,
                (_, shown) => std::str::from_utf8(shown).unwrap_or_default(),
            }
        })
    }

    fn ranges(self) -> impl Iterator<Item = Range<usize>> + 'a {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends).map(|(start, end)| start..*end)
    }
}

impl CellReader {
    /// Creates a reader of the records of a dialect.
    pub fn new(dialect: Dialect) -> Self {
        let is_default = dialect == Dialect::default();
        let spare = if is_default { SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten() } else { None };
        let core = spare.unwrap_or_else(|| build(dialect));
        Self { core, dialect, text: vec![0; 1024], ends: vec![0; 32] }
    }

    /// Reads the cells of one record, without its terminator.
    pub fn read(&mut self, record: &[u8]) -> Cells<'_> {
        self.core.reset();
        if record.starts_with(MARK) {
            // At the beginning of a file, the reader drops these bytes as a byte order mark, but not after a blank
            // line.
            self.core.read_record(b"\n", &mut self.text, &mut self.ends);
        }
        let (mut input, mut written, mut cells) = (record, 0, 0);
        loop {
            let (result, read, wrote, ended) =
                self.core.read_record(input, &mut self.text[written..], &mut self.ends[cells..]);
            input = &input[read..];
            written += wrote;
            cells += ended;
            match result {
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        Cells { text: &self.text[..written], ends: &self.ends[..cells] }
    }
}

impl Drop for CellReader {
    fn drop(&mut self) {
        if self.dialect == Dialect::default() {
            let core = mem::take(&mut self.core);
            // Fails in a thread that is ending, which needs no spare reader.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < KEPT {
                    spare.push(core);
                }
            });
        }
    }
}

fn build(Dialect { delimiter, quote }: Dialect) -> Reader {
    let mut builder = ReaderBuilder::new();
    match quote.byte() {
        Some(quote) => builder.quote(quote),
        None => builder.quoting(false),
    };
    builder.delimiter(delimiter.byte()).build()
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{CellKind, Delimiter, Dialect, Quote};

    use super::CellReader;

    const SEMICOLON: Dialect = Dialect { delimiter: Delimiter::Semicolon, quote: Quote::Double };

    #[test]
    fn the_texts_of_a_record_are_its_cells_if_it_is_utf_8() {
        let mut reader = CellReader::default();
        assert_eq!(reader.read("ä,\"b\"\"\",".as_bytes()).utf8_texts().collect::<Vec<_>>(), ["ä", "b\"", ""]);
        assert_eq!(reader.read(b"\xc3,\xa4").utf8_texts().collect::<Vec<_>>(), ["", ""]);
    }

    #[test]
    fn the_marks_of_kinds_are_no_text() {
        let record = format!("{},{},b", CellKind::Number.encode("1.5"), CellKind::Error("why").encode("#N/A"));
        let mut reader = CellReader::default();
        let cells = reader.read(record.as_bytes());
        assert_eq!(cells.utf8_texts().collect::<Vec<_>>(), ["1.5", "#N/A", "b"]);
        let kinds: Vec<_> = cells.kinds().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [CellKind::Number, CellKind::Error("why"), CellKind::Text]);
        assert_eq!(cells.encoded().collect::<Vec<_>>().join(&b','), record.as_bytes());
    }

    #[test]
    fn a_reused_reader_is_reset_and_has_the_requested_dialect() {
        let comma = Dialect::default();
        for (dialect, record, expected) in [
            (comma, "\"open,", vec!["open,"]),
            (SEMICOLON, "a;b,c", vec!["a", "b,c"]),
            (comma, "a;b,c", vec!["a;b", "c"]),
            (Dialect { quote: Quote::Single, ..comma }, "'a,b',\"c\"", vec!["a,b", "\"c\""]),
            (Dialect { quote: Quote::None, ..comma }, "\"a,b\"", vec!["\"a", "b\""]),
        ] {
            let mut reader = CellReader::new(dialect);
            let cells: Vec<_> = reader.read(record.as_bytes()).iter().map(<[u8]>::to_vec).collect();
            assert_eq!(cells, expected.iter().map(|cell| cell.as_bytes()).collect::<Vec<_>>());
        }
    }

    fn cells(record: &str) -> Vec<String> {
        let mut reader = CellReader::default();
        reader.read(record.as_bytes()).iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect()
    }

    #[test]
    fn cells_are_unquoted() {
        assert_eq!(cells(r#"a,"b ""c"", d",,e"#), ["a", "b \"c\", d", "", "e"]);
        assert_eq!(cells("\"two\nlines\""), ["two\nlines"]);
    }

    #[test]
    fn many_and_long_cells_grow_the_buffers() {
        let record = vec!["x".repeat(100); 5_000].join(",");
        assert_eq!(cells(&record).len(), 5_000);
    }

    #[test]
    fn a_byte_order_mark_within_a_file_is_text() {
        assert_eq!(cells("\u{feff}a,\u{feff}b"), ["\u{feff}a", "\u{feff}b"]);
        assert_eq!(cells("\u{feff}"), ["\u{feff}"]);
        assert_eq!(cells("\u{feff}\"a,b\""), ["\u{feff}\"a", "b\""]);
    }

    #[test]
    fn a_reader_reads_several_records() {
        let mut reader = CellReader::default();
        assert_eq!(reader.read(b"\"open").len(), 1);
        assert_eq!(reader.read(b"a,b").len(), 2);
    }
}
