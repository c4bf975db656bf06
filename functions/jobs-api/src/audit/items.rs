//! Sets of items: each item of the job has at most one row in all files of its report.
//!
//! Memory: at most one bit for each item.

use super::findings::Findings;

/// Maximum number of invalid rows of a file that are reported individually: rows without an item, or of an item that
/// already has a row.
const MAX_REPORTED: usize = 10;

/// Highest item that is tracked: one bit each, 16 MiB in total. Twice as many could exhaust a function of 256 MB.
pub(super) const MAX_TRACKED: u64 = 128 << 20;

/// The set of items that have a row.
#[derive(Debug, Default)]
pub(super) struct SeenItems {
    bits: Vec<u64>,
    /// Highest item of the job.
    items: u64,
}

impl SeenItems {
    /// Creates an empty set for a job with this number of items.
    pub(super) fn new(items: u64) -> Self {
        Self { bits: Vec::new(), items }
    }

    /// Returns true if this is an item of the job that had no row before. An item above `MAX_TRACKED` always counts as
    /// new.
    pub(super) fn is_new(&mut self, number: u64) -> bool {
        if number == 0 || number > self.items {
            return false;
        }
        if number > MAX_TRACKED {
            return true;
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let known = self.bits.get(word).copied().unwrap_or_default();
        self.bits.iter_mut().skip(word).take(1).for_each(|word| *word |= bit);
        known & bit == 0
    }
}

/// A set of item numbers in constant memory: their count and the sum of their hashes, independent of order. Two sets
/// are treated as equal if both agree. The sum is no defense against deliberate collisions.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct ItemSet {
    items: u64,
    sum: u64,
}

impl ItemSet {
    /// Adds an item.
    pub(super) fn take(&mut self, number: u64) {
        self.add(Self { items: 1, sum: mixed(number) });
    }

    /// Adds the items of another set.
    pub(super) fn add(&mut self, other: Self) {
        self.items += other.items;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Returns the number of items.
    pub(super) fn items(self) -> u64 {
        self.items
    }
}

/// The finalizer of SplitMix64: hashes of adjacent numbers are unrelated.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The items of the rows of a file, and the rows that no item, or one with another row, belongs to.
pub(super) struct RowItems<'a> {
    seen: &'a mut SeenItems,
    /// Items with a row.
    pub(super) items: ItemSet,
    invalid: Vec<Option<u64>>,
}

impl<'a> RowItems<'a> {
    /// Starts without rows. No item of `seen` may have a row in this file.
    pub(super) fn new(seen: &'a mut SeenItems) -> Self {
        Self { seen, items: ItemSet::default(), invalid: Vec::new() }
    }

    /// Adds a row. Returns its item, if this is the first row of it.
    pub(super) fn take(&mut self, number: Option<u64>) -> Option<u64> {
        let item = number.filter(|number| self.seen.is_new(*number));
        match item {
            Some(item) => self.items.take(item),
            None if self.invalid.len() < MAX_REPORTED => self.invalid.push(number),
            None => {}
        }
        item
    }

    /// Compares the number of items with that of the rows.
    pub(super) fn check(&self, name: &str, rows: u64, findings: &mut Findings) {
        findings.count("row_numbers", name, rows, self.items.items());
        for number in &self.invalid {
            let found = number.map_or("a row without a number".to_owned(), |number| format!("row {number}"));
            findings.text("row_numbers", name, "one row for each item of the job", Some(&found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_item_of_the_job_is_new_and_only_once() {
        let mut seen_items = SeenItems::new(200);
        let found = [1, 64, 200, 64, 0, 201].map(|number| seen_items.is_new(number));
        assert_eq!(found, [true, true, true, false, false, false]);
    }

    #[test]
    fn sets_are_equal_in_any_order_and_differ_by_any_item() {
        let set = |numbers: &[u64]| {
            let mut set = ItemSet::default();
            numbers.iter().for_each(|number| set.take(*number));
            set
        };
        assert_eq!(set(&[1, 2, 30]), set(&[30, 1, 2]));
        assert_ne!(set(&[1, 4]), set(&[2, 3]));
        assert_ne!(set(&[1, 2]), set(&[1, 2, 2]));
    }
}
