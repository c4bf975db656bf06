//! The numbers of the rows of a sheet. Blank rows of a workbook are no items, so the number of an item does not tell its row.

use crate::job::Original;

/// The numbers of the rows that a prepared sheet has, in order.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum SheetRows {
    /// All rows from this one on.
    From(u32),
    /// These rows.
    Listed(Vec<u32>),
}

impl SheetRows {
    /// Returns the rows of a sheet without gaps. `None` for a file that was no workbook, and for a sheet with gaps, whose
    /// rows are in a file.
    pub fn without_gaps(original: &Original) -> Option<Self> {
        original.first_row.filter(|_| !original.has_row_gaps).map(Self::From)
    }

    /// Reads the rows from their steps: for each row the difference from the one before, in LEB128.
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
        let index = item.checked_sub(1)?.checked_add(u64::from(header_row))?;
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
    use super::SheetRows;

    #[test]
    fn an_item_has_the_row_of_its_sheet() {
        let listed = SheetRows::from_steps(&[1, 1, 3, 0x80, 0x01]);
        assert_eq!(listed, SheetRows::Listed(vec![1, 2, 5, 133]));
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
