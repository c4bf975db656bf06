//! The first rows of a file, read in one dialect.

use std::mem;
use std::ops::Range;

use longshore_domain::records::{Delimiter, Dialect, Extent, Reading};
use memchr::memchr;

use crate::cells::CellReader;
use crate::column::looks_like_data;

/// Maximum number of rows that are read.
const ROWS: usize = 1_000;

/// Bytes of a number beside its digits; `\xa0` is a no-break space in most encodings of one byte.
const NUMBER_PUNCTUATION: &[u8] = b".,+-' \xa0";

/// A row, described by its cells.
pub(crate) struct RowShape {
    /// Number of cells.
    pub(crate) width: usize,
    /// Number of cells up to the last filled one: spreadsheet programs pad short rows with empty cells.
    pub(crate) filled_width: usize,
    /// Number of filled cells.
    pub(crate) filled: usize,
    /// Number of cells that contain another delimiter and are no number.
    pub(crate) foreign: usize,
    range: Range<usize>,
}

/// The first rows of a file in one dialect.
pub(crate) struct Rows<'a> {
    head: &'a [u8],
    dialect: Dialect,
    pub(crate) shapes: Vec<RowShape>,
}

impl<'a> Rows<'a> {
    /// Reads the first rows.
    pub(crate) fn read(head: &'a [u8], extent: Extent, dialect: Dialect) -> Self {
        let mut reader = CellReader::new(dialect);
        let shape = |range: Range<usize>| {
            let cells = reader.read(&head[range.clone()]);
            let filled = || cells.iter().enumerate().filter(|(_, cell)| !cell.trim_ascii().is_empty());
            RowShape {
                width: cells.len(),
                filled_width: filled().last().map_or(0, |(index, _)| index + 1),
                filled: filled().count(),
                foreign: cells.iter().filter(|cell| is_foreign(cell, dialect.delimiter)).count(),
                range,
            }
        };
        let shapes = complete_records(head, extent, dialect).map(shape).collect();
        Self { head, dialect, shapes }
    }

    /// Returns the second half of the rows, which are those of the table: programs write titles and dates above it.
    pub(crate) fn lower_half(&self) -> &[RowShape] {
        &self.shapes[self.shapes.len() / 2..]
    }

    /// Returns true if every filled cell of this row is a number or a date.
    pub(crate) fn looks_like_data(&self, row: usize) -> bool {
        let Some(shape) = self.shapes.get(row) else { return false };
        let mut reader = CellReader::new(self.dialect);
        let cells = reader.read(&self.head[shape.range.clone()]);
        let cells: Vec<_> = cells.iter().map(String::from_utf8_lossy).collect();
        looks_like_data(cells.iter().map(AsRef::as_ref))
    }
}

/// Returns the most common number; of equally common ones, the largest.
pub(crate) fn most_common(mut numbers: Vec<usize>) -> Option<usize> {
    numbers.sort_unstable();
    numbers.chunk_by(|a, b| a == b).max_by_key(|equal| (equal.len(), equal[0])).map(|equal| equal[0])
}

/// Returns the ranges of the first records. The last record of a beginning can be cut off, so it is left out unless it
/// is the only one.
pub(crate) fn complete_records(head: &[u8], extent: Extent, dialect: Dialect) -> impl Iterator<Item = Range<usize>> {
    let is_cut = move |end: u64| extent == Extent::Start && end as usize >= head.len();
    let mut first = true;
    let reading = Reading { dialect, ..Reading::default() };
    reading
        .cutter(0)
        .all(head)
        .take_while(move |span| mem::take(&mut first) || !is_cut(span.end))
        .take(ROWS)
        .map(|span| span.start as usize..span.content_end as usize)
}

/// Returns true for a cell with another delimiter that is no number: `1.234,5` is no sign of a comma.
fn is_foreign(cell: &[u8], delimiter: Delimiter) -> bool {
    let mut others = Delimiter::ALL.into_iter().filter(|other| *other != delimiter);
    let has_other = others.any(|other| memchr(other.byte(), cell).is_some());
    has_other && !cell.iter().all(|byte| byte.is_ascii_digit() || NUMBER_PUNCTUATION.contains(byte))
}
