//! The units of each step of a job. The numbers of calls are those of the code, which `docs/design/cost.md` lists; the
//! times are those of the benchmark (`bench/results.md`).

use super::{ChunkUsage, Units};
use crate::group::Group;
use crate::job::{Job, Preparation};
use crate::outcome::Counts;
use crate::split::{CHUNKS_PER_FILE, INLINE_BYTES};

/// Memory in GB of the functions that split and end a job: the default of the stack.
pub(super) const GB: f64 = 0.5;
/// Memory in GB of the function that prepares a file.
const PREPARE_GB: f64 = 1.73;
/// Milliseconds of an invocation besides its work.
const INVOCATION_MS: f64 = 10.0;
/// Milliseconds of a split besides the reading of its source.
const SPLIT_MS: f64 = 100.0;
/// Nanoseconds for a byte that is split, and one whose SHA-256 the receipt has.
const SPLIT_NS: f64 = 4.5;
const RECEIPT_NS: f64 = 2.4;
/// Nanoseconds for a byte of a file that is prepared, and for one of the prepared file. A workbook takes its time for the
/// first ones, and a compressed text for the second ones.
const PREPARE_NS: f64 = 80.0;
const PREPARED_NS: f64 = 10.0;
/// Nanoseconds for an item that the report lists.
const LISTED_NS: f64 = 5_000.0;
/// Bytes that one turn of the splitter reads.
const TURN_BYTES: u64 = 640 << 20;
/// Bytes of one part of a prepared file.
const PART_BYTES: u64 = 8 << 20;
/// Bytes of one request to a queue.
const MESSAGE_BYTES: u64 = 64 << 10;
/// Messages in one request to a queue.
const MESSAGES: u64 = 10;
/// Groups that one read unit holds, up to 1 KB each.
const GROUPS_READ: u64 = 4;
/// Requests for a message: its sending, receipt and deletion.
const MESSAGE: u64 = 3;
/// Write units of the transaction of a group: group, manifest and job, each at twice the price of a plain write.
const GROUP_WRITES: u64 = 6;
/// Read units of a turn of the splitter: job, definition and pauses.
const TURN_READS: u64 = 3;
/// Write units of a job that has ended, whose item is above 1 KB. Until then, it has one.
const ENDED_JOB: u64 = 2;
/// Write units of the indexes that project the status, for each change of it.
const STATUS_INDEXES: u64 = 2;
/// Read units of a delivery of a chunk: group and job.
pub(super) const DELIVERY_READS: u64 = 2;

/// The source of a job, as its cost depends on it.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct SourceSize {
    /// Bytes of the file; zero for another source.
    pub(super) bytes: u64,
    /// The preparation of the file in this generation.
    pub(super) preparation: Option<PreparationSize>,
    /// True if the splitter writes the items into files.
    pub(super) has_item_files: bool,
}

/// The preparation of a file, as far as it has come.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct PreparationSize {
    /// Bytes of the uploaded file that were read.
    pub(super) read_bytes: u64,
    /// Bytes of the prepared file; zero until it exists.
    pub(super) prepared_bytes: u64,
}

impl PreparationSize {
    /// Returns the preparation in the current generation: of the file, or of a corrected one.
    fn new(job: &Job) -> Option<Self> {
        if let Some(Preparation { read_bytes, .. }) = job.preparation {
            return Some(Self { read_bytes, prepared_bytes: 0 });
        }
        // A retry uses the file as an earlier generation has prepared it, unless that one has not come so far.
        let file = match job.retry.selection.corrected() {
            None if job.retry.carried_over.groups == 0 => job.file(),
            corrected => corrected,
        }?;
        let original = file.original.as_ref()?;
        Some(Self { read_bytes: original.size_bytes, prepared_bytes: file.size_bytes })
    }
}

impl SourceSize {
    pub(super) fn new(job: &Job) -> Self {
        Self { bytes: job.source_bytes(), preparation: PreparationSize::new(job), has_item_files: job.has_item_files() }
    }

    /// Returns what the splitter of this generation can read: nothing if an earlier one has counted the whole file.
    pub(super) fn to_split(job: &Job) -> Self {
        let source = Self::new(job);
        if job.retry.carried_over.split_ended { Self { bytes: 0, ..source } } else { source }
    }

    /// Returns true if the chunks of the file travel in their messages.
    fn is_inline(self) -> bool {
        self.bytes <= CHUNKS_PER_FILE * INLINE_BYTES && !self.has_item_files
    }
}

/// The groups of a generation, as far as they are committed.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Ledger {
    pub(super) groups: u64,
    /// Groups whose items have all ended.
    pub(super) done_groups: u64,
    /// Chunks that have committed.
    pub(super) chunks: u64,
    /// Requests that send the messages of these chunks.
    pub(super) sends: u64,
    /// Bytes of the source in the groups: what the splitter has read so far in this generation.
    pub(super) split_bytes: u64,
    pub(super) usage: ChunkUsage,
}

impl Ledger {
    /// Sums the groups of the current generation.
    pub(super) fn new(job: &Job, groups: &[Group]) -> Self {
        let committed = job.split.groups.saturating_sub(job.retry.carried_over.groups);
        let mut ledger = Self { groups: committed.into(), ..Self::default() };
        for group in groups.iter().filter(|group| job.owns(group.number)) {
            let chunks = group.cursors.len() as u64;
            ledger.done_groups += u64::from(group.is_done());
            ledger.chunks += chunks;
            ledger.sends += chunks.div_ceil(MESSAGES);
            ledger.split_bytes += group.bytes;
            ledger.usage += group.usage;
        }
        ledger
    }
}

/// Returns the units of the preparation of a file: one invocation, which reads it from its beginning, and the first turn
/// of the splitter, which finds that the file must be prepared.
fn preparation(PreparationSize { read_bytes, prepared_bytes }: PreparationSize) -> Units {
    let ms = INVOCATION_MS + milliseconds(read_bytes, PREPARE_NS).max(milliseconds(prepared_bytes, PREPARED_NS));
    Units {
        gb_ms: gb_ms(ms, PREPARE_GB) + gb_ms(SPLIT_MS, GB),
        requests: 2,
        queue: 2 * MESSAGE,
        // Beginning and end.
        writes: 2,
        // Job, definition and pauses, twice.
        reads: 2 * TURN_READS,
        object_writes: 2 + prepared_bytes / PART_BYTES,
        object_reads: 3,
    }
}

/// Returns the units of the split, as far as it has committed groups.
pub(super) fn split(source: SourceSize, ledger: &Ledger) -> Units {
    let bytes = source.bytes.min(ledger.split_bytes);
    let turns = 1 + bytes / TURN_BYTES;
    let rows_in_messages = if source.is_inline() { 2 * bytes / MESSAGE_BYTES } else { 0 };
    let split = Units {
        gb_ms: gb_ms(SPLIT_MS + milliseconds(bytes, SPLIT_NS), GB),
        requests: turns,
        // Begin, columns and end; then the event and the job in a transaction of two items.
        writes: 3 + STATUS_INDEXES + 4 + GROUP_WRITES * ledger.groups,
        // Also the endpoints of the event, and the definition for a preset. The ledger has the reads of a walk.
        reads: TURN_READS * turns + 2 + ledger.groups,
        queue: MESSAGE * turns + rows_in_messages,
        object_writes: if source.has_item_files { ledger.groups } else { 0 },
        object_reads: if source.bytes > 0 { 2 * turns } else { 0 },
    };
    source.preparation.map(preparation).unwrap_or_default() + split
}

/// Returns the units of the chunks, as far as they have committed, with the sends of their messages.
pub(super) fn chunks(source: SourceSize, ledger: &Ledger) -> Units {
    let ChunkUsage { gb_ms: worked, deliveries, writes, reads, object_writes } = ledger.usage;
    Units {
        gb_ms: worked + gb_ms(INVOCATION_MS, GB) * deliveries,
        requests: deliveries,
        writes: writes + ledger.done_groups,
        reads,
        // Each delivery is a receipt and a deletion. A chunk that continues, or has another round, sends its message.
        queue: ledger.sends + 2 * deliveries + deliveries.saturating_sub(ledger.chunks),
        object_writes,
        object_reads: if source.is_inline() { 0 } else { deliveries },
    }
}

/// Kind of the end of a job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum End {
    /// Every item has ended.
    Completed,
    /// The job was stopped before.
    Stopped,
}

/// Returns the units of the end of a job with these counts: report, receipt and final status.
pub(super) fn end(source: SourceSize, ledger: &Ledger, counts: Counts, end: End) -> Units {
    let is_stopped = end == End::Stopped;
    let listed = u64::from(counts.failed > 0) + u64::from(counts.skipped > 0) + u64::from(is_stopped);
    let listing_ms = milliseconds(counts.failed.saturating_add(counts.skipped), LISTED_NS);
    Units {
        gb_ms: gb_ms(INVOCATION_MS + milliseconds(source.bytes, RECEIPT_NS) + listing_ms, GB),
        requests: 1,
        // The final status with the month's costs, then the event with the job: two transactions. The job leaves the
        // index of unfinished ones. A job that is stopped has its stop written and its groups closed first.
        writes: 2 * 2 * (ENDED_JOB + 1) + STATUS_INDEXES + 1 + if is_stopped { 1 + ledger.groups } else { 0 },
        // Job, definition and endpoints, and the groups.
        reads: 3 + ledger.groups.div_ceil(GROUPS_READ),
        queue: MESSAGE,
        object_writes: 2 + listed,
        // The file, and the work files. A stopped job reads the file again for what is left of it.
        object_reads: 1 + ledger.usage.object_writes + u64::from(is_stopped),
    }
}

/// Returns the units of one check of a cost: all groups are read.
pub(super) fn check(groups: u64) -> Units {
    Units { reads: 1 + groups.div_ceil(GROUPS_READ), ..Units::default() }
}

pub(super) fn gb_ms(milliseconds: f64, gb: f64) -> u64 {
    (milliseconds * gb).round() as u64
}

/// Returns the time in milliseconds for this number of bytes or items.
pub(super) fn milliseconds(number: u64, nanoseconds_each: f64) -> f64 {
    number as f64 * nanoseconds_each / 1e6
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "step_units_tests.rs"]
mod step_units_tests;
