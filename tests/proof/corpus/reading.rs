//! An independent parser: the `csv` crate over the whole file, and lines of JSON.
//!
//! It has no notion of chunks, ranges, spans or blocks.

use csv::ByteRecord;

use super::case::{File, Format};

/// Maximum size of a row that the system reads.
const ROW_BYTES: usize = 16 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The line by which Excel is told the delimiter. It is not part of the table.
const HINT: &[u8] = b"sep=,\n";

/// A file as a table.
#[derive(Debug)]
pub(super) struct Input {
    /// Names of the columns; `item` for lines of JSON.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Row {
    /// The row's cells, unquoted; for JSON the line.
    pub(super) cells: Vec<Vec<u8>>,
    /// True if a quote of the row is never closed.
    pub(super) open: bool,
}

impl Row {
    /// Returns true if the row exceeds the maximum size, not counting its quotes.
    pub(super) fn is_too_long(&self) -> bool {
        self.cells.iter().map(Vec::len).sum::<usize>() + self.cells.len() - 1 > ROW_BYTES
    }

    /// Returns true if every byte of the row reaches a handler unchanged.
    pub(super) fn is_readable(&self) -> bool {
        !self.open && !self.is_too_long() && self.cells.iter().all(|cell| std::str::from_utf8(cell).is_ok())
    }

    /// The cells of the row in a report: one for each column, with surplus cells joined in the last one.
    pub(super) fn report_cells(&self, columns: usize) -> Vec<String> {
        let mut cells: Vec<_> = self.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        if self.is_too_long() {
            cells.clear();
        }
        if cells.len() > columns {
            let surplus = cells.split_off(columns - 1);
            cells.push(surplus.join(","));
        }
        cells.resize(columns, String::new());
        cells
    }
}

/// Reads a file.
pub(super) fn read(file: &File) -> Input {
    let mut rows = rows(table(&file.bytes), file.format);
    if file.format == Format::JsonLines {
        return Input { columns: vec!["item".to_owned()], rows };
    }
    let header = if rows.is_empty() { Vec::new() } else { rows.remove(0).cells };
    Input { columns: header.iter().enumerate().map(name).collect(), rows }
}

/// Returns the bytes behind a byte order mark and a hint.
pub(super) fn table(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    bytes.strip_prefix(HINT).unwrap_or(bytes)
}

/// The name of a column: the header's cell without surrounding spaces and marks. A column without a name is named by
/// its position.
fn name((index, cell): (usize, &Vec<u8>)) -> String {
    match String::from_utf8_lossy(cell).trim_matches([' ', '\t', '\r', '\n', '\u{feff}']) {
        "" => format!("column_{}", index + 1),
        name => name.to_owned(),
    }
}

/// The rows in a part of a file that begins and ends at row boundaries. The header counts as a row.
pub(super) fn rows(bytes: &[u8], format: Format) -> Vec<Row> {
    if format == Format::JsonLines {
        return lines(bytes).map(|line| Row { cells: vec![line.to_vec()], open: false }).collect();
    }
    let records = records(bytes);
    // A row that is appended after an open quote becomes part of the quoted cell.
    let swallowed = self::records(&[bytes, b"\nx"].concat()).len() == records.len();
    let last = records.len().saturating_sub(1);
    // Only the bytes of a row distinguish an empty quoted cell from one that has no text.
    let starts: Vec<usize> = records.iter().map(start).chain([bytes.len()]).collect();
    let has_text = |i: usize| !is_blank(&bytes[starts[i]..starts[i + 1]], format);
    let row = |(i, record): (usize, &ByteRecord)| Row {
        cells: record.iter().map(<[u8]>::to_vec).collect(),
        open: swallowed && i == last,
    };
    records.iter().enumerate().filter(|(i, _)| has_text(*i)).map(row).collect()
}

/// Parses CSV. The leading blank line keeps the parser from reading the first bytes as a byte order mark.
fn records(bytes: &[u8]) -> Vec<ByteRecord> {
    let bytes = [b"\n", bytes].concat();
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
    reader.into_byte_records().map(|record| record.unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// Returns the position of a record in the bytes. For the parser, the first one begins at the blank line before them.
fn start(record: &ByteRecord) -> usize {
    record.position().map_or(0, |position| (position.byte() as usize).saturating_sub(1))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| &line[line.len() - after_space(line).len()..]);
    lines.filter(|line| !line.is_empty()).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn after_space(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !b" \t\r".contains(byte)).unwrap_or(line.len());
    &line[start..]
}

/// Returns true if these bytes contain no row. A row of delimiters and white space is none.
pub(super) fn is_blank(bytes: &[u8], format: Format) -> bool {
    let blank: &[u8] = if format == Format::Csv { b", \t\r\n" } else { b" \t\r\n" };
    bytes.iter().all(|byte| blank.contains(byte))
}
