//! The next group of a walk: the content of its item file, and its chunks.

use longshore_domain::group::ChunkPlan;

/// Size of an item file at which its group ends: the splitter has the file in memory.
const FILE_BYTES: usize = 32 << 20;

/// An item of a walk.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum Walked {
    /// A record, without its terminator.
    Record(Vec<u8>),
    /// A record whose quote is never closed: nothing can follow it in a file.
    Unclosed(Vec<u8>),
    /// An item of which no bytes exist.
    Unread,
}

/// Limits of a group.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct Limits {
    /// Number of chunks with records.
    pub(crate) chunks: usize,
    /// Items of a chunk.
    pub(crate) items: u32,
    /// Bytes after which a chunk is cut.
    pub(crate) bytes: u64,
}

/// The group that is being filled. The items without bytes are one chunk behind the others, because each of them would
/// otherwise cut a chunk.
#[derive(Clone, Debug)]
pub(crate) struct NextGroup {
    limits: Limits,
    bytes: Vec<u8>,
    /// Chunks of records, without the numbers of their items.
    chunks: Vec<ChunkPlan>,
    unread: u32,
    /// True if no record can follow.
    is_closed: bool,
}

impl NextGroup {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, bytes: Vec::new(), chunks: Vec::new(), unread: 0, is_closed: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.unread == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        let is_last_full = self.chunks.last().is_some_and(|chunk| self.is_chunk_full(chunk));
        let has_no_chunk_left = self.chunks.len() >= self.limits.chunks && is_last_full;
        let has_many_unread = self.unread >= self.limits.items;
        self.is_closed || has_no_chunk_left || has_many_unread || self.bytes.len() >= FILE_BYTES
    }

    fn is_chunk_full(&self, chunk: &ChunkPlan) -> bool {
        chunk.items >= self.limits.items || chunk.end - chunk.start >= self.limits.bytes
    }

    pub(crate) fn push(&mut self, item: Walked) {
        match item {
            Walked::Record(record) => self.append(&record, false),
            Walked::Unclosed(record) => {
                self.append(&record, true);
                self.is_closed = true;
            }
            Walked::Unread => self.unread += 1,
        }
    }

    /// Appends a record, to the last chunk or to a new one. An unclosed one has no terminator, which would be part of
    /// it.
    fn append(&mut self, record: &[u8], is_unclosed: bool) {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(record);
        if !is_unclosed {
            self.bytes.push(b'\n');
        }
        let end = self.bytes.len() as u64;
        let is_full = self.chunks.last().is_none_or(|chunk| self.is_chunk_full(chunk));
        match self.chunks.last_mut().filter(|_| !is_full) {
            Some(open) => (open.items, open.end) = (open.items + 1, end),
            None => self.chunks.push(ChunkPlan::from_range(0, 1, start..end)),
        }
    }

    /// Returns the content of the item file, and the chunks without its name; `first` is the number of the first item.
    pub(crate) fn finish(self, first: u64) -> (Vec<u8>, Vec<ChunkPlan>) {
        let Self { bytes, mut chunks, unread, .. } = self;
        if unread > 0 {
            chunks.push(ChunkPlan { oversize: true, ..ChunkPlan::from_range(0, unread, 0..0) });
        }
        let mut next = first;
        for chunk in &mut chunks {
            chunk.first = next;
            next += u64::from(chunk.items);
        }
        (bytes, chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(items: &[Walked]) -> NextGroup {
        let mut group = NextGroup::new(Limits { chunks: 2, items: 2, bytes: 10 });
        for item in items {
            assert!(!group.is_full());
            group.push(item.clone());
        }
        group
    }

    fn record(text: &str) -> Walked {
        Walked::Record(text.into())
    }

    /// First item, items, start, end, and whether the item is too large.
    type Plan = (u64, u32, u64, u64, bool);

    fn plans(group: NextGroup) -> (String, Vec<Plan>) {
        let (bytes, chunks) = group.finish(5);
        let plans = chunks.iter().map(|plan| (plan.first, plan.items, plan.start, plan.end, plan.oversize));
        (String::from_utf8(bytes).unwrap(), plans.collect())
    }

    #[test]
    fn a_chunk_is_cut_by_items_and_by_bytes() {
        let full = group(&[record("a"), record("b"), record("0123456789")]);
        assert!(full.is_full());
        assert_eq!(plans(full), ("a\nb\n0123456789\n".into(), vec![(5, 2, 0, 4, false), (7, 1, 4, 15, false)]));
        assert!(group(&[]).is_empty());
    }

    #[test]
    fn nothing_follows_an_unclosed_record_and_items_without_bytes_are_one_chunk() {
        let closed = group(&[Walked::Unread, record("a"), Walked::Unclosed("\"b\n".into())]);
        assert!(closed.is_full());
        assert_eq!(plans(closed), ("a\n\"b\n".into(), vec![(5, 2, 0, 5, false), (7, 1, 0, 0, true)]));
        let unread = group(&[Walked::Unread, Walked::Unread]);
        assert!(unread.is_full() && !unread.is_empty());
        assert_eq!(plans(unread), (String::new(), vec![(5, 2, 0, 0, true)]));
    }
}
