//! A page of a dataset: queries its shards in order, several at once if they hold few records.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::try_join_all;
use longshore_domain::ports::{Page, PortError};
use longshore_domain::timestamp::Timestamp;

use super::table::DynamoRecords;
use crate::store::records::cursor::RecordsCursor;
use crate::store::records::shard::{self, SHARDS};
use crate::store::records::size;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{ListError, StoredRecord};
use longshore_domain::writer::Writer;

/// Maximum number of shards queried at once. One at first, and twice as many each time they did not fill the page: a
/// large dataset costs one query a page, and a small one is read as a whole in eight round trips.
const SHARDS_AT_ONCE: u8 = 16;

/// Approximate maximum bytes of records on one page: the API responds through a Lambda, whose limit is 6 MB.
const PAGE_BYTES: usize = 4 << 20;

pub(super) type Item = HashMap<String, AttributeValue>;

/// Reads a page: asks for one record more than the page holds, so that the last page is recognized.
pub(super) async fn page(
    records: &DynamoRecords,
    from: &Dataset,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Page<StoredRecord>, ListError> {
    let mut at = Some(RecordsCursor::decode(cursor)?);
    let mut page = Filling { items: Vec::new(), limit, bytes: 0, more: false };
    let mut width = 1;
    while let Some(start) = at.take().filter(|_| !page.more) {
        let end = start.shard.saturating_add(width).min(SHARDS);
        let wanted = limit + 1 - page.items.len();
        let answers = try_join_all((start.shard..end).map(|shard| {
            let after = start.after.clone().filter(|_| shard == start.shard);
            query(records, from, RecordsCursor { shard, after }, wanted)
        }))
        .await?;
        at = page.take(answers).or((end < SHARDS).then_some(RecordsCursor { shard: end, after: None }));
        width = (width * 2).min(SHARDS_AT_ONCE);
    }
    let next = page.items.last().filter(|_| page.more).map(|last| RecordsCursor::after(&last.key).encode());
    Ok(Page { items: page.items, next })
}

struct Filling {
    items: Vec<StoredRecord>,
    limit: usize,
    bytes: usize,
    /// True if there is a record that did not fit onto the page.
    more: bool,
}

impl Filling {
    /// Takes the records of consecutive shards; returns the next position if one of the shards was not read to its
    /// end.
    fn take(&mut self, answers: Vec<(Vec<Item>, Option<RecordsCursor>)>) -> Option<RecordsCursor> {
        for (items, rest) in answers {
            for record in items.into_iter().filter_map(stored) {
                self.bytes += size::bytes(&record.key, &record.record);
                let full = self.items.len() == self.limit || (self.bytes > PAGE_BYTES && !self.items.is_empty());
                if full {
                    self.more = true;
                    return None;
                }
                self.items.push(record);
            }
            if rest.is_some() {
                return rest;
            }
        }
        None
    }
}

/// `Query` of one shard, consistent, after a key. Returns the next position, if the shard holds more than the
/// response.
async fn query(
    records: &DynamoRecords,
    from: &Dataset,
    at: RecordsCursor,
    limit: usize,
) -> Result<(Vec<Item>, Option<RecordsCursor>), PortError> {
    let partition = shard::partition(from, at.shard);
    let start = at.after.map(|key| {
        HashMap::from([
            (String::from("PK"), AttributeValue::S(partition.clone())),
            (String::from("SK"), AttributeValue::S(key)),
        ])
    });
    let output = records
        .client
        .query()
        .table_name(&records.table)
        .key_condition_expression("PK = :pk")
        .expression_attribute_values(":pk", AttributeValue::S(partition))
        .consistent_read(true)
        .limit(i32::try_from(limit).unwrap_or(i32::MAX))
        .set_exclusive_start_key(start)
        .send()
        .await
        .map_err(|e| PortError { service: "store", operation: "list records", source: Box::new(e) })?;
    let last = output.last_evaluated_key.as_ref().and_then(|key| key.get("SK")?.as_s().ok().cloned());
    Ok((output.items.unwrap_or_default(), last.map(|key| RecordsCursor { shard: at.shard, after: Some(key) })))
}

/// Reads an item; `None` if it has no properties that are JSON.
fn stored(mut item: Item) -> Option<StoredRecord> {
    let record = serde_dynamo::from_attribute_value(item.remove("data")?).ok()?;
    Some(StoredRecord { record, ..as_stored(item)? })
}

/// Reads an item. A record whose properties are missing or not JSON, because another program wrote it, has none: it
/// exists nevertheless.
pub(super) fn as_stored(mut item: Item) -> Option<StoredRecord> {
    let Some(AttributeValue::S(key)) = item.remove("SK") else { return None };
    let writer = item.get("writer").and_then(|w| w.as_s().ok()).and_then(|w| Writer::parse(w));
    let updated_at = item.get("updatedAt").and_then(|t| t.as_n().ok()).and_then(|t| t.parse().ok()).unwrap_or_default();
    let record = item.remove("data").and_then(|data| serde_dynamo::from_attribute_value(data).ok()).unwrap_or_default();
    Some(StoredRecord { key, record, writer, updated_at: Timestamp(updated_at) })
}
