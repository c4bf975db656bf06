//! Records that count the calls of an import, as the adapter of the table makes them.
//!
//! A call of a port is counted as the calls of AWS that it needs: 25 statements or 100 keys each. The bench makes each
//! dataset either new or full, so a record needs one statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longshore::aws_limits::dynamodb::{BATCH_GET_KEYS, BATCH_STATEMENTS};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{
    DatasetInfo, KeyPage, KeyWalk, KnownRecords, KnownVersions, ListError, NewRecord, Overwrite, Page, PortResult,
    RecordReader, RecordStore, RecordVersions, Revert, StoredRecord,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Written};
use longshore_testing::MemoryRecords;

/// Calls of the records table.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordCalls {
    statements: Arc<AtomicU64>,
    reads: Arc<AtomicU64>,
}

impl RecordCalls {
    /// Returns the number of batches of statements, and of batches of keys.
    pub(crate) fn count(&self) -> (u64, u64) {
        (self.statements.load(Ordering::Relaxed), self.reads.load(Ordering::Relaxed))
    }

    fn add_statements(&self, records: usize) {
        self.statements.fetch_add(records.div_ceil(BATCH_STATEMENTS) as u64, Ordering::Relaxed);
    }
}

/// Records with counted calls.
pub(crate) struct Counted {
    pub(crate) records: MemoryRecords,
    pub(crate) calls: RecordCalls,
}

impl RecordStore for Counted {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        self.calls.add_statements(records.len());
        self.records.put(into, rule, records).await
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        self.records.list(from, limit, cursor).await
    }

    async fn delete(&self, from: &Dataset, key: &str) -> PortResult<()> {
        self.records.delete(from, key).await
    }

    async fn datasets(&self, tenant: &TenantId, limit: usize, after: Option<&str>) -> PortResult<Page<DatasetInfo>> {
        self.records.datasets(tenant, limit, after).await
    }

    async fn find_dataset(&self, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
        self.records.find_dataset(dataset).await
    }
}

impl RecordVersions for Counted {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        self.calls.add_statements(records.len());
        self.records.insert_new(into, records).await
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        self.calls.reads.fetch_add(keys.len().div_ceil(BATCH_GET_KEYS) as u64, Ordering::Relaxed);
        self.records.read_versions(of, keys).await
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        self.calls.add_statements(records.len());
        self.records.overwrite(into, records).await
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        self.records.revert(of, reverts).await
    }
}

impl RecordReader for Counted {
    async fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        self.records.walk_keys(of, walk).await
    }

    async fn read_records(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        self.records.read_records(of, keys).await
    }
}
