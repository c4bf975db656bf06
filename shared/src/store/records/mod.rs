//! The records that imports write, and the port for writing and reading them.
//!
//! The rule: of all writers of a key, the same one wins, whatever their order and however often each write is
//! repeated. So a redelivered chunk, a late chunk and two concurrent jobs leave the same records as one run in order.

mod cursor;
mod dataset;
mod dynamo;
mod memory;
mod shard;
mod size;
mod writer;

use std::future::Future;

use longshore_domain::ports::{Page, PortError, PortResult};
use longshore_domain::time_stamp::Timestamp;
use serde_json::{Map, Value};

pub use dataset::{BadDatasetName, Dataset};
pub use dynamo::DynamoRecords;
pub use memory::MemoryRecords;
pub use size::{MAX_ITEM_BYTES, MAX_KEY_BYTES, Misfit, fits};
pub use writer::{Rule, Writer};

/// A record to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRecord {
    /// Key within the dataset: 1 to [`MAX_KEY_BYTES`] bytes.
    pub key: String,
    /// Properties; [`fits`] has checked that the table can hold them.
    pub data: Map<String, Value>,
    /// The job and row that write the record.
    pub writer: Writer,
}

/// Result of a write.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Written {
    /// The record is in the table.
    Stored,
    /// A later writer's record is in the table, and stays.
    Superseded(Writer),
    /// Another writer has the key, and the rule forbids overwriting; `None` if that record was not written by an
    /// import.
    Taken(Option<Writer>),
    /// The table will never accept the record; with the reason.
    Refused(String),
    /// The result is unknown: write the record again, later.
    Unknown(String),
    /// The table had no capacity and did not write the record: write it again, later. The record itself is valid.
    Throttled(String),
    /// The write was not started, because earlier ones took too long: write the record again, now.
    Untried,
}

/// A stored record.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredRecord {
    /// Key of the record.
    pub key: String,
    /// Properties of the record.
    pub record: Map<String, Value>,
    /// Writer of the record; `None` if it was not an import.
    pub writer: Option<Writer>,
    /// Time of the last write.
    pub updated_at: Timestamp,
}

/// A dataset that an import has written to.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct KnownDataset {
    /// Name, one of the tenant's.
    pub name: String,
    /// Time at which the first import began to write to it.
    pub created_at: Timestamp,
}

/// The reason why there is no page of records.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The cursor was not returned by any page of records.
    #[error("the cursor was not returned by a page of this list; start again without one")]
    BadCursor,
    /// The table failed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Records by key.
pub trait RecordStore: Send + Sync + 'static {
    /// Writes records under one rule, each independently. Returns one result each, in their order. No two records may
    /// have the same key. Starts no record after about a second, so that a stopped job writes no further; the first
    /// is always tried. Idempotent: a writer's second write finds its own first one.
    fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> impl Future<Output = Vec<Written>> + Send;

    /// Reads up to `limit` records (fewer if they are large) in a stable order, consistently.
    fn list(
        &self,
        from: &Dataset,
        limit: usize,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Page<StoredRecord>, ListError>> + Send;

    /// Reads up to `limit` of a tenant's datasets in the order of their names, after `after`, consistently; `next` is
    /// the last name of the page. Every dataset with records is included.
    fn datasets(
        &self,
        tenant: &str,
        limit: usize,
        after: Option<&str>,
    ) -> impl Future<Output = PortResult<Page<KnownDataset>>> + Send;
}
