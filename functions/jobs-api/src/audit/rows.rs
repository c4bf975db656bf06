//! Counts the rows of a report's file while streaming it: item numbers, size and SHA-256.
//!
//! Memory: one number, regardless of the length of the rows.

use csv_core::{ReadFieldResult, Reader};

/// Longer than any item number.
const DIGITS: usize = 20;

/// Reads the first cell of each row.
pub(super) struct RowNumbers {
    core: Reader,
    /// Part of a cell.
    text: [u8; 256],
    /// The first cell of the row, up to the length of a number.
    number: Vec<u8>,
    /// Cells of the row before this one.
    cell: usize,
    /// Lines so far, including the header.
    lines: u64,
}

impl RowNumbers {
    /// Starts at the beginning of a file.
    pub(super) fn new() -> Self {
        Self { core: Reader::new(), text: [0; 256], number: Vec::with_capacity(DIGITS), cell: 0, lines: 0 }
    }

    /// Returns the rows below the header so far.
    pub(super) fn rows(&self) -> u64 {
        self.lines.saturating_sub(1)
    }

    /// Parses a block, and calls `row` for each complete row below the header with its number, or `None` if it has
    /// none.
    pub(super) fn take(&mut self, mut block: &[u8], row: &mut impl FnMut(Option<u64>)) {
        while !block.is_empty() {
            block = self.step(block, row);
        }
    }

    /// Ends the file: reports the last row if its line has no line break.
    pub(super) fn end(&mut self, row: &mut impl FnMut(Option<u64>)) {
        // An empty block means the end to the reader; the first call ends an open quoted cell, if any.
        self.step(&[], row);
        self.step(&[], row);
    }

    /// Reads up to the end of a cell, and returns the remaining block.
    fn step<'a>(&mut self, block: &'a [u8], row: &mut impl FnMut(Option<u64>)) -> &'a [u8] {
        let (result, read, wrote) = self.core.read_field(block, &mut self.text);
        if self.cell == 0 && self.number.len() <= DIGITS {
            self.number.extend(self.text.iter().take(wrote.min(DIGITS + 1)));
        }
        if let ReadFieldResult::Field { record_end } = result {
            self.cell += 1;
            if record_end {
                self.end_row(row);
            }
        }
        block.get(read..).unwrap_or_default()
    }

    fn end_row(&mut self, row: &mut impl FnMut(Option<u64>)) {
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
    fn numbers_are_the_first_cells_of_rows_for_any_block_size() {
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
