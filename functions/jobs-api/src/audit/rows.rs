//! Counts the rows of a report's file while it passes by: their numbers, its size and its SHA-256.
//!
//! Memory: one number, however long the rows are.

use csv_core::{ReadFieldResult, Reader};

/// More digits than any number of an item has.
const DIGITS: usize = 20;

/// Reads the first cell of each row.
pub(super) struct RowNumbers {
    core: Reader,
    /// Part of a cell.
    text: [u8; 256],
    /// The first cell of the row, as far as it can be a number.
    number: Vec<u8>,
    /// Cells of the row before this one.
    cell: usize,
    /// Lines so far, the header among them.
    lines: u64,
}

impl RowNumbers {
    /// Of a file that is read from its beginning.
    pub(super) fn new() -> Self {
        Self { core: Reader::new(), text: [0; 256], number: Vec::with_capacity(DIGITS), cell: 0, lines: 0 }
    }

    /// Rows below the header so far.
    pub(super) fn rows(&self) -> u64 {
        self.lines.saturating_sub(1)
    }

    /// Takes a block; calls `row` with the number of each row below the header that has ended, none if it has no number.
    pub(super) fn take(&mut self, mut block: &[u8], row: &mut impl FnMut(Option<u64>)) {
        while !block.is_empty() {
            block = self.step(block, row);
        }
    }

    /// The file is over: the last row, if its line has no end.
    pub(super) fn end(&mut self, row: &mut impl FnMut(Option<u64>)) {
        // For the reader an empty block is the end; the first call ends a quoted cell, if one is open.
        self.step(&[], row);
        self.step(&[], row);
    }

    /// Reads up to the end of a cell; what is left of the block.
    fn step<'a>(&mut self, block: &'a [u8], row: &mut impl FnMut(Option<u64>)) -> &'a [u8] {
        let (result, read, wrote) = self.core.read_field(block, &mut self.text);
        if self.cell == 0 && self.number.len() <= DIGITS {
            self.number.extend(self.text.iter().take(wrote.min(DIGITS + 1)));
        }
        if let ReadFieldResult::Field { record_end } = result {
            self.end_of_cell(record_end, row);
        }
        block.get(read..).unwrap_or_default()
    }

    fn end_of_cell(&mut self, record_end: bool, row: &mut impl FnMut(Option<u64>)) {
        self.cell += 1;
        if !record_end {
            return;
        }
        self.lines += 1;
        if self.lines > 1 {
            row(std::str::from_utf8(&self.number).ok().and_then(|text| text.parse().ok()));
        }
        self.cell = 0;
        self.number.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "row,a,code\r\n1,\"x\r\ny\",c\r\n22,\"say \"\"7\"\"\",\r\nx,,\r\n123456789012345678901234,,\r\n40,,c";

    #[test]
    fn numbers_are_the_first_cells_of_rows_wherever_blocks_end() {
        for block_bytes in 1..FILE.len() {
            let (mut rows, mut found) = (RowNumbers::new(), Vec::new());
            for block in FILE.as_bytes().chunks(block_bytes) {
                rows.take(block, &mut |number| found.push(number));
            }
            rows.end(&mut |number| found.push(number));
            assert_eq!(found, [Some(1), Some(22), None, None, Some(40)], "blocks of {block_bytes}");
            assert_eq!(rows.rows(), 5);
        }
    }
}
