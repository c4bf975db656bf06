//! The records that imports leave behind, and the port through which they are written and read.
//!
//! The one rule: of all writers of a key, the same one stands at the end whatever the order, however often each
//! comes. So a redelivered chunk, a chunk that runs late and two jobs at once leave what one run in order leaves.

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
    /// Its key within the dataset: 1 to [`MAX_KEY_BYTES`] bytes.
    pub key: String,
    /// Its properties; [`fits`] has said that the table can hold them.
    pub data: Map<String, Value>,
    /// Which row of which job writes it.
    pub writer: Writer,
}

/// What became of a record.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Written {
    /// It stands in the table.
    Stored,
    /// A later writer's record is in the table, and stays.
    Superseded(Writer),
    /// Another writer has the key, and the rule forbids overwriting; `None` if no import wrote that record.
    Taken(Option<Writer>),
    /// The table will never hold it, and says why.
    Refused(String),
    /// Whether it was written is not known: write it again, later.
    Unknown(String),
    /// The table had no capacity for it, and did not write it: write it again, later. No fault of the record.
    Throttled(String),
    /// It was not begun, since those before it took their time: write it again, now.
    Untried,
}

/// A record as it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredRecord {
    /// Its key.
    pub key: String,
    /// Its properties.
    pub record: Map<String, Value>,
    /// Who wrote it; none if it was no import.
    pub writer: Option<Writer>,
    /// When.
    pub updated_at: Timestamp,
}

/// A dataset that an import has written to.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct KnownDataset {
    /// Its name, one of the tenant's.
    pub name: String,
    /// When the first import began to write to it.
    pub created_at: Timestamp,
}

/// Why there is no page of records.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The cursor is none that a page of records gave.
    #[error("the cursor is none that a page of this list gave; start again without one")]
    BadCursor,
    /// The table failed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Records by key.
pub trait RecordStore: Send + Sync + 'static {
    /// Writes records, each by itself, under one rule. One answer each, in their order. No two have the same key.
    /// Begins none after about a second, so that a job which is stopped writes no further; the first is always tried.
    /// Harmless twice: a writer's second write meets its own first one.
    fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> impl Future<Output = Vec<Written>> + Send;

    /// Reads up to `limit` records (fewer if they are large) in an order that stays the same, consistently.
    fn list(
        &self,
        from: &Dataset,
        limit: usize,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Page<StoredRecord>, ListError>> + Send;

    /// Up to `limit` of a tenant's datasets in the order of their names, those behind `after`, consistently; `next` is
    /// the last name of the page. Whatever has records is among them.
    fn datasets(
        &self,
        tenant: &str,
        limit: usize,
        after: Option<&str>,
    ) -> impl Future<Output = PortResult<Page<KnownDataset>>> + Send;
}
