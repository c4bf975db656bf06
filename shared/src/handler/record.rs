//! One record of any file format, as the input of a handler.
//!
//! The cells of a CSV record are read by csv-core into buffers that are reused for the next record.

use std::cell::RefCell;
use std::mem;
use std::ops::Range;

use csv::StringRecord;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use longshore_domain::ports::StoredRecord;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Rejection;

/// One record of a file or of a dataset, or the options of a job with neither.
#[derive(Copy, Clone, Debug)]
pub enum Record<'a> {
    /// A CSV row with as many cells as there are columns.
    Row {
        /// Names of the columns.
        columns: &'a [String],
        /// Cells of the row, all UTF-8.
        cells: Cells<'a>,
    },
    /// A line of JSON Lines.
    Line(&'a [u8]),
    /// A record of a dataset.
    Stored(&'a StoredRecord),
    /// The options of a job without a file.
    Options(&'a Value),
}

impl<'a> Record<'a> {
    /// Checks a CSV row, whose `bytes` were unquoted into `cells`.
    ///
    /// # Errors
    /// `not_utf8`, `too_few_cells`, `too_many_cells`.
    pub fn row(columns: &'a [String], bytes: &[u8], cells: Cells<'a>) -> Result<Self, Rejection> {
        if std::str::from_utf8(bytes).is_err() {
            let message = "the row is not UTF-8; save the file as UTF-8";
            return Err(Rejection::new("not_utf8", None, message));
        }
        let (actual, expected) = (cells.len(), columns.len());
        if actual == expected {
            return Ok(Self::Row { columns, cells });
        }
        let code = if actual < expected { "too_few_cells" } else { "too_many_cells" };
        Err(Rejection::new(code, None, format!("the row has {actual} cells, the header has {expected} columns")))
    }

    /// Parses the record with serde.
    ///
    /// # Errors
    /// `malformed_row` or `malformed_json` with serde's message.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        match self {
            Self::Row { columns, cells } => {
                let row: StringRecord = cells.texts().collect();
                let header = StringRecord::from_iter(columns.iter());
                row.deserialize(Some(&header)).map_err(|e| Rejection::new("malformed_row", None, e.to_string()))
            }
            Self::Line(line) => serde_json::from_slice(line).map_err(|e| malformed_json(line, &e)),
            Self::Stored(record) => {
                T::deserialize(Value::Object(record.record.clone())).map_err(|e: serde_json::Error| {
                    Rejection::new("malformed_record", None, format!("the record is not the expected JSON: {e}"))
                })
            }
            Self::Options(options) => T::deserialize((*options).clone())
                .map_err(|e: serde_json::Error| Rejection::new("malformed_options", None, e.to_string())),
        }
    }
}

/// Returns the reason why a line is not the expected JSON.
pub(crate) fn malformed_json(line: &[u8], error: &serde_json::Error) -> Rejection {
    if std::str::from_utf8(line).is_err() {
        return Rejection::new("not_utf8", None, "the line is not UTF-8; save the file as UTF-8");
    }
    Rejection::new("malformed_json", None, format!("the line is not the expected JSON: {error}"))
}

/// A byte order mark. At the beginning of a file, it is not part of the text; at the beginning of any other record, it
/// is a character of the first cell.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Number of readers that a thread keeps: a report is written to three files at once.
const KEPT: usize = 4;

thread_local! {
    /// Unused readers of comma-separated cells: building one takes as long as reading some kilobytes.
    static SPARE: RefCell<Vec<Reader>> = const { RefCell::new(Vec::new()) };
}

/// Reads one record after another without allocating for each.
#[derive(Debug)]
pub struct CellReader {
    core: Reader,
    /// True if the cells are separated by commas.
    commas: bool,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Default for CellReader {
    fn default() -> Self {
        Self::delimited(b',')
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

    /// Returns each cell's bytes, in order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        self.ranges().map(move |range| &self.text[range])
    }

    /// Returns each cell's text, in order. If the record is not UTF-8, all cells are empty.
    pub(crate) fn texts(self) -> impl Iterator<Item = &'a str> {
        let text = std::str::from_utf8(self.text).unwrap_or_default();
        self.ranges().map(move |range| text.get(range).unwrap_or_default())
    }

    fn ranges(self) -> impl Iterator<Item = Range<usize>> + 'a {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends).map(|(start, end)| start..*end)
    }
}

impl CellReader {
    /// Creates a reader of cells that are separated by this byte.
    pub fn delimited(delimiter: u8) -> Self {
        let commas = delimiter == b',';
        let spare = if commas { SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten() } else { None };
        let core = spare.unwrap_or_else(|| ReaderBuilder::new().delimiter(delimiter).build());
        Self { core, commas, text: vec![0; 1024], ends: vec![0; 32] }
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
        if self.commas {
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

#[cfg(test)]
mod tests {
    use super::CellReader;

    #[test]
    fn the_texts_of_a_record_are_its_cells_if_it_is_utf_8() {
        let mut reader = CellReader::default();
        assert_eq!(reader.read("ä,\"b\"\"\",".as_bytes()).texts().collect::<Vec<_>>(), ["ä", "b\"", ""]);
        assert_eq!(reader.read(b"\xc3,\xa4").texts().collect::<Vec<_>>(), ["", ""]);
    }

    #[test]
    fn a_reused_reader_is_reset_and_has_the_requested_delimiter() {
        for (delimiter, record, expected) in
            [(b',', "\"open,", vec!["open,"]), (b';', "a;b,c", vec!["a", "b,c"]), (b',', "a;b,c", vec!["a;b", "c"])]
        {
            let mut reader = CellReader::delimited(delimiter);
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
    fn cells_can_be_separated_by_another_delimiter() {
        let mut reader = CellReader::delimited(b';');
        let cells: Vec<_> = reader.read(b"a,b;\"c;d\"").iter().map(<[u8]>::to_vec).collect();
        assert_eq!(cells, [b"a,b".to_vec(), b"c;d".to_vec()]);
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
