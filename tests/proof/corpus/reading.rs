//! What a file holds, by another reader than the system's: the `csv` crate over the whole file, and lines of JSON.
//!
//! It knows nothing of chunks, ranges, spans or blocks.

use csv::ByteRecord;

use super::case::{File, Format};

/// A longer row is not read.
const ROW_BYTES: usize = 16 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

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
    /// Its cells, unquoted; of JSON the line.
    pub(super) cells: Vec<Vec<u8>>,
    /// Its quote is never closed.
    pub(super) open: bool,
}

impl Row {
    /// It has more bytes than a row may have; its quotes are not counted.
    pub(super) fn is_too_long(&self) -> bool {
        self.cells.iter().map(Vec::len).sum::<usize>() + self.cells.len() - 1 > ROW_BYTES
    }

    /// Nothing of it was lost or guessed on its way to a handler.
    pub(super) fn is_whole(&self) -> bool {
        !self.open && !self.is_too_long() && self.cells.iter().all(|cell| std::str::from_utf8(cell).is_ok())
    }

    /// The cells that a report shows of it: as many as there are columns, surplus ones joined in the last.
    pub(super) fn shown(&self, columns: usize) -> Vec<String> {
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
    let bytes = file.bytes.strip_prefix(MARK).unwrap_or(&file.bytes);
    let mut rows = rows(bytes, file.format);
    if file.format == Format::JsonLines {
        return Input { columns: vec!["item".to_owned()], rows };
    }
    let header = if rows.is_empty() { Vec::new() } else { rows.remove(0).cells };
    Input { columns: header.iter().enumerate().map(name).collect(), rows }
}

/// A column is called as its header says, without spaces and marks around; one without a name by its place.
fn name((place, cell): (usize, &Vec<u8>)) -> String {
    match String::from_utf8_lossy(cell).trim_matches([' ', '\t', '\r', '\n', '\u{feff}']) {
        "" => format!("column_{}", place + 1),
        name => name.to_owned(),
    }
}

/// The rows in a piece of a file that begins and ends between rows; the header counts as one.
pub(super) fn rows(bytes: &[u8], format: Format) -> Vec<Row> {
    if format == Format::JsonLines {
        return lines(bytes).map(|line| Row { cells: vec![line.to_vec()], open: false }).collect();
    }
    let mut rows: Vec<_> = records(bytes).iter().map(row).collect();
    // A row that is put behind an open quote is swallowed.
    let swallowed = records(&[bytes, b"\nx"].concat()).len() == rows.len();
    if let Some(last) = rows.last_mut() {
        last.open = swallowed;
    }
    rows
}

fn row(record: &ByteRecord) -> Row {
    Row { cells: record.iter().map(<[u8]>::to_vec).collect(), open: false }
}

/// The blank line in front keeps the reader from taking the first bytes for a byte order mark.
fn records(bytes: &[u8]) -> Vec<ByteRecord> {
    let bytes = [b"\n", bytes].concat();
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
    reader.into_byte_records().map(|record| record.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| &line[line.len() - after_space(line).len()..]);
    lines.filter(|line| !line.is_empty()).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn after_space(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !b" \t\r".contains(byte)).unwrap_or(line.len());
    &line[start..]
}

/// Whether there is no row in these bytes.
pub(super) fn is_blank(bytes: &[u8], format: Format) -> bool {
    let blank: &[u8] = if format == Format::Csv { b"\r\n" } else { b" \t\r\n" };
    bytes.iter().all(|byte| blank.contains(byte))
}
