//! The records of a chunk whose items are records of a dataset. They are read shortly before their items are processed,
//! many at once. In later rounds and in retries an item is its key, whose record is read again.

use std::collections::HashMap;
use std::ops::Range;

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::StoredRecord;

use super::delivery::ChunkError;
use super::items::Items;
use crate::handler::{AnyRecordReader, RawItem, Shape};

/// Records of the first read, whose sizes are unknown.
const FIRST_READ: usize = 100;
/// Growth of the reads, from one to the next, while each returns all its records.
const GROWTH: usize = 10;
/// Maximum number of records of one read. A read takes a query of each of the 64 shards, so fewer and larger reads take
/// fewer queries.
const MAX_READ: usize = 10_000;
/// Bytes that a read should return: below the bytes at which it ends early, because sizes vary.
const READ_BYTES: usize = 6 << 20;

/// The records of the next items.
pub(super) struct StoredItems {
    /// Positions of the items whose records were read.
    known: Range<usize>,
    /// Their records, as far as they exist.
    records: Vec<Option<StoredRecord>>,
    /// Number of records to read next.
    size: usize,
}

impl Default for StoredItems {
    fn default() -> Self {
        Self { known: 0..0, records: Vec::new(), size: FIRST_READ }
    }
}

impl StoredItems {
    /// Reads the records of the items from `position` on, unless they were read.
    pub(super) async fn read(
        &mut self,
        reader: &dyn AnyRecordReader,
        of: &Dataset,
        items: &Items,
        position: usize,
    ) -> Result<(), ChunkError> {
        if self.known.contains(&position) {
            return Ok(());
        }
        let end = items.len().min(position + self.size);
        let keys = (position..end).map(|i| items.key(i)).collect::<Result<Vec<_>, _>>()?;
        let found = reader.read_records(of, &keys).await?;
        let known = found.known.clamp(1, keys.len());
        let next = if known < keys.len() { known } else { self.size * GROWTH };
        self.size = next.min(fitting(found.average_bytes));
        self.known = position..position + known;
        let mut records: HashMap<_, _> = found.records.into_iter().map(|record| (record.key.clone(), record)).collect();
        self.records = keys.iter().take(known).map(|key| records.remove(key)).collect();
        Ok(())
    }

    /// Returns the records of the items at these positions, up to the last one that was read.
    pub(super) fn records(&self, range: &Range<usize>) -> &[Option<StoredRecord>] {
        let end = self.known.end.min(range.end).saturating_sub(self.known.start);
        self.records.get(range.start.saturating_sub(self.known.start)..end).unwrap_or_default()
    }

    /// Returns the items from position `start` on that have one of these records, as the input of a handler.
    pub(super) fn items<'a>(items: &Items, start: usize, records: &'a [Option<StoredRecord>]) -> Vec<RawItem<'a>> {
        let numbered = (start..).zip(records).filter_map(|(i, record)| Some((items.number(i), record.as_ref()?)));
        numbered.map(|(number, record)| RawItem { number, shape: Shape::Stored(record) }).collect()
    }
}

/// Returns the number of records of this average size that one read should return.
fn fitting(average_bytes: usize) -> usize {
    READ_BYTES.checked_div(average_bytes).unwrap_or(MAX_READ).clamp(1, MAX_READ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_as_large_as_fits_into_memory() {
        for (average_bytes, records) in [(0, MAX_READ), (600, MAX_READ), (1_000, 6_291), (400_000, 15), (8 << 20, 1)] {
            assert_eq!(fitting(average_bytes), records, "{average_bytes}");
        }
    }
}
