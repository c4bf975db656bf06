//! The item file of a group that is being filled by a walk, and the chunks of the group.

use longshore_domain::group::ChunkPlan;

/// Size of an item file at which its group ends: the splitter has the file in memory.
const FILE_BYTES: usize = 32 << 20;

/// An item of a walk.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum WalkedItem {
    /// A record, without its terminator.
    Record(Vec<u8>),
    /// A record whose quote is never closed: nothing can follow it in a file.
    Unclosed(Vec<u8>),
    /// An item of which no bytes exist.
    WithoutBytes,
}

/// Limits of a group.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct GroupLimits {
    /// Number of chunks with records.
    pub(crate) chunks: usize,
    /// Items of a chunk.
    pub(crate) items: u32,
    /// Bytes after which a chunk is cut.
    pub(crate) bytes: u64,
}

/// The item file of a group that is being filled, and its chunks. The items without bytes are one chunk after the
/// others, because each of them would otherwise cut a chunk.
#[derive(Clone, Debug)]
pub(crate) struct ItemFileBuilder {
    limits: GroupLimits,
    bytes: Vec<u8>,
    /// Chunks of records, without the numbers of their items.
    chunks: Vec<ChunkPlan>,
    /// Number of items without bytes.
    without_bytes: u32,
    /// True if no record can follow.
    is_closed: bool,
}

impl ItemFileBuilder {
    pub(crate) fn new(limits: GroupLimits) -> Self {
        Self { limits, bytes: Vec::new(), chunks: Vec::new(), without_bytes: 0, is_closed: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.without_bytes == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        let is_last_full = self.chunks.last().is_some_and(|chunk| self.is_chunk_full(chunk));
        let has_no_chunk_left = self.chunks.len() >= self.limits.chunks && is_last_full;
        let has_many_without_bytes = self.without_bytes >= self.limits.items;
        self.is_closed || has_no_chunk_left || has_many_without_bytes || self.bytes.len() >= FILE_BYTES
    }

    fn is_chunk_full(&self, chunk: &ChunkPlan) -> bool {
        chunk.items >= self.limits.items || chunk.end - chunk.start >= self.limits.bytes
    }

    pub(crate) fn push(&mut self, item: WalkedItem) {
        match item {
            WalkedItem::Record(record) => self.append(&record, false),
            WalkedItem::Unclosed(record) => {
                self.append(&record, true);
                self.is_closed = true;
            }
            WalkedItem::WithoutBytes => self.without_bytes += 1,
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
        let Self { bytes, mut chunks, without_bytes, .. } = self;
        if without_bytes > 0 {
            chunks.push(ChunkPlan { oversize: true, ..ChunkPlan::from_range(0, without_bytes, 0..0) });
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

    fn group(items: &[WalkedItem]) -> ItemFileBuilder {
        let mut group = ItemFileBuilder::new(GroupLimits { chunks: 2, items: 2, bytes: 10 });
        for item in items {
            assert!(!group.is_full());
            group.push(item.clone());
        }
        group
    }

    fn record(text: &str) -> WalkedItem {
        WalkedItem::Record(text.into())
    }

    /// First item, items, start, end, and whether the item is too large.
    type Plan = (u64, u32, u64, u64, bool);

    fn plans(group: ItemFileBuilder) -> (String, Vec<Plan>) {
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
        let closed = group(&[WalkedItem::WithoutBytes, record("a"), WalkedItem::Unclosed("\"b\n".into())]);
        assert!(closed.is_full());
        assert_eq!(plans(closed), ("a\n\"b\n".into(), vec![(5, 2, 0, 5, false), (7, 1, 0, 0, true)]));
        let without_bytes = group(&[WalkedItem::WithoutBytes, WalkedItem::WithoutBytes]);
        assert!(without_bytes.is_full() && !without_bytes.is_empty());
        assert_eq!(plans(without_bytes), (String::new(), vec![(5, 2, 0, 0, true)]));
    }
}
