//! The records of a chunk whose items are records of a dataset. They are read shortly before their items are processed,
//! many at once. In later rounds and in retries an item is its key, whose record is read again.

use std::collections::HashMap;
use std::ops::Range;

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::StoredRecord;

use super::delivery::ChunkError;
use super::items::Items;
use crate::handler::{AnyRecordReader, RawItem, Shape};
use crate::store::records::size;

/// Records of the first read, whose sizes are unknown.
const FIRST_READ: usize = 100;
/// Maximum number of records of one read.
const MAX_READ: usize = 16_000;
/// Bytes that a read should return: below the bytes at which it ends early, because sizes vary. A read takes a query of
/// each of the 64 shards, so fewer and larger reads take fewer queries.
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
        let bytes = found.records.iter().map(|found| size::bytes(&found.key, &found.record)).sum();
        self.size = next_size(self.size, known < keys.len(), found.records.len(), bytes);
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

/// Returns the number of records to read after a read of `size` that found `records` of together `bytes`: half of it if
/// that read has ended early, otherwise twice as many, and no more than fit on average.
fn next_size(size: usize, ended_early: bool, records: usize, bytes: usize) -> usize {
    let next = if ended_early { size / 2 } else { size * 2 };
    let fitting = READ_BYTES.saturating_mul(records).checked_div(bytes).unwrap_or(MAX_READ);
    next.min(fitting).clamp(1, MAX_READ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_grow_up_to_what_fits_into_memory() {
        for (size, ended_early, records, bytes, next) in [
            (100, false, 100, 70_000, 200),
            (100, false, 0, 0, 200),
            (8_000, false, 8_000, 5_600_000, 8_987),
            (8_000, true, 10, 7_000, 4_000),
            (100, false, 100, 40_000_000, 15),
            (1, true, 1, 400_000, 1),
            (MAX_READ, false, 0, 0, MAX_READ),
        ] {
            assert_eq!(next_size(size, ended_early, records, bytes), next, "{size} {ended_early} {records} {bytes}");
        }
    }
}
