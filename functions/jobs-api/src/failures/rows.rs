//! Reads `failed.csv` row by row from blocks of any size, and tracks the byte offset at which each row ends.
//!
//! Memory: for one row, the item's own cells up to a limit, and its report columns. A longer row is read to its end,
//! and only its report columns are kept.

use csv_core::{ReadFieldResult, Reader};
use longshore::failures_file::REPORT_COLUMNS;

/// Maximum bytes of a row's cells that are kept. A page is full after a few hundred such rows.
const KEPT_BYTES: usize = 1 << 20;

/// Cells at the end of a row that are kept regardless of its length: code, field, message.
const ERROR_CELLS: usize = REPORT_COLUMNS.len();

/// The cells of one row, as stored in the file.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Row {
    /// Cells of the row. If the row was too long, some of the item's own cells are empty.
    pub(super) cells: Vec<Vec<u8>>,
    /// `true` if the row was too long.
    pub(super) cut: bool,
    kept: usize,
    /// `true` if the last cell alone is too long.
    dropping: bool,
}

impl Row {
    fn begin_cell(&mut self) {
        self.cells.push(Vec::new());
        self.dropping = false;
    }

    /// Adds bytes to the last cell. If the row is too long, drops the item's own cells and keeps the number and the
    /// last cells.
    fn push(&mut self, bytes: &[u8]) {
        let last = self.cells.len().saturating_sub(1);
        let Some(cell) = self.cells.get_mut(last).filter(|_| !self.dropping) else { return };
        cell.extend_from_slice(bytes);
        self.kept += bytes.len();
        if cell.len() > KEPT_BYTES {
            self.dropping = true;
            self.drop_cell(last);
        }
        for own in 1..(last + 1).saturating_sub(ERROR_CELLS) {
            if self.kept > KEPT_BYTES {
                self.drop_cell(own);
            }
        }
    }

    fn drop_cell(&mut self, cell: usize) {
        let dropped = self.cells.get_mut(cell).map(std::mem::take).unwrap_or_default();
        self.kept -= dropped.len();
        self.cut = true;
    }
}

/// A parser of a file's rows.
pub(super) struct Rows {
    core: Reader,
    row: Row,
    begun: bool,
    /// Offset of the next unread byte: the start of a row, or a position within the current one.
    offset: u64,
}

impl Rows {
    /// Starts at a byte offset at which a row begins.
    pub(super) fn starting_at(offset: u64) -> Self {
        Self { core: Reader::new(), row: Row::default(), begun: false, offset }
    }

    /// Returns the offset up to which the file was read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes bytes up to the end of a row, and returns the row if it is complete.
    pub(super) fn take(&mut self, input: &mut &[u8]) -> Option<Row> {
        let mut text = [0; 4096];
        while !input.is_empty() {
            let (result, read, wrote) = self.core.read_field(input, &mut text);
            *input = &input[read..];
            self.offset += read as u64;
            if wrote > 0 || matches!(result, ReadFieldResult::Field { .. }) {
                if !self.begun {
                    self.begun = true;
                    self.row.begin_cell();
                }
                self.row.push(&text[..wrote]);
            }
            if let ReadFieldResult::Field { record_end } = result {
                self.begun = false;
                if record_end {
                    return Some(std::mem::take(&mut self.row));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(row: &Row) -> Vec<String> {
        row.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    const FILE: &str = "row,a,b,code,field,message\r\n1,\"x\r\ny\",\"say \"\"hi\"\"\",c,,m\r\n22,,,d,e,\"\"\r\n";

    fn all(block_bytes: usize, start: u64) -> Vec<(Vec<String>, u64)> {
        let (mut rows, mut found) = (Rows::starting_at(start), Vec::new());
        for mut block in FILE.as_bytes()[start as usize..].chunks(block_bytes) {
            while let Some(row) = rows.take(&mut block) {
                found.push((texts(&row), rows.offset()));
            }
        }
        found
    }

    #[test]
    fn rows_are_the_same_for_any_block_size_and_from_any_start_of_a_row() {
        let whole = all(1_000, 0);
        let rows: Vec<_> = whole.iter().map(|(row, _)| row.join("|")).collect();
        assert_eq!(rows, ["row|a|b|code|field|message", "1|x\r\ny|say \"hi\"|c||m", "22|||d|e|"]);
        for block_bytes in 1..60 {
            assert_eq!(all(block_bytes, 0), whole, "blocks of {block_bytes}");
            for (n, (_, end)) in whole.iter().enumerate() {
                assert_eq!(all(block_bytes, *end), whole[n + 1..], "from {end} in blocks of {block_bytes}");
            }
        }
    }

    #[test]
    fn number_and_report_columns_of_a_too_long_row_are_kept() {
        let long = "x".repeat(KEPT_BYTES);
        for (row, expected) in [
            (format!("7,{long},b,c,f,m\r\n"), "7||b|c|f|m"),
            (format!("7,a,{long},c,f,m\r\n"), "7|||c|f|m"),
            (format!("7,{long}{long},b,c,f,m\r\n"), "7||b|c|f|m"),
        ] {
            let read = Rows::starting_at(0).take(&mut row.as_bytes()).unwrap();
            assert_eq!((texts(&read).join("|").as_str(), read.cut), (expected, true));
        }
    }
}
