//! Versions of records: read by key, and overwritten one by one.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemError;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use longshore_domain::dataset::Dataset;
use longshore_domain::history::{RecordVersion, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{
    KnownVersions, NewRecord, Overwrite, PortError, PortResult, RecordVersions, Revert, Unavailable,
};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::{Map, Value};

use super::batch::Batch;
use super::datasets;
use super::list::{Item, as_stored};
use super::statement::{Pending, Step};
use super::table::DynamoRecords;
use super::version_reads::{self, Found, GetCalls};
use crate::back_off::{self, Sleep};
use crate::files::is_temporary;
use crate::metering;
use crate::store::dynamo::unanswered;
use crate::store::records::shard::{partition, shard_of};

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
        version_reads::read(&Gets { records: self, of }, keys).await
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
}

/// The calls that read the versions of a dataset.
struct Gets<'a> {
    records: &'a DynamoRecords,
    of: &'a Dataset,
}

impl GetCalls for Gets<'_> {
    async fn get(&self, keys: &[String]) -> PortResult<Found> {
        let wanted: Vec<_> = keys.iter().map(|key| item_key(self.of, key)).collect();
        let wanted = KeysAndAttributes::builder().set_keys(Some(wanted)).consistent_read(true).build();
        let wanted = wanted.map_err(|error| failed(error.into()))?;
        let (client, table) = (&self.records.client, &self.records.table);
        metering::add_gets(keys.len());
        let call = client.batch_get_item().request_items(table, wanted);
        let output = call.send().await.map_err(unread)?;
        let items = output.responses.and_then(|mut tables| tables.remove(table)).unwrap_or_default();
        let unprocessed = output.unprocessed_keys.and_then(|mut tables| tables.remove(table));
        let unprocessed = unprocessed.map(|unprocessed| unprocessed.keys).unwrap_or_default();
        Ok(Found {
            items: items.into_iter().filter_map(|item| Some((key_of(&item)?, item))).collect(),
            unprocessed: unprocessed.iter().filter_map(key_of).collect(),
        })
    }

    fn sleep(&self) -> Sleep {
        back_off::sleep
    }
}

/// Returns the record's key that an item, or the key of an item, has.
fn key_of(item: &Item) -> Option<String> {
    item.get("SK")?.as_s().ok().cloned()
}

/// Names a failed read as the port does: it has no effect, so it can be repeated.
fn unread(error: SdkError<BatchGetItemError>) -> PortError {
    if is_temporary(&error) { failed(Box::new(Unavailable(error.into()))) } else { unanswered("read versions")(error) }
}

pub(super) fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> PortError {
    PortError { service: "store", operation: "read versions", source }
}

fn item_key(of: &Dataset, key: &str) -> HashMap<String, AttributeValue> {
    let partition = partition(of, shard_of(key));
    [("PK", partition), ("SK", key.to_owned())].map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

/// Reads an item as a version. One whose properties are not JSON cannot be stored as a previous version: it counts as
/// written by another program, which no import overwrites.
pub(super) fn as_version(item: Item) -> Option<RecordVersion> {
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
