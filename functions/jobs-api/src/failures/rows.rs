//! Reads `failed.csv` row by row out of blocks that end anywhere, and knows at which byte each row ends.
//!
//! Memory: of one row the item's own cells up to a limit, and what is said of it. A longer row is read through, and what
//! is said of it is kept.

use csv_core::{ReadFieldResult, Reader};

/// Bytes of a row's cells that are kept. A page holds a few hundred such rows at most before it is full.
const KEPT_BYTES: usize = 1 << 20;

/// Cells at the end of a row that are kept however long the row is: code, field, message.
const REPORT_COLUMNS: usize = 3;

/// The cells of one row, as they stand in the file.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Row {
    /// Its cells. If it was too long, some of the item's own are empty.
    pub(super) cells: Vec<Vec<u8>>,
    /// It was too long.
    pub(super) cut: bool,
    kept: usize,
    /// The last cell alone is too long.
    dropping: bool,
}

impl Row {
    fn begin_cell(&mut self) {
        self.cells.push(Vec::new());
        self.dropping = false;
    }

    /// Takes bytes of the last cell, if need be by forgetting: the number and the last cells are kept.
    fn push(&mut self, bytes: &[u8]) {
        let last = self.cells.len().saturating_sub(1);
        let Some(cell) = self.cells.get_mut(last).filter(|_| !self.dropping) else { return };
        cell.extend_from_slice(bytes);
        self.kept += bytes.len();
        if cell.len() > KEPT_BYTES {
            self.dropping = true;
            self.forget(last);
        }
        for own in 1..(last + 1).saturating_sub(REPORT_COLUMNS) {
            if self.kept > KEPT_BYTES {
                self.forget(own);
            }
        }
    }

    fn forget(&mut self, cell: usize) {
        let forgotten = self.cells.get_mut(cell).map(std::mem::take).unwrap_or_default();
        self.kept -= forgotten.len();
        self.cut = true;
    }
}

/// A file that is being read.
pub(super) struct Rows {
    core: Reader,
    row: Row,
    begun: bool,
    /// Where the next row begins, or this one goes on.
    offset: u64,
}

impl Rows {
    /// From a byte on at which a row begins.
    pub(super) fn starting_at(offset: u64) -> Self {
        Self { core: Reader::new(), row: Row::default(), begun: false, offset }
    }

    /// How far the file is read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes bytes up to the end of a row; the row, if it has ended.
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
    fn rows_are_the_same_wherever_blocks_end_and_from_wherever_a_row_begins() {
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
    fn of_a_row_that_is_too_long_the_ends_are_kept() {
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
