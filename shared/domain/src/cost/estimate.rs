//! The estimate of a job's cost from the size of its source, before it is read.

use serde::{Deserialize, Serialize};

use super::steps::{self, DELIVERY_READS, GB, Ledger, SourceSize, gb_ms, nanoseconds};
use super::{ChunkUsage, Cost, NanoDollars, Prices};
use crate::job::Job;
use crate::outcome::Counts;
use crate::split::{CHUNKS_OF_FULL_GENERATION, ChunkLimits, GROUPS_PER_GENERATION, Growth, chunks_in_group};

/// Assumed size of an item of a file.
const ITEM_BYTES: u64 = 200;
/// Assumed time for writing a record.
const WRITE_MICROS: u64 = 1_000;
/// Nanoseconds for reading and checking a byte.
const READ_NS: f64 = 18.0;
/// Milliseconds between two commits of a chunk.
const COMMIT_MS: u64 = 1_000;
/// Milliseconds of a turn of a worker.
const TURN_MS: u64 = 20_000;
/// Messages in one request to a queue.
const MESSAGES: usize = 10;
/// A millionth of a dollar in nano-dollars.
const MICRO_DOLLAR: u64 = 1_000;

/// Inputs of a cost estimate.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct CostEstimate {
    /// Size of the source.
    pub source: SourceEstimate,
    /// Limits of the chunks of the job type.
    pub limits: ChunkLimits,
    /// True if each item becomes a record.
    pub writes_records: bool,
}

/// Size of the source of a new job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum SourceEstimate {
    /// A file of so many bytes, with so many items if their number is known.
    File {
        /// Bytes of the file.
        bytes: u64,
        /// Number of items.
        items: Option<u64>,
    },
    /// So many items that are copied from another job.
    Copied {
        /// Number of items.
        items: u64,
    },
}

/// An estimated cost with its assumptions, as a job keeps it. It is stored as a text, see `stored`.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct EstimatedCost {
    /// Cost of one run without failures.
    pub cost: Cost,
    /// Number of items, known or assumed.
    pub items: u64,
    /// Assumed size of an item in bytes; `None` if the sizes are known.
    pub assumed_item_bytes: Option<u64>,
    /// Assumed time for writing a record in microseconds; `None` if the job writes no records.
    pub assumed_write_micros: Option<u64>,
}

impl CostEstimate {
    /// Returns the estimated cost with its assumptions.
    pub fn estimated(&self) -> EstimatedCost {
        EstimatedCost {
            cost: self.cost(),
            items: self.items(),
            assumed_item_bytes: self.assumes_item_bytes().then_some(ITEM_BYTES),
            assumed_write_micros: self.writes_records.then_some(WRITE_MICROS),
        }
    }

    /// Returns the known number of items, or the assumed one.
    pub fn items(&self) -> u64 {
        match self.source {
            SourceEstimate::File { items: Some(items), .. } | SourceEstimate::Copied { items } => items.max(1),
            SourceEstimate::File { bytes, items: None } => bytes.div_ceil(ITEM_BYTES).max(1),
        }
    }

    /// Returns true if the size of an item is assumed.
    pub fn assumes_item_bytes(&self) -> bool {
        !matches!(self.source, SourceEstimate::File { items: Some(_), .. })
    }

    /// Returns the number of chunks of this number of bytes. In a large source, those of later groups are larger, so that
    /// a generation has room for all of them.
    fn chunks(&self, bytes: u64) -> u64 {
        let of_items = u128::from(self.limits.items) * u128::from(bytes) / u128::from(self.items());
        let chunk_bytes = self.limits.for_file(bytes).bytes.min(u64::try_from(of_items).unwrap_or(u64::MAX)).max(1);
        let (mut left, mut chunks) = (bytes, 0);
        for group in 0..GROUPS_PER_GENERATION {
            if left == 0 {
                break;
            }
            let size = chunk_bytes.max(Growth { size_bytes: bytes, carried_over: 0, group }.min_bytes());
            let number = left.div_ceil(size).min(chunks_in_group(group) as u64);
            (chunks, left) = (chunks + number, left.saturating_sub(number.saturating_mul(size)));
        }
        chunks.max(1)
    }

    /// Returns the estimated cost of one run, without failures, and without records that exist already.
    pub fn cost(&self) -> Cost {
        let items = self.items();
        let (bytes, file_bytes, has_item_files) = match self.source {
            SourceEstimate::File { bytes, .. } => (bytes, bytes, false),
            SourceEstimate::Copied { .. } => (items.saturating_mul(ITEM_BYTES), 0, true),
        };
        let chunks = self.chunks(bytes);
        let record_writes = if self.writes_records { items * (bytes / items).div_ceil(1 << 10).max(1) } else { 0 };
        let written_ms = if self.writes_records { items * WRITE_MICROS / 1_000 } else { 0 };
        let worked_ms = written_ms + nanoseconds(bytes, READ_NS) as u64;
        let usage = ChunkUsage {
            gb_ms: gb_ms(worked_ms as f64, GB),
            deliveries: chunks + worked_ms / TURN_MS,
            writes: chunks + worked_ms / COMMIT_MS + record_writes,
            reads: DELIVERY_READS * chunks,
            object_writes: 0,
        };
        let ledger = Ledger { usage, split_bytes: file_bytes, ..planned(chunks) };
        let source = SourceSize { bytes: file_bytes, preparation: None, has_item_files };
        let units = steps::split(source, &ledger)
            + steps::chunks(source, &ledger)
            + steps::end(source, &ledger, Counts::default(), false);
        Prices::current().cost(&units)
    }
}

/// Returns the smallest maximum that the first run of a new job can keep, in whole millionths of a dollar: the cost of
/// the split, and of the end if the job is stopped before its first chunk.
///
/// The chunks are as large as the limits allow. There are more if the items are small, or if the file is converted.
pub fn min_max_cost(job: &Job, limits: ChunkLimits) -> NanoDollars {
    let source = SourceSize::new(job);
    let chunks = source.bytes.div_ceil(limits.for_file(source.bytes).bytes.max(1)).clamp(1, CHUNKS_OF_FULL_GENERATION);
    let ledger = Ledger { groups: planned(chunks).groups, split_bytes: source.bytes, ..Ledger::default() };
    let units = steps::split(source, &ledger) + steps::end(source, &ledger, Counts::default(), true);
    NanoDollars(Prices::current().cost(&units).total().0.next_multiple_of(MICRO_DOLLAR))
}

/// Returns the groups of this number of chunks.
fn planned(chunks: u64) -> Ledger {
    let (mut left, mut ledger) = (chunks, Ledger { chunks, ..Ledger::default() });
    let full = chunks_in_group(u32::MAX) as u64;
    for number in 0.. {
        let size = chunks_in_group(number);
        if left == 0 || size as u64 == full {
            break;
        }
        let size = (size as u64).min(left);
        (ledger.groups, ledger.sends, left) = (ledger.groups + 1, ledger.sends + 1, left - size);
    }
    let full_groups = left.div_ceil(full);
    ledger.groups += full_groups;
    ledger.sends += full_groups * chunks_in_group(u32::MAX).div_ceil(MESSAGES) as u64;
    ledger.done_groups = ledger.groups;
    ledger
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;
    use crate::job::SourceFile;
    use crate::ports::FileInfo;
    use crate::records::Format;
    use crate::tenant::TenantId;
    use crate::timestamp::Timestamp;

    const IMPORT: CostEstimate = CostEstimate {
        source: SourceEstimate::File { bytes: 0, items: None },
        limits: ChunkLimits { items: 50_000, bytes: 4 << 20, item_bytes: 1 << 20 },
        writes_records: true,
    };

    #[test]
    fn chunks_are_planned_in_groups_that_start_small() {
        for (chunks, groups, sends) in [(1, 1, 1), (2, 1, 1), (3, 2, 2), (14, 3, 3), (32, 5, 7), (239, 18, 33)] {
            let ledger = planned(chunks);
            assert_eq!((ledger.groups, ledger.sends), (groups, sends), "{chunks} chunks");
        }
    }

    #[test]
    fn an_import_costs_its_records_and_a_validation_only_its_chunks() {
        let of = |source| CostEstimate { source, ..IMPORT };
        let import = of(SourceEstimate::File { bytes: 10_000_000, items: Some(100_000) });
        let validation = CostEstimate { writes_records: false, ..import };
        let dollars = |estimate: CostEstimate| estimate.cost().total().dollars();
        assert!((0.0625..0.066).contains(&dollars(import)), "{}", dollars(import));
        assert!((0.0001..0.0004).contains(&dollars(validation)), "{}", dollars(validation));
        let assumed = of(SourceEstimate::File { bytes: 10_000_000, items: None });
        assert_eq!((assumed.items(), assumed.assumes_item_bytes()), (50_000, true));
        assert!(dollars(assumed) < dollars(import) && !import.assumes_item_bytes());
        // The splitter copies the items into files.
        let copied = of(SourceEstimate::Copied { items: 50_000 });
        assert!(dollars(copied) > dollars(assumed) && copied.assumes_item_bytes());
        assert!(dollars(copied) < 1.1 * dollars(assumed), "{}", dollars(copied));
    }

    #[test]
    fn the_chunks_of_a_large_file_grow_so_that_a_generation_has_room_for_them() {
        let of = |bytes, items| {
            let estimate = CostEstimate { source: SourceEstimate::File { bytes, items: Some(items) }, ..IMPORT };
            estimate.chunks(bytes)
        };
        assert_eq!((of(0, 1), of(4 << 20, 1_000), of(8 << 20, 500_000)), (1, 32, 32));
        assert_eq!(of(1 << 30, 5_000_000), 256, "chunks of 4 MiB");
        // Each of 4 MiB would be 25,600 chunks, in 1,600 groups.
        assert!((3_000..8_000).contains(&of(100 << 30, 500_000_000)), "{}", of(100 << 30, 500_000_000));
        assert!((3_000..8_000).contains(&of(1 << 20, u64::MAX >> 20)), "many items in few bytes: compressed");
    }

    #[test]
    fn an_estimate_is_kept_with_what_it_assumes() {
        let EstimatedCost { cost, items, assumed_item_bytes, assumed_write_micros } = IMPORT.estimated();
        assert_eq!((cost, items), (IMPORT.cost(), 1));
        assert_eq!((assumed_item_bytes, assumed_write_micros), (Some(ITEM_BYTES), Some(WRITE_MICROS)));
        let source = SourceEstimate::File { bytes: 1_000, items: Some(10) };
        let known = CostEstimate { source, writes_records: false, ..IMPORT }.estimated();
        assert_eq!((known.items, known.assumed_item_bytes, known.assumed_write_micros), (10, None, None));
    }

    #[test]
    fn the_smallest_maximum_grows_with_the_file_and_is_below_the_estimate() {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        let file = |size_bytes| {
            let info = FileInfo { size_bytes, etag: "e".into() };
            let source = SourceFile::new("k", info, Format::JsonLines, "f").into();
            Job { source: Some(source), ..job.clone() }
        };
        let smallest = |job: &Job| min_max_cost(job, IMPORT.limits);
        assert!((30_000..60_000).contains(&smallest(&job).0), "{:?}", smallest(&job));
        let mut last = smallest(&job);
        for bytes in [10 << 20, 1 << 30, 10 << 30] {
            let (amount, source) = (smallest(&file(bytes)), SourceEstimate::File { bytes, items: None });
            assert!(amount > last && amount.0 % MICRO_DOLLAR == 0, "{bytes}: {amount:?}");
            assert!(amount < CostEstimate { source, ..IMPORT }.cost().total(), "{bytes}: {amount:?}");
            last = amount;
        }
    }
}
