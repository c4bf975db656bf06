//! Which datasets a tenant has: one item for each, put before its first record, so that none with records is missing.
//!
//! `PK` = `DATASETS#tenant`, `SK` = name, `notedAt`. A process puts it once and remembers; the condition lets the first
//! of all processes have its say, so the put is harmless twice. A process that dies behind it leaves an empty dataset.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ports::{Page, PortError, PortResult};
use longshore_domain::time_stamp::Timestamp;

use super::DynamoRecords;
use super::batch::CallError;
use crate::store::records::{Dataset, KnownDataset};
use crate::telemetry;

/// Datasets that this process has put already. A process sees few; one that is forgotten is put again.
#[derive(Debug, Default)]
pub(super) struct Noted(Mutex<BTreeSet<Dataset>>);

/// More than any one process writes to between two deployments; bounds its memory.
const MOST_NOTED: usize = 1_000;

impl Noted {
    fn has(&self, dataset: &Dataset) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(dataset)
    }

    fn add(&self, dataset: &Dataset) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        noted.insert(dataset.clone());
    }
}

/// `PutItem` if there is none, once per process. Harmless twice.
pub(super) async fn note(records: &DynamoRecords, dataset: &Dataset) -> Result<(), CallError> {
    if records.noted.has(dataset) {
        return Ok(());
    }
    let put = records
        .client
        .put_item()
        .table_name(&records.table)
        .item("PK", AttributeValue::S(partition(&dataset.tenant)))
        .item("SK", AttributeValue::S(dataset.name.clone()))
        .item("notedAt", AttributeValue::N(Timestamp::now().0.to_string()))
        .condition_expression("attribute_not_exists(PK)")
        .send()
        .await;
    if let Err(error) = put
        && !matches!(error.as_service_error(), Some(PutItemError::ConditionalCheckFailedException(_)))
    {
        return Err(CallError::from_code(error.code(), telemetry::chain(&error)));
    }
    records.noted.add(dataset);
    Ok(())
}

/// `Query`, consistent, in the order of the names. One more than the page holds is asked for, so that the last page knows
/// that it is the last.
pub(super) async fn page(
    records: &DynamoRecords,
    tenant: &str,
    limit: usize,
    after: Option<&str>,
) -> PortResult<Page<KnownDataset>> {
    let key = |name: &str| [("PK", partition(tenant)), ("SK", name.to_owned())];
    let start = after.map(|name| key(name).map(|(of, value)| (of.to_owned(), AttributeValue::S(value))).into());
    let output = records
        .client
        .query()
        .table_name(&records.table)
        .key_condition_expression("PK = :pk")
        .expression_attribute_values(":pk", AttributeValue::S(partition(tenant)))
        .consistent_read(true)
        .limit(i32::try_from(limit.saturating_add(1)).unwrap_or(i32::MAX))
        .set_exclusive_start_key(start)
        .send()
        .await
        .map_err(|e| PortError { service: "store", operation: "list datasets", source: Box::new(e) })?;
    let mut items: Vec<_> = output.items.unwrap_or_default().iter().filter_map(known).collect();
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|last| last.name.clone());
    Ok(Page { items, next })
}

/// No dataset's partition begins so: theirs go on with a `#` where this has an `S`.
fn partition(tenant: &str) -> String {
    format!("DATASETS#{tenant}")
}

fn known(item: &HashMap<String, AttributeValue>) -> Option<KnownDataset> {
    let name = item.get("SK")?.as_s().ok()?.clone();
    let created_at = item.get("notedAt")?.as_n().ok()?.parse().ok()?;
    Some(KnownDataset { name, created_at: Timestamp(created_at) })
}
