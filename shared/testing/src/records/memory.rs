//! Records in memory, under the same rules and limits as the table: for tests and for trying a job type out.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ports::{Page, PortError, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Map, Value};

use longshore::aws_limits::Refusal;
use longshore::aws_limits::dynamodb::{BATCH_STATEMENTS, Call, Item, check_call, check_item, check_key};
use longshore::store::records::cursor::RecordsCursor;
use longshore::store::records::shard;
use longshore_domain::dataset::Dataset;
use longshore_domain::history::{RecordVersion, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{
    DatasetInfo, KeyPage, KeyWalk, KnownRecords, ListError, NewRecord, RecordReader, RecordStore, StoredRecord,
};
use longshore_domain::writer::{Rule, Writer, Written};

/// Records of all datasets; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryRecords {
    records: Arc<Mutex<BTreeMap<RecordKey, Stored>>>,
    datasets: Arc<Mutex<BTreeMap<Dataset, Timestamp>>>,
    clock: Option<fn() -> Timestamp>,
    last_write: Arc<Mutex<Timestamp>>,
}

/// Key in the order in which the table is walked.
pub(super) type RecordKey = (Dataset, u8, String);

#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) data: Map<String, Value>,
    pub(super) writer: Option<Writer>,
    pub(super) updated_at: Timestamp,
    pub(super) created_by: Option<JobId>,
    pub(super) previous: Option<VersionPlace>,
    pub(super) restored_by: Option<Writer>,
}

impl MemoryRecords {
    /// Returns the number of all records.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<RecordKey, Stored>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_datasets(&self) -> MutexGuard<'_, BTreeMap<Dataset, Timestamp>> {
        self.datasets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_one(&self, into: &Dataset, rule: Rule, record: &NewRecord) -> Written {
        let key = record_key(into, &record.key);
        let mut records = self.lock();
        let holder = records.get(&key);
        let stored = Stored::new(record, holder, self.now());
        if let Err(refusal) = check_item(&stored.item(into, &record.key)) {
            return Written::Refused(refusal.message);
        }
        match holder.map(|holder| holder.writer.map(|writer| rule.refusal(writer, record.writer))) {
            Some(Some(Some(refusal))) => return refusal,
            Some(None) if rule == Rule::Insert => return Written::Taken(None),
            Some(None) => return Written::not_imported(),
            None if rule == Rule::Update => return Written::Missing,
            _ => {}
        }
        if rule == Rule::Delete {
            records.remove(&key);
            return Written::Stored;
        }
        records.insert(key, stored);
        Written::Stored
    }

    /// Sets the clock of the writes, for runs that can be repeated. No two writes have the same time.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Timestamp) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Returns the time of a write.
    pub(super) fn now(&self) -> Timestamp {
        let Some(clock) = self.clock else { return Timestamp::now() };
        let mut last = self.last_write.lock().unwrap_or_else(PoisonError::into_inner);
        *last = clock().max(Timestamp(last.0 + 1));
        *last
    }

    /// Writes as another program does: without a writer.
    pub fn write_directly(&self, into: &Dataset, key: &str, data: Map<String, Value>) {
        let (writer, updated_at) = (None, self.now());
        let stored = Stored { data, writer, updated_at, created_by: None, previous: None, restored_by: None };
        self.lock().insert(record_key(into, key), stored);
    }

    /// Returns all versions of a dataset by key.
    pub fn versions(&self, of: &Dataset) -> BTreeMap<String, RecordVersion> {
        let records = self.lock();
        let own = records.iter().filter(|((dataset, ..), _)| dataset == of);
        own.map(|((.., key), stored)| (key.clone(), stored.version(key))).collect()
    }
}

impl RecordStore for MemoryRecords {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        if rule.creates() {
            self.lock_datasets().entry(into.clone()).or_insert_with(|| self.now());
        }
        let mut written = Vec::with_capacity(records.len());
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            let batch: Vec<_> = records.by_ref().take(BATCH_STATEMENTS).collect();
            let keys: Vec<_> = batch.iter().map(|record| &record.key).collect();
            written.extend(one_call(&keys, |index| self.put_one(into, rule, &batch[index])));
        }
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        let RecordsCursor { shard, after } = RecordsCursor::decode(cursor)?;
        if let Some(after) = &after {
            let start = [("SK".to_owned(), AttributeValue::S(after.clone()))].into();
            check_key(&start).map_err(failed("list records"))?;
        }
        let start = Bound::Excluded((from.clone(), shard, after.unwrap_or_default()));
        let records = self.lock();
        let mut rest = records.range((start, Bound::Unbounded)).take_while(|((dataset, ..), _)| dataset == from);
        let items: Vec<_> = rest.by_ref().take(limit).map(|((.., key), stored)| stored.named(key)).collect();
        let next = rest.next().and(items.last()).map(|last| RecordsCursor::after(&last.key).encode());
        Ok(Page { items, next })
    }

    async fn delete(&self, from: &Dataset, key: &str) -> PortResult<()> {
        check_key(&key_of(from, key)).map_err(failed("delete a record"))?;
        self.lock().remove(&(from.clone(), shard::shard_of(key), key.to_owned()));
        Ok(())
    }

    async fn datasets(&self, tenant: &TenantId, limit: usize, after: Option<&str>) -> PortResult<Page<DatasetInfo>> {
        let datasets = self.lock_datasets();
        let rest = datasets.iter().filter(|(dataset, _)| dataset.tenant == *tenant);
        let mut rest = rest.filter(|(dataset, _)| after.is_none_or(|after| dataset.name.as_str() > after));
        let known = |(dataset, at): (&Dataset, &Timestamp)| DatasetInfo { name: dataset.name.clone(), created_at: *at };
        let items: Vec<_> = rest.by_ref().take(limit).map(known).collect();
        let next = rest.next().and(items.last()).map(|last| last.name.clone());
        Ok(Page { items, next })
    }

    async fn find_dataset(&self, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
        let created_at = self.lock_datasets().get(dataset).copied();
        Ok(created_at.map(|created_at| DatasetInfo { name: dataset.name.clone(), created_at }))
    }
}

/// Makes one call for records of these keys; refuses it as the table does.
pub(super) fn one_call(keys: &[&String], write: impl FnMut(usize) -> Written) -> Vec<Written> {
    match check_call(Call::BatchStatements, keys) {
        Ok(()) => (0..keys.len()).map(write).collect(),
        Err(Refusal { code, .. }) => {
            vec![Written::Unknown(format!("the table could not be written: {code}")); keys.len()]
        }
    }
}

pub(super) fn record_key(dataset: &Dataset, key: &str) -> RecordKey {
    (dataset.clone(), shard::shard_of(key), key.to_owned())
}

/// Keys on a page of a walk.
const PAGE_KEYS: usize = 1_000;

impl RecordReader for MemoryRecords {
    async fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        let records = self.lock();
        let all = records.iter().filter(|((dataset, ..), _)| dataset == of).map(|((.., key), stored)| (key, stored));
        let mut rest: Vec<_> = all.filter(|(key, _)| walk.after.as_ref().is_none_or(|after| *key > after)).collect();
        rest.sort_unstable_by_key(|(key, _)| *key);
        let has_more = rest.len() > PAGE_KEYS;
        rest.truncate(PAGE_KEYS);
        let next = rest.last().filter(|_| has_more).map(|(key, _)| (*key).clone());
        rest.retain(|(_, stored)| walk.updated_since.is_none_or(|since| stored.updated_at >= since));
        Ok(KeyPage { keys: rest.into_iter().map(|(key, _)| key.clone()).collect(), next })
    }

    async fn read_records(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        let records = self.lock();
        let find = |key: &String| {
            let stored = records.get(&(of.clone(), shard::shard_of(key), key.clone()))?;
            Some(stored.named(key))
        };
        Ok(KnownRecords { records: keys.iter().filter_map(find).collect(), known: keys.len(), average_bytes: 0 })
    }
}

/// Returns the key of an item in the table.
fn key_of(dataset: &Dataset, key: &str) -> Item {
    let partition = shard::partition(dataset, shard::shard_of(key));
    [("PK", partition), ("SK", key.to_owned())].map(|(name, of)| (name.to_owned(), AttributeValue::S(of))).into()
}

pub(super) fn failed(operation: &'static str) -> impl Fn(Refusal) -> PortError {
    move |refusal| PortError { service: "store", operation, source: refusal.into() }
}

impl Stored {
    /// The record that a write leaves; it keeps what writes by rule do not set.
    pub(super) fn new(record: &NewRecord, holder: Option<&Self>, updated_at: Timestamp) -> Self {
        Self {
            data: record.data.clone(),
            writer: Some(record.writer),
            updated_at,
            created_by: holder.map_or(Some(record.writer.job), |holder| holder.created_by),
            previous: holder.and_then(|holder| holder.previous.clone()),
            restored_by: holder.and_then(|holder| holder.restored_by),
        }
    }

    /// The item that the table would hold.
    pub(super) fn item(&self, into: &Dataset, key: &str) -> Item {
        // DynamoDB can represent each JSON value, so this cannot fail.
        let data = serde_dynamo::to_attribute_value(&self.data).unwrap_or(AttributeValue::Null(true));
        let text = |name, value: Option<String>| value.map(|value| (name, AttributeValue::S(value)));
        let updated_at = AttributeValue::N(self.updated_at.0.to_string());
        let attributes = [("data", data), ("updatedAt", updated_at)].into_iter();
        let attributes = attributes.chain(text("writer", self.writer.map(|writer| writer.to_string())));
        let attributes = attributes.chain(text("createdBy", self.created_by.map(|job| job.to_string())));
        let attributes = attributes.chain(text("previous", self.previous.as_ref().map(VersionPlace::to_string)));
        let attributes = attributes.chain(text("restoredBy", self.restored_by.map(|writer| writer.to_string())));
        key_of(into, key).into_iter().chain(attributes.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    pub(super) fn version(&self, key: &str) -> RecordVersion {
        RecordVersion {
            key: key.to_owned(),
            data: self.data.clone(),
            writer: self.writer,
            updated_at: Some(self.updated_at),
            created_by: self.created_by,
            previous: self.previous.clone(),
            restored_by: self.restored_by,
        }
    }

    fn named(&self, key: &str) -> StoredRecord {
        StoredRecord {
            key: key.to_owned(),
            record: self.data.clone(),
            writer: self.writer,
            updated_at: self.updated_at,
        }
    }
}
