//! The datasets of a tenant: one item for each, put before its first record, so that every dataset with records is
//! listed.
//!
//! `PK` = `DATASETS#tenant`, `SK` = name, `notedAt`. A process puts the item once and remembers it. The condition
//! keeps the item of the first process, so the put is idempotent. A process that dies after the put leaves an empty
//! dataset.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ports::{Page, PortError, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::batch::CallError;
use super::table::DynamoRecords;
use crate::telemetry;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::DatasetInfo;

/// `PutItem` if absent, once per process. Idempotent.
pub(super) async fn put(records: &DynamoRecords, dataset: &Dataset) -> Result<(), CallError> {
    if records.datasets.has(dataset) {
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
    records.datasets.add(dataset);
    Ok(())
}

/// `Query`, consistent, in the order of the names, for one item more than the page holds, so that the last page is
/// recognized.
pub(super) async fn page(
    records: &DynamoRecords,
    tenant: &TenantId,
    limit: usize,
    after: Option<&str>,
) -> PortResult<Page<DatasetInfo>> {
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

/// `GetItem`, consistent.
pub(super) async fn find(records: &DynamoRecords, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
    let (partition, name) = list_key(dataset);
    let call = records.client.get_item().table_name(&records.table).consistent_read(true);
    let call = call.key("PK", AttributeValue::S(partition)).key("SK", AttributeValue::S(name));
    let found = call.send().await.map_err(|e| PortError {
        service: "store",
        operation: "find a dataset",
        source: Box::new(e),
    })?;
    Ok(found.item.as_ref().and_then(known))
}

/// Returns the partition of a tenant's datasets. No partition of a dataset's records has this prefix: it has a `#`
/// where this has an `S`.
fn partition(tenant: &TenantId) -> String {
    format!("DATASETS#{tenant}")
}

/// Returns `PK` and `SK` of the item by which a dataset is listed.
pub fn list_key(dataset: &Dataset) -> (String, String) {
    (partition(&dataset.tenant), dataset.name.clone())
}

fn known(item: &HashMap<String, AttributeValue>) -> Option<DatasetInfo> {
    let name = item.get("SK")?.as_s().ok()?.clone();
    let created_at = item.get("notedAt")?.as_n().ok()?.parse().ok()?;
    Some(DatasetInfo { name, created_at: Timestamp(created_at) })
}
