//! The rows of a CSV file: a streaming count of the rows, and the items that they belong to. Each group has as many rows
//! as it counted.
//!
//! Memory: one number of a row, regardless of the length of the rows.

use std::collections::BTreeMap;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use longshore_domain::group::Manifest;

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
    /// Starts at the beginning of a file with this delimiter.
    pub(super) fn new(delimiter: u8) -> Self {
        let core = ReaderBuilder::new().delimiter(delimiter).build();
        Self { core, text: [0; 256], number: Vec::with_capacity(DIGITS), cell: 0, lines: 0 }
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

/// Rows of a file per group of the first generation, whose chunks are runs of consecutive items.
#[derive(Clone, Debug, Default)]
pub(super) struct ByGroup {
    /// First item, end (exclusive) and group of each run, in order.
    runs: Vec<(u64, u64, u32)>,
    rows: BTreeMap<u32, u64>,
}

impl ByGroup {
    /// Starts without rows.
    pub(super) fn new<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Self {
        let mut runs: Vec<_> = manifests
            .flat_map(|m| m.chunks.iter().map(|chunk| (chunk.first, chunk.first + u64::from(chunk.items), m.group)))
            .collect();
        runs.sort_unstable();
        Self { runs, rows: BTreeMap::new() }
    }

    /// Counts a row.
    pub(super) fn take(&mut self, number: u64) {
        let before = self.runs.partition_point(|(first, ..)| *first <= number);
        let run = before.checked_sub(1).and_then(|run| self.runs.get(run));
        if let Some((.., group)) = run.filter(|(_, end, _)| number < *end) {
            *self.rows.entry(*group).or_default() += 1;
        }
    }

    /// Returns the rows of a group.
    pub(super) fn rows(&self, group: u32) -> u64 {
        self.rows.get(&group).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;

    use super::*;

    const FILE: &str =
        "row,a,code\r\n1,\"x\r\ny\",c\r\n22,\"say \"\"7\"\"\",\r\nx,,\r\n123456789012345678901234,,\r\n40,,c";

    #[test]
    fn numbers_are_the_first_cells_of_rows_for_any_block_size() {
        for block_bytes in 1..FILE.len() {
            let (mut rows, mut found) = (RowNumbers::new(b','), Vec::new());
            for block in FILE.as_bytes().chunks(block_bytes) {
                rows.take(block, &mut |number| found.push(number));
            }
            rows.end(&mut |number| found.push(number));
            assert_eq!(found, [Some(1), Some(22), None, None, Some(40)], "blocks of {block_bytes}");
            assert_eq!(rows.rows(), 5);
        }
    }

    #[test]
    fn a_row_counts_for_the_group_of_its_item() {
        let chunk = |first| ChunkPlan { first, items: 5, start: 0, end: 1, oversize: false, keys: None };
        let manifests =
            [Manifest { group: 1, chunks: vec![chunk(11)] }, Manifest { group: 0, chunks: vec![chunk(1), chunk(6)] }];
        let mut rows = ByGroup::new(manifests.iter());
        [1, 5, 6, 10, 11, 16].into_iter().for_each(|number| rows.take(number));
        assert_eq!([0, 1, 2].map(|group| rows.rows(group)), [4, 1, 0]);
    }
}
