//! The port of the records, and what its calls take and return.

use std::future::Future;

use super::{Page, PortError, PortResult};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::writer::{Rule, Writer, Written};

/// A record to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRecord {
    /// Key within the dataset: not empty, and no longer than the table allows.
    pub key: String,
    /// Properties; the table can hold them. Ignored by [`Rule::Delete`].
    pub data: Map<String, Value>,
    /// The job and row that write the record.
    pub writer: Writer,
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
pub struct DatasetInfo {
    /// Name, one of the tenant's.
    pub name: String,
    /// Time at which the first import started to write to it.
    pub created_at: Timestamp,
}

/// The error of a list of records.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The cursor was not returned by any page of records.
    #[error("the cursor was not returned by a page of this list; request the first page without a cursor")]
    BadCursor,
    /// The table failed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Records by key.
pub trait RecordStore: Send + Sync + 'static {
    /// Writes (or, under [`Rule::Delete`], deletes) records under one rule, each independently. Returns one result each,
    /// in their order. No two records may have the same key. Starts no record after about a second, so that a stopped
    /// job writes no further; the first is always tried. Idempotent: a writer's second write finds its own first one.
    fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> impl Future<Output = Vec<Written>> + Send;

    /// Reads up to `limit` records (fewer if they are large) in a stable order, consistently.
    fn list(
        &self,
        from: &Dataset,
        limit: usize,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Page<StoredRecord>, ListError>> + Send;

    /// Deletes a record, whoever wrote it. Idempotent: it succeeds if there is none. A later write finds no record, so
    /// even a writer that the deleted record took precedence over stores its own.
    fn delete(&self, from: &Dataset, key: &str) -> impl Future<Output = PortResult<()>> + Send;

    /// Reads up to `limit` of a tenant's datasets in the order of their names, after `after`, consistently; `next` is
    /// the last name of the page. Every dataset with records is included.
    fn datasets(
        &self,
        tenant: &TenantId,
        limit: usize,
        after: Option<&str>,
    ) -> impl Future<Output = PortResult<Page<DatasetInfo>>> + Send;

    /// Reads a dataset's entry in the list, consistently; `None` if no import has written to the dataset.
    fn find_dataset(&self, dataset: &Dataset) -> impl Future<Output = PortResult<Option<DatasetInfo>>> + Send;
}
