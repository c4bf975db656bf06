//! Reads for jobs over a dataset. The keys of a dataset are spread over its shards by a hash; each shard is in order.
//! So a walk reads all shards at once and merges them, up to the first key that one of them has not reached. The reads
//! of records are in `reads`.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity, ReturnConsumedCapacity};
use futures::future::try_join_all;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{KeyPage, KeyWalk, KnownRecords, PortResult, RecordReader};

use super::list::Item;
use super::reads;
use super::table::DynamoRecords;
use crate::metering;
use crate::store::dynamo::unanswered;
use crate::store::records::shard::{SHARDS, partition};

/// Keys of one shard in one query. On average, the merge drops one in ten: those after the end of the shortest page.
const SHARD_KEYS: i32 = 500;
/// Keys after which a page is long enough.
const ENOUGH_KEYS: usize = 16_000;
/// Maximum number of times that the shards that are furthest behind are queried again in one call. Needed for large
/// records, of which a query returns few.
const REFILLS: usize = 16;
/// Shards in one refill.
const REFILLED: usize = 8;

impl RecordReader for DynamoRecords {
    async fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        let start = |shard| ShardKeys { shard, keys: Vec::new(), read_to: walk.after.clone(), ended: false };
        let mut shards: Vec<_> = (0..SHARDS).map(start).collect();
        self.advance(of, walk, shards.iter_mut().collect()).await?;
        for _ in 0..REFILLS {
            let Some(bound) = bound(&shards) else { break };
            let known: usize = shards.iter().map(|shard| shard.keys.partition_point(|key| *key <= bound)).sum();
            if known >= ENOUGH_KEYS {
                break;
            }
            let mut open: Vec<_> = shards.iter_mut().filter(|shard| !shard.ended).collect();
            open.sort_by(|a, b| a.read_to.cmp(&b.read_to));
            open.truncate(REFILLED);
            self.advance(of, walk, open).await?;
        }
        let next = bound(&shards);
        let all = shards.into_iter().flat_map(|shard| shard.keys);
        let mut keys: Vec<_> = all.filter(|key| next.as_ref().is_none_or(|next| key <= next)).collect();
        keys.sort_unstable();
        Ok(KeyPage { keys, next })
    }

    async fn read_records(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        reads::read(self, of, keys).await
    }
}

/// The keys of one shard that were read.
struct ShardKeys {
    shard: u8,
    keys: Vec<String>,
    /// Every key up to this one was read.
    read_to: Option<String>,
    ended: bool,
}

/// Returns the key up to which all shards were read; `None` if they were read to their ends.
fn bound(shards: &[ShardKeys]) -> Option<String> {
    shards.iter().filter(|shard| !shard.ended).filter_map(|shard| shard.read_to.clone()).min()
}

impl DynamoRecords {
    /// Reads the next keys of each of these shards.
    async fn advance(&self, of: &Dataset, walk: &KeyWalk, shards: Vec<&mut ShardKeys>) -> PortResult<()> {
        let pages = try_join_all(shards.into_iter().map(|shard| async {
            let page = self.query_keys(of, walk, shard).await?;
            Ok((shard, page))
        }))
        .await?;
        for (shard, (items, last)) in pages {
            shard.keys.extend(items.into_iter().filter_map(key));
            shard.ended = last.is_none();
            shard.read_to = last.or(shard.read_to.take());
        }
        Ok(())
    }

    /// `Query` of the keys of one shard, consistent. The table charges for whole records nevertheless, so the answer has
    /// the units that it consumed.
    async fn query_keys(
        &self,
        of: &Dataset,
        walk: &KeyWalk,
        shard: &ShardKeys,
    ) -> PortResult<(Vec<Item>, Option<String>)> {
        let condition = if shard.read_to.is_some() { "PK = :pk AND SK > :after" } else { "PK = :pk" };
        let mut query = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression(condition)
            .expression_attribute_values(":pk", AttributeValue::S(partition(of, shard.shard)))
            .projection_expression("SK")
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .limit(SHARD_KEYS);
        if let Some(after) = &shard.read_to {
            query = query.expression_attribute_values(":after", AttributeValue::S(after.clone()));
        }
        if let Some(since) = walk.updated_since {
            let since = AttributeValue::N(since.0.to_string());
            let filter = "attribute_not_exists(updatedAt) OR updatedAt >= :since";
            query = query.filter_expression(filter).expression_attribute_values(":since", since);
        }
        let output = query.send().await.map_err(unanswered("walk the keys of a dataset"))?;
        let consumed = output.consumed_capacity.as_ref().and_then(ConsumedCapacity::capacity_units);
        metering::add_consumed(consumed.unwrap_or_default());
        Ok((output.items.unwrap_or_default(), output.last_evaluated_key.and_then(key)))
    }
}

/// Returns the key of a record's item.
pub(super) fn key(mut item: HashMap<String, AttributeValue>) -> Option<String> {
    if let Some(AttributeValue::S(key)) = item.remove("SK") { Some(key) } else { None }
}
