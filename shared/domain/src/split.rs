//! Splitting: records into chunks, chunks into groups. Pure, in constant memory.

use serde::{Deserialize, Serialize};

use crate::group::{CHUNKS_PER_GROUP, ChunkPlan};
use crate::job::Job;
use crate::records::Span;

/// Limits of one chunk.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChunkLimits {
    /// Maximum number of items in a chunk.
    pub items: u32,
    /// Size in bytes after which a chunk is cut at the next end of a record.
    pub bytes: u64,
    /// Maximum size of an item. A longer one fails. One that is also longer than a full chunk is not even read: it has
    /// a chunk of its own.
    pub item_bytes: u64,
}

/// Maximum size of rows that travel inside their message: 48 KiB, so that with JSON's escapes it stays in one 64 KiB
/// billing unit.
pub const INLINE_BYTES: u64 = 48 * 1024;

/// Number of chunks that a file is cut into, until the job type's own limit is reached: enough to keep workers busy and
/// progress moving, few enough that overhead falls as files grow.
pub(crate) const CHUNKS_PER_FILE: u64 = 32;

impl ChunkLimits {
    /// Returns the limits for a file of this size: chunks grow with the file, from inline ones up to the type's limit.
    #[must_use]
    pub fn for_file(self, size_bytes: u64) -> Self {
        let bytes = (size_bytes / CHUNKS_PER_FILE).max(INLINE_BYTES).min(self.bytes);
        Self { bytes, ..self }
    }
}

/// Maximum number of groups of one generation, for any source: all of them are read for each answer about the job.
pub const GROUPS_PER_GENERATION: u32 = 500;

/// Slope of the smallest chunk: a chunk of the nth group of a generation holds at least n / `GROWTH` of the source.
/// With sixteen chunks in a group, 283 groups then hold any source. The other groups are room for rows with a chunk of
/// their own. Each of these rows ends a chunk early and is longer than a full one. In the worst case every other chunk
/// is short, and 400 groups hold the source.
const GROWTH: u128 = 640_000;

/// Minimum number of chunks of a source that fills all groups.
pub const CHUNKS_OF_FULL_GENERATION: u64 = (GROWTH / GROUPS_PER_GENERATION as u128) as u64;

/// The same slope for items that a retry replans. It is steeper because chunks that were never started are taken over
/// unchanged.
const REPLANNED_GROWTH: u128 = 160_000;

/// Number of groups after which the chunks of a source of unknown length have twice as many items.
const DOUBLED_AFTER: u32 = 24;

/// A generation's position in its source. The minimum chunk size follows from it, so that small jobs have the chunks
/// that their type asks for, and large ones no more groups than [`GROUPS_PER_GENERATION`]. It depends only on the
/// ledger and the source's size, so a second run of a crashed splitter cuts the same chunks.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct Growth {
    /// Bytes of the source.
    pub size_bytes: u64,
    /// Number of the generation's first group.
    pub carried_over: u32,
    /// Number of the group that is being filled.
    pub group: u32,
}

impl Growth {
    /// Returns the position of a job whose next group is this one.
    pub fn from_job(job: &Job) -> Self {
        let size_bytes = job.file().map_or(0, |source| source.size_bytes);
        Self { size_bytes, carried_over: job.retry.carried_over.groups, group: job.split.groups }
    }

    /// Returns the minimum size of a chunk. A smaller one is cut only before a row with a chunk of its own, or at the
    /// end of the source.
    pub fn min_bytes(self) -> u64 {
        self.share(self.size_bytes, GROWTH)
    }

    /// Returns the limits for replanned items, `items` in all and at most `bytes`. The items of a source of unknown size
    /// may have any number of bytes.
    #[must_use]
    pub fn replanned(self, limits: ChunkLimits, items: u64, bytes: u64) -> ChunkLimits {
        let least = u32::try_from(self.share(items, REPLANNED_GROWTH)).unwrap_or(u32::MAX);
        let least_bytes = if self.size_bytes == 0 { self.copied_bytes(limits) } else { 0 };
        let bytes = limits.bytes.max(self.share(bytes, REPLANNED_GROWTH)).max(least_bytes);
        ChunkLimits { items: limits.items.max(least), bytes, ..limits }
    }

    /// Returns the minimum number of items in a chunk of a source of unknown length. It doubles every 24 groups: 500
    /// groups of sixteen chunks hold more than 800 million items.
    pub fn min_items(self) -> u32 {
        1 << self.doublings()
    }

    /// Returns the size of a chunk of items that are copied from a source of unknown size: small at first, so that few
    /// items are spread over workers as well, and twice as large after every 24 groups.
    pub fn copied_bytes(self, limits: ChunkLimits) -> u64 {
        limits.bytes.clamp(1, INLINE_BYTES) << self.doublings()
    }

    fn doublings(self) -> u32 {
        (self.group.saturating_sub(self.carried_over) / DOUBLED_AFTER).min(24)
    }

    /// Returns true if the generation has as many groups as it may.
    pub fn is_last(self) -> bool {
        self.group.saturating_sub(self.carried_over) >= GROUPS_PER_GENERATION
    }

    fn share(self, total: u64, of: u128) -> u64 {
        let group = u128::from(self.group.saturating_sub(self.carried_over));
        u64::try_from(u128::from(total) * group / of).unwrap_or(u64::MAX)
    }
}

/// Returns the number of chunks in group `number`: 2, 4, 8 and then 16, so that the first items run early.
pub fn chunks_in_group(number: u32) -> usize {
    (2_usize << number.min(8)).min(CHUNKS_PER_GROUP)
}

/// Cuts a stream of records into chunks.
#[derive(Clone, Debug)]
pub struct Chunker {
    limits: ChunkLimits,
    growth: Growth,
    /// Number of chunks already cut in the current group.
    cut: usize,
    next_item: u64,
    open: Option<ChunkPlan>,
}

impl Chunker {
    /// Creates a chunker whose first record is item number `first` (from 1).
    pub fn new(limits: ChunkLimits, first: u64) -> Self {
        Self { limits, growth: Growth::default(), cut: 0, next_item: first, open: None }
    }

    /// Sets a source of known size, at the beginning of a group: the chunks grow with the groups.
    #[must_use]
    pub fn growing(self, growth: Growth) -> Self {
        Self { growth, ..self }
    }

    /// Takes the next record; calls `cut` with each chunk that the record fills or closes.
    pub fn push(&mut self, span: Span, cut: &mut impl FnMut(ChunkPlan)) {
        if span.content_end - span.start > self.longest_with_others() {
            self.finish().into_iter().for_each(&mut *cut);
            let first = self.number();
            self.count();
            return cut(ChunkPlan { first, items: 1, start: span.start, end: span.end, oversize: true, keys: None });
        }
        let first = self.number();
        let open = self.open.get_or_insert(ChunkPlan {
            first,
            items: 0,
            start: span.start,
            end: 0,
            oversize: false,
            keys: None,
        });
        open.items += 1;
        open.end = span.end;
        if is_full(self.limits, self.growth, open) {
            self.finish().into_iter().for_each(cut);
        }
    }

    /// Returns the maximum size of a row that shares a chunk with others. The value is that at the beginning of the
    /// next chunk, with or without an open one, since a second run begins at a group.
    fn longest_with_others(&self) -> u64 {
        let (_, growth) = if self.open.is_some() { self.next_place() } else { (self.cut, self.growth) };
        self.limits.item_bytes.max(self.limits.bytes).max(growth.min_bytes())
    }

    /// Returns the open chunk, if there is one: at the end of the file.
    pub fn finish(&mut self) -> Option<ChunkPlan> {
        let open = self.open.take()?;
        self.count();
        Some(open)
    }

    /// Returns the first byte of the open chunk.
    pub fn open_since(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.start)
    }

    /// Counts a finished chunk: the next one may be the first of another group.
    fn count(&mut self) {
        (self.cut, self.growth) = self.next_place();
    }

    fn next_place(&self) -> (usize, Growth) {
        let cut = self.cut + 1;
        if cut < chunks_in_group(self.growth.group) {
            return (cut, self.growth);
        }
        (0, Growth { group: self.growth.group + 1, ..self.growth })
    }

    fn number(&mut self) -> u64 {
        self.next_item += 1;
        self.next_item - 1
    }
}

fn is_full(limits: ChunkLimits, growth: Growth, open: &ChunkPlan) -> bool {
    let (bytes, least) = (open.end - open.start, growth.min_bytes());
    bytes >= limits.bytes.max(least) || (open.items >= limits.items && bytes >= least)
}

#[cfg(test)]
#[path = "split_growth_tests.rs"]
mod growth_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, content_end: end, end, unterminated: false }
    }

    fn cut(limits: ChunkLimits, ends: &[u64]) -> Vec<(u64, u32, u64, u64, bool)> {
        let (mut chunker, mut plans, mut start) = (Chunker::new(limits, 1), Vec::new(), 0);
        for end in ends {
            chunker.push(span(start, *end), &mut |plan| plans.push(plan));
            start = *end;
        }
        plans.extend(chunker.finish());
        plans.into_iter().map(|p| (p.first, p.items, p.start, p.end, p.oversize)).collect()
    }

    const LIMITS: ChunkLimits = ChunkLimits { items: 2, bytes: 50, item_bytes: 100 };

    #[test]
    fn a_chunk_is_cut_at_its_item_limit() {
        assert_eq!(cut(LIMITS, &[10, 20, 30]), [(1, 2, 0, 20, false), (3, 1, 20, 30, false)]);
    }

    #[test]
    fn a_chunk_is_cut_at_the_first_record_end_past_its_byte_limit() {
        assert_eq!(cut(LIMITS, &[60, 70]), [(1, 1, 0, 60, false), (2, 1, 60, 70, false)]);
    }

    #[test]
    fn a_record_over_the_limit_has_a_chunk_of_its_own() {
        assert_eq!(
            cut(LIMITS, &[10, 200, 210]),
            [(1, 1, 0, 10, false), (2, 1, 10, 200, true), (3, 1, 200, 210, false)]
        );
    }

    #[test]
    fn a_record_over_the_limit_shares_a_chunk_unless_it_is_longer_than_a_full_one() {
        let limits = ChunkLimits { items: 3, bytes: 50, item_bytes: 10 };
        assert_eq!(cut(limits, &[20, 25, 45, 95]), [(1, 3, 0, 45, false), (4, 1, 45, 95, false)]);
        assert_eq!(cut(limits, &[20, 71, 80]), [(1, 1, 0, 20, false), (2, 1, 20, 71, true), (3, 1, 71, 80, false)]);
    }

    #[test]
    fn chunks_grow_with_the_file_up_to_the_types_limit() {
        let limits = ChunkLimits { items: 1, bytes: 4 << 20, item_bytes: 1 };
        for (size, bytes) in [(0, INLINE_BYTES), (64 << 20, 2 << 20), (1 << 40, 4 << 20)] {
            assert_eq!(limits.for_file(size).bytes, bytes);
        }
    }

    #[test]
    fn groups_start_small() {
        assert_eq!([0, 1, 2, 3, 4, 99].map(chunks_in_group), [2, 4, 8, 16, 16, 16]);
    }
}
