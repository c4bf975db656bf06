//! The rows of small chunks, which are sent in their messages. Memory is bounded by one group's rows.

use std::collections::BTreeMap;

use longshore_domain::group::ChunkPlan;
use longshore_domain::split::INLINE_BYTES;

/// Maximum bytes of a chunk whose rows are sent in its message: a full chunk, plus the row that filled it.
const CHUNK_BYTES: u64 = INLINE_BYTES + INLINE_BYTES / 8;

/// The rows of the chunks that are cut but not yet sent, and of the open chunk.
#[derive(Debug)]
pub(crate) struct InlineRows {
    /// The source from byte `from` on.
    tail: Vec<u8>,
    from: u64,
    /// Rows of chunks by their first byte.
    cut: BTreeMap<u64, Vec<u8>>,
}

impl InlineRows {
    pub(crate) fn starting_at(from: u64) -> Self {
        Self { tail: Vec::new(), from, cut: BTreeMap::new() }
    }

    /// Adds the next block of the source.
    pub(crate) fn extend(&mut self, block: &[u8]) {
        self.tail.extend_from_slice(block);
    }

    /// Keeps the rows of a cut chunk if they fit into its message.
    pub(crate) fn cut(&mut self, plan: &ChunkPlan) {
        if plan.oversize || plan.end - plan.start > CHUNK_BYTES || plan.start < self.from {
            return;
        }
        let range = (plan.start - self.from) as usize..(plan.end - self.from) as usize;
        if let Some(rows) = self.tail.get(range) {
            self.cut.insert(plan.start, rows.to_vec());
        }
    }

    /// Drops the bytes before the open chunk, and those of the open chunk too once it is too long for a message.
    pub(crate) fn drop_before(&mut self, open: u64) {
        let gone = (open.saturating_sub(self.from) as usize).min(self.tail.len());
        let gone = if (self.tail.len() - gone) as u64 > CHUNK_BYTES { self.tail.len() } else { gone };
        self.tail.drain(..gone);
        self.from += gone as u64;
    }

    /// Returns the rows of a chunk if they are sent in its message.
    pub(crate) fn rows_of(&self, plan: &ChunkPlan) -> Option<&[u8]> {
        self.cut.get(&plan.start).map(Vec::as_slice)
    }

    /// Drops the rows of the chunks that are sent.
    pub(crate) fn sent(&mut self) {
        self.cut.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(start: u64, end: u64) -> ChunkPlan {
        ChunkPlan { first: 1, items: 1, start, end, oversize: false }
    }

    #[test]
    fn a_chunk_keeps_its_rows_until_it_is_sent() {
        let mut rows = InlineRows::starting_at(10);
        rows.extend(b"one\ntwo\nthr");
        rows.cut(&plan(10, 18));
        rows.drop_before(18);
        rows.extend(b"ee\n");
        rows.cut(&plan(18, 24));
        assert_eq!(rows.rows_of(&plan(10, 18)), Some(&b"one\ntwo\n"[..]));
        assert_eq!(rows.rows_of(&plan(18, 24)), Some(&b"three\n"[..]));
        rows.sent();
        assert_eq!(rows.rows_of(&plan(10, 18)), None);
    }

    #[test]
    fn the_rows_of_a_chunk_that_is_too_long_for_a_message_are_dropped() {
        let mut rows = InlineRows::starting_at(0);
        for _ in 0..1_000 {
            rows.extend(&[b'x'; 8_000]);
            rows.drop_before(0);
            assert!(rows.tail.len() as u64 <= CHUNK_BYTES);
        }
        rows.cut(&plan(0, 8_000_000));
        rows.drop_before(8_000_000);
        rows.extend(b"next\n");
        rows.cut(&plan(8_000_000, 8_000_005));
        assert_eq!(rows.rows_of(&plan(0, 8_000_000)), None);
        assert_eq!(rows.rows_of(&plan(8_000_000, 8_000_005)), Some(&b"next\n"[..]));
    }
}
