//! The items of a report's rows: each item of the job has at most one row, and each group has as many rows as it
//! counted.

use longshore_domain::group::Manifest;

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

/// Rows of a file per group of the first generation, whose chunks are runs of consecutive items.
#[derive(Clone, Debug, Default)]
pub(super) struct ByGroup {
    /// First item, end (exclusive) and group of each run, in order.
    runs: Vec<(u64, u64, u32)>,
    rows: std::collections::BTreeMap<u32, u64>,
}

impl ByGroup {
    /// Starts without rows.
    pub(super) fn new<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Self {
        let mut runs: Vec<_> = manifests
            .flat_map(|m| m.chunks.iter().map(|chunk| (chunk.first, chunk.first + u64::from(chunk.items), m.group)))
            .collect();
        runs.sort_unstable();
        Self { runs, rows: std::collections::BTreeMap::new() }
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

    #[test]
    fn a_row_counts_for_the_group_of_its_item() {
        let chunk = |first| ChunkPlan { first, items: 5, start: 0, end: 1, oversize: false };
        let manifests =
            [Manifest { group: 1, chunks: vec![chunk(11)] }, Manifest { group: 0, chunks: vec![chunk(1), chunk(6)] }];
        let mut rows = ByGroup::new(manifests.iter());
        [1, 5, 6, 10, 11, 16].into_iter().for_each(|number| rows.take(number));
        assert_eq!([0, 1, 2].map(|group| rows.rows(group)), [4, 1, 0]);
    }
}
