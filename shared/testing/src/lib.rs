//! In-memory adapters of Longshore's ports, for tests of job types and functions.
//!
//! They behave as the adapters of AWS do, which one conformance suite verifies, and refuse what AWS refuses: too large
//! an item, a message or key with characters that are not allowed, too many parts. Clones share their contents.
//!
//! | adapter | instead of |
//! | --- | --- |
//! | [`MemoryStore`] | the jobs table |
//! | [`MemoryOperatorLog`] | the table of operators' actions |
//! | [`MemoryRecords`] | the records table |
//! | [`MemoryQueues`] | the queues and their dead-letter queues |
//! | [`MemoryFiles`] | the bucket |
//!
//! [`end_job`] stores a job that has ended, for tests of what follows. [`ChunkWorld`] is a job of one chunk, with its
//! worker. [`signed_in_call`] makes a call of the API.

mod calls;
mod chunk_world;
mod ended;
mod queues;

/// The records in memory, for tests, under the same rules and limits as the table.
mod records {
    mod memory;
    mod versions;

    pub use memory::MemoryRecords;
}

/// The files in memory, for tests. They refuse calls that S3 refuses.
mod files {
    mod memory;
    mod parts;

    use memory::{Parts, etag, failed};

    pub use memory::{MemoryFiles, MemoryStream};
}

/// The store in memory, for tests: the domain's own functions under one lock. It refuses calls that DynamoDB refuses.
///
/// It passes the conformance suite of the DynamoDB store, so that results of a handler's test on it also hold there.
mod store {
    mod concurrency;
    mod dead_letters;
    mod events;
    mod handler_states;
    mod job_records;
    mod job_types;
    mod keys;
    mod memory;
    mod operator_log;
    mod pauses;
    mod presets;
    mod records;
    mod schedules;
    mod starts;
    mod sweeps;
    mod transitions;
    mod webhooks;

    pub use job_records::GroupWrite;
    pub use memory::{JobItem, MemoryStore};
    pub use operator_log::MemoryOperatorLog;
}

pub use calls::signed_in_call;
pub use chunk_world::{ChunkWorld, WorkerProcess, begin_chunk, numbered_rows, put_rows};
pub use ended::{EndedItem, EndedItems, ItemEnd, end_job};
pub use files::{MemoryFiles, MemoryStream};
pub use queues::{MemoryQueues, SentChunk, SentWebhook};
pub use records::MemoryRecords;
pub use store::{GroupWrite, JobItem, MemoryOperatorLog, MemoryStore};
