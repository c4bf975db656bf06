//! The numbers of the rows of a sheet. Blank rows of a workbook are no items, so the number of an item does not tell
//! its row.

use crate::job::Original;

/// The rows that a prepared sheet has, as they are stored: for each row the difference from the one before, in LEB128.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct RowSteps {
    bytes: Vec<u8>,
    first: Option<u32>,
    last: u32,
    has_gaps: bool,
}

impl RowSteps {
    /// Adds a row, whose number is higher than that of the last one.
    pub fn push(&mut self, row: u32) {
        let mut step = row.saturating_sub(self.last);
        self.has_gaps |= self.first.is_some() && step != 1;
        self.first = self.first.or(Some(row));
        self.last = row;
        while step >= 0x80 {
            self.bytes.push((step & 0x7f) as u8 | 0x80);
            step >>= 7;
        }
        self.bytes.push(step as u8);
    }

    /// Returns the number of the first row; `None` if there is none.
    pub const fn first_row(&self) -> Option<u32> {
        self.first
    }

    /// Returns true if a row after the first one is left out.
    pub const fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// Returns the steps.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The numbers of the rows that a prepared sheet has, in order.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum SheetRows {
    /// All rows from this one on.
    From(u32),
    /// These rows.
    Listed(Vec<u32>),
}

impl SheetRows {
    /// Returns the rows of a sheet without gaps. `None` for a file that was no workbook, and for a sheet with gaps,
    /// whose rows are in a file.
    pub fn without_gaps(original: &Original) -> Option<Self> {
        original.first_row.filter(|_| !original.has_row_gaps).map(Self::From)
    }

    /// Reads the rows from the bytes of [`RowSteps`].
    pub fn from_steps(steps: &[u8]) -> Self {
        let (mut rows, mut last, mut step, mut shift) = (Vec::new(), 0_u32, 0_u32, 0);
        for byte in steps {
            step |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                last = last.saturating_add(step);
                rows.push(last);
                (step, shift) = (0, 0);
            }
        }
        Self::Listed(rows)
    }

    /// Returns the row of the sheet that an item is, given the item's number, which begins with 1, and the row of the
    /// header among the rows of the sheet that are not blank: 1 for the first one, 0 for none.
    pub fn row_of(&self, item: u64, header_row: u32) -> Option<u32> {
        self.nth(item.checked_sub(1)?.checked_add(u64::from(header_row))?)
    }

    /// Returns the row of the sheet with the header, given its number among the rows with text; `None` without a header.
    pub fn header_row(&self, header_row: u32) -> Option<u32> {
        self.nth(u64::from(header_row).checked_sub(1)?)
    }

    fn nth(&self, index: u64) -> Option<u32> {
        match self {
            Self::From(first) => u32::try_from(index).ok()?.checked_add(*first),
            Self::Listed(rows) => rows.get(usize::try_from(index).ok()?).copied(),
        }
    }
}

/// The rows of the sheet that the items of a job are. The rows are unknown if their file is gone.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ItemRows {
    /// The rows of the sheet.
    pub rows: Option<SheetRows>,
    /// The row of the header, as in the reading of the file.
    pub header_row: u32,
}

impl ItemRows {
    /// Returns the row of an item.
    pub fn row_of(&self, item: u64) -> Option<u32> {
        self.rows.as_ref()?.row_of(item, self.header_row)
    }
}

#[cfg(test)]
mod tests {
    use super::{RowSteps, SheetRows};

    #[test]
    fn rows_are_stored_as_steps() {
        for (rows, bytes, has_gaps) in [
            (&[][..], &[][..], false),
            (&[1, 2, 3], &[1, 1, 1], false),
            (&[4, 5, 7], &[4, 1, 2], true),
            (&[128, 129], &[0x80, 0x01, 1], false),
            (&[1, 129], &[1, 0x80, 0x01], true),
        ] {
            let mut steps = RowSteps::default();
            rows.iter().for_each(|row| steps.push(*row));
            assert_eq!((steps.as_bytes(), steps.has_gaps()), (bytes, has_gaps));
            assert_eq!(
                (steps.first_row(), SheetRows::from_steps(bytes)),
                (rows.first().copied(), SheetRows::Listed(rows.to_vec()))
            );
        }
    }

    #[test]
    fn an_item_has_the_row_of_its_sheet() {
        let listed = SheetRows::from_steps(&[1, 1, 3, 0x80, 0x01]);
        assert_eq!(listed, SheetRows::Listed(vec![1, 2, 5, 133]));
        assert_eq!([0, 1, 3, 5].map(|header_row| listed.header_row(header_row)), [None, Some(1), Some(5), None]);
        for (rows, header_row, item, expected) in [
            (&listed, 1, 1, Some(2)),
            (&listed, 1, 2, Some(5)),
            (&listed, 1, 3, Some(133)),
            (&listed, 1, 4, None),
            (&listed, 0, 1, Some(1)),
            (&listed, 1, 0, None),
            (&SheetRows::From(4), 1, 1, Some(5)),
            (&SheetRows::From(4), 0, 1, Some(4)),
            (&SheetRows::From(1), 1, u64::MAX, None),
        ] {
            assert_eq!(rows.row_of(item, header_row), expected, "{rows:?} {header_row} {item}");
        }
    }
}
