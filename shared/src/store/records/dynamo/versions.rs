//! Versions of records: read by key, and overwritten one by one.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use futures::future::try_join_all;
use longshore_domain::dataset::Dataset;
use longshore_domain::history::{RecordVersion, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{
    Busy, KnownVersions, NewRecord, Overwrite, PortError, PortResult, RecordVersions, Revert,
};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::{Map, Value};

use super::batch::Batch;
use super::datasets;
use super::list::{Item, as_stored};
use super::statement::{Pending, Step};
use super::table::DynamoRecords;
use crate::aws_limits::dynamodb::BATCH_GET_KEYS;
use crate::back_off::{self, BackOff};
use crate::store::dynamo::unanswered;
use crate::store::records::shard::{partition, shard_of};
use crate::store::records::size;

/// Bytes of versions after which no further call begins. A call returns up to 16 MB.
const BYTES: usize = 8 << 20;
/// Maximum number of calls at once. The first call is alone: it shows how large the versions are.
const AT_ONCE: usize = 8;

impl RecordVersions for DynamoRecords {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        if let Err(error) = datasets::put(self, into).await {
            return vec![error.into(); records.len()];
        }
        let now = Timestamp::now();
        let numbered = records.iter().enumerate();
        let pending = numbered.map(|(index, record)| Pending::new(into, index, record, Step::InsertNew, now)).collect();
        self.write(pending).await
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        let (mut versions, mut bytes, mut known, mut at_once) = (Vec::new(), 0, 0, 1);
        while known < keys.len() && (known == 0 || bytes < BYTES) {
            let calls: Vec<_> = keys[known..].chunks(BATCH_GET_KEYS).take(at_once).collect();
            let pages = try_join_all(calls.iter().map(|keys| self.get_all(of, keys))).await?;
            let mut largest = 1;
            for (keys, items) in calls.iter().zip(pages) {
                let page: Vec<_> = items.into_iter().filter_map(as_version).collect();
                let page_bytes: usize = page.iter().map(|version| size::bytes(&version.key, &version.data)).sum();
                (largest, bytes, known) = (largest.max(page_bytes), bytes + page_bytes, known + keys.len());
                versions.extend(page);
            }
            at_once = (BYTES.saturating_sub(bytes) / largest).clamp(1, AT_ONCE);
        }
        Ok(KnownVersions { versions, known })
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        let now = Timestamp::now();
        let numbered = records.iter().enumerate();
        self.write(numbered.map(|(index, record)| Pending::overwrite(into, index, record, now)).collect()).await
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        let now = Timestamp::now();
        let numbered = reverts.iter().enumerate();
        self.write(numbered.map(|(index, revert)| Pending::revert(of, index, revert, now)).collect()).await
    }
}

impl DynamoRecords {
    /// Sends statements whose steps do not depend on a rule.
    async fn write(&self, pending: Vec<Pending>) -> Vec<Written> {
        let mut written = vec![Written::Untried; pending.len()];
        for done in Batch::new(self, &self.write_rate, Rule::Upsert, pending).run().await {
            written[done.index] = done.written;
        }
        written
    }

    /// `BatchGetItem`, consistent, until no key is left unprocessed.
    async fn get_all(&self, of: &Dataset, keys: &[String]) -> PortResult<Vec<Item>> {
        let (mut items, mut back_off) = (Vec::new(), BackOff::new(back_off::sleep));
        let mut open: Vec<_> = keys.iter().map(|key| item_key(of, key)).collect();
        loop {
            let wanted = KeysAndAttributes::builder().set_keys(Some(open)).consistent_read(true).build();
            let wanted = wanted.map_err(|error| failed(error.into()))?;
            let call = self.client.batch_get_item().request_items(&self.table, wanted);
            let output = call.send().await.map_err(unanswered("read versions"))?;
            let found = output.responses.and_then(|mut tables| tables.remove(&self.table)).unwrap_or_default();
            let has_found = !found.is_empty();
            items.extend(found);
            let unprocessed = output.unprocessed_keys.and_then(|mut tables| tables.remove(&self.table));
            open = unprocessed.map(|unprocessed| unprocessed.keys).unwrap_or_default();
            if open.is_empty() {
                return Ok(items);
            }
            // Keys are also left over if the response is full; the next call is then due at once.
            if !has_found && !back_off.wait().await {
                return Err(failed(Box::new(Busy("no capacity for some keys".into()))));
            }
        }
    }
}

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> PortError {
    PortError { service: "store", operation: "read versions", source }
}

fn item_key(of: &Dataset, key: &str) -> HashMap<String, AttributeValue> {
    let partition = partition(of, shard_of(key));
    [("PK", partition), ("SK", key.to_owned())].map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

/// Reads an item as a version. One whose properties are not JSON cannot be stored as a previous version: it counts as
/// written by another program, which no import overwrites.
fn as_version(item: Item) -> Option<RecordVersion> {
    let is_json = item
        .get("data")
        .is_some_and(|data| serde_dynamo::from_attribute_value::<_, Map<String, Value>>(data.clone()).is_ok());
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok());
    let created_by = text("createdBy").and_then(|id| JobId::parse(id));
    let previous = text("previous").and_then(|place| VersionPlace::parse(place));
    let restored_by = text("restoredBy").and_then(|writer| Writer::parse(writer));
    let has_time = item.contains_key("updatedAt");
    let stored = as_stored(item)?;
    let updated_at = has_time.then_some(stored.updated_at);
    let (key, data, writer) = (stored.key, stored.record, stored.writer.filter(|_| is_json));
    Some(RecordVersion { key, data, writer, updated_at, created_by, previous, restored_by })
}
