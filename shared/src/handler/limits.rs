//! What one job type may take: per chunk, per item, per job.

use longshore_domain::split::ChunkLimits;

/// Whether a job type works through a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Input {
    /// A file is required: each of its records is an item.
    File,
    /// No file: the job is one item whose input is its options.
    Options,
}

/// Limits of a job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TypeLimits {
    /// Items in one chunk at most, unless the file is so large that its job would have more than 500 groups: its chunks
    /// grow to megabytes. Slow items want small chunks: one is worked in turns of twenty seconds, and commits each
    /// second.
    pub chunk_items: u32,
    /// Bytes after which a chunk is cut; up to 2.5 MB at the end of the largest file. Held in memory as a whole.
    pub chunk_bytes: u64,
    /// Maximum size of an item. A longer one fails, and no handler sees it.
    pub item_bytes: u64,
    /// Items offered to the batch form at once, at most.
    pub batch_items: usize,
    /// How often an item that answers `Retry` goes round again before it fails.
    pub item_retries: u32,
    /// How many chunks of this type may run at once, over all jobs and tenants; as many as there are workers if none.
    /// For handlers that call what bears only so many calls. 0 is taken for 1. Chunks beyond it wait, at no worker's
    /// cost; each of them costs some small writes and a message more.
    pub chunks_at_once: Option<u32>,
    /// Seconds after which a job of this type is stopped; the stack's own limit if none.
    pub job_time_limit_s: Option<i64>,
}

impl TypeLimits {
    /// For items that take up to a few milliseconds.
    pub const DEFAULT: Self = Self {
        chunk_items: 1_000,
        chunk_bytes: 1 << 20,
        item_bytes: 16 << 20,
        batch_items: 100,
        item_retries: 5,
        chunks_at_once: None,
        job_time_limit_s: None,
    };

    /// The part that the splitter needs.
    pub fn chunk(&self) -> ChunkLimits {
        ChunkLimits { items: self.chunk_items, bytes: self.chunk_bytes, item_bytes: self.item_bytes }
    }
}
