//! Limits of a job type: per chunk, per item, per job.

use longshore_domain::split::ChunkLimits;

/// Source of a job type's items.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Input {
    /// A file or a list of items is required: each record of the file is an item.
    File,
    /// A dataset is required: each of its records is an item.
    Dataset,
    /// No file: the job is one item whose input is its options.
    Options,
}

/// Required type of the items in a request. The lines of a file are checked one by one when they are processed.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ItemShape {
    /// Any JSON value.
    Any,
    /// A JSON object. A request with any other item is refused.
    Object,
}

/// Limits of a job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TypeLimits {
    /// Maximum number of items in a chunk. Chunks of a file for which the job would have more than 500 groups are
    /// larger, up to megabytes. Slow items need small chunks: a chunk is processed in turns of twenty seconds, with a
    /// commit every second.
    pub chunk_items: u32,
    /// Size in bytes at which a chunk ends; up to 2.5 MB at the end of the largest file. A worker has a whole chunk in
    /// memory.
    pub chunk_bytes: u64,
    /// Maximum size of an item in bytes. A larger item fails without a call of the handler.
    pub item_bytes: u64,
    /// Maximum number of items in a call of the batch form.
    pub batch_items: usize,
    /// Number of retries of an item with the outcome `Retry` before it fails.
    pub item_retries: u32,
    /// Maximum number of concurrent chunks of this type, over all jobs and tenants; the number of workers if `None`.
    /// For handlers that call a service with limited concurrency. 0 counts as 1. Chunks above the limit wait without
    /// occupying a worker; each of them costs some small writes and one more message.
    pub chunks_at_once: Option<u32>,
    /// Seconds after which a job of this type is stopped; the stack's own limit if `None`.
    pub job_time_limit_s: Option<i64>,
}

impl TypeLimits {
    /// Limits for items that take up to a few milliseconds.
    pub const DEFAULT: Self = Self {
        chunk_items: 1_000,
        chunk_bytes: 1 << 20,
        item_bytes: 16 << 20,
        batch_items: 100,
        item_retries: 5,
        chunks_at_once: None,
        job_time_limit_s: None,
    };

    /// Returns the limits that the splitter needs.
    pub fn chunk(&self) -> ChunkLimits {
        ChunkLimits { items: self.chunk_items, bytes: self.chunk_bytes, item_bytes: self.item_bytes }
    }
}
