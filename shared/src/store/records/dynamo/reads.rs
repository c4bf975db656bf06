//! Reads of the records of some keys.
//!
//! Of the keys in one shard, most are neighbours there, too: one query reads them, which is charged by its bytes. It is
//! limited to about as many records as there are keys, because keys that are not wanted may lie between them. Keys that
//! the query did not reach, and single keys of a shard, are read one by one, each charged as 4 KB.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{KnownRecords, PortResult, StoredRecord};

use super::list::{Item, as_stored};
use super::reader::key;
use super::table::DynamoRecords;
use crate::metering;
use crate::store::dynamo::unanswered;
use crate::store::records::shard::{partition, shard_of};
use crate::store::records::size;

/// Number of keys in a shard above which they are queried. A query of fewer costs as much as their single reads.
const SINGLES: usize = 2;
/// Records that a query may return in addition to the wanted ones.
const OTHERS: usize = 2;
/// Calls at once. A query returns up to 1 MB.
const AT_ONCE: usize = 8;
/// Bytes of records after which no further call begins.
const BYTES: usize = 8 << 20;
/// Time after which no further call begins, because the worker looks at its job between two reads.
const TIME: Duration = Duration::from_secs(1);

/// Reads the records of the first keys.
pub(super) async fn read(table: &DynamoRecords, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
    let (began, is_known) = (Instant::now(), vec![false; keys.len()]);
    let mut reads = Reads { table, of, keys, records: HashMap::new(), bytes: 0, began, is_known };
    reads.query_ranges().await?;
    let known = reads.get_others().await?;
    let Reads { mut records, bytes, .. } = reads;
    let average_bytes = bytes.checked_div(records.len()).unwrap_or_default();
    let records = keys.iter().take(known).filter_map(|key| records.remove(key.as_str())).collect();
    Ok(KnownRecords { records, known, average_bytes })
}

struct Reads<'a> {
    table: &'a DynamoRecords,
    of: &'a Dataset,
    keys: &'a [String],
    records: HashMap<String, StoredRecord>,
    bytes: usize,
    began: Instant,
    /// For each key, true if its record was read or does not exist.
    is_known: Vec<bool>,
}

impl Reads<'_> {
    /// Returns true if no further call may begin.
    fn is_over(&self) -> bool {
        self.bytes >= BYTES || self.began.elapsed() >= TIME
    }

    /// Queries the shards that hold several of the keys.
    async fn query_ranges(&mut self) -> PortResult<()> {
        let mut shards = BTreeMap::<u8, Vec<usize>>::new();
        self.keys.iter().enumerate().for_each(|(i, key)| shards.entry(shard_of(key)).or_default().push(i));
        // In the order of their first keys, so that the first keys are known if not all can be read.
        let mut ranges: Vec<_> = shards.into_iter().filter(|(_, keys)| keys.len() > SINGLES).collect();
        ranges.sort_unstable_by_key(|(_, keys)| keys.first().copied());
        for some in ranges.chunks(AT_ONCE) {
            if self.is_over() {
                return Ok(());
            }
            let (table, of, keys) = (self.table, self.of, self.keys);
            let queries: Vec<_> = some.iter().map(|(shard, at)| table.query_range(of, *shard, keys, at)).collect();
            let pages: Vec<_> = stream::iter(queries).buffered(AT_ONCE).try_collect().await?;
            for ((_, at), (items, last)) in some.iter().zip(pages) {
                metering::add_queried(self.take(items));
                let reached = |i: &&usize| last.as_ref().is_none_or(|last| self.keys[**i] <= *last);
                let reached: Vec<usize> = at.iter().filter(reached).copied().collect();
                reached.into_iter().for_each(|i| self.is_known[i] = true);
            }
        }
        Ok(())
    }

    /// Reads the other records in the order of their keys, at least the first ones. Returns the number of keys whose
    /// records are known.
    async fn get_others(&mut self) -> PortResult<usize> {
        let others: Vec<usize> = (0..self.keys.len()).filter(|i| !self.is_known[*i]).collect();
        for some in others.chunks(AT_ONCE) {
            if self.is_over() && some[0] > 0 {
                return Ok(some[0]);
            }
            let (table, of) = (self.table, self.of);
            let gets: Vec<_> = some.iter().map(|i| table.get(of, &self.keys[*i])).collect();
            let found: Vec<_> = stream::iter(gets).buffered(AT_ONCE).try_collect().await?;
            self.take(found.into_iter().flatten().collect());
        }
        Ok(self.keys.len())
    }

    /// Keeps these records. Returns their size.
    fn take(&mut self, items: Vec<Item>) -> usize {
        let before = self.bytes;
        for record in items.into_iter().filter_map(as_stored) {
            self.bytes += size::bytes(&record.key, &record.record);
            self.records.insert(record.key.clone(), record);
        }
        self.bytes - before
    }
}

impl DynamoRecords {
    /// `Query` of a range of keys of one shard, consistent: from the first of the keys at these positions to the last,
    /// as many records as keys and some others, up to 1 MB. Returns the last key that was read, if there may be more.
    async fn query_range(
        &self,
        of: &Dataset,
        shard: u8,
        keys: &[String],
        at: &[usize],
    ) -> PortResult<(Vec<Item>, Option<String>)> {
        let [first, last] = [at.first(), at.last()].map(|i| i.map(|i| keys[*i].clone()).unwrap_or_default());
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("PK = :pk AND SK BETWEEN :first AND :last")
            .expression_attribute_values(":pk", AttributeValue::S(partition(of, shard)))
            .expression_attribute_values(":first", AttributeValue::S(first))
            .expression_attribute_values(":last", AttributeValue::S(last))
            .limit(i32::try_from(at.len() + OTHERS).unwrap_or(i32::MAX))
            .consistent_read(true);
        let output = query.send().await.map_err(unanswered("read records"))?;
        Ok((output.items.unwrap_or_default(), output.last_evaluated_key.and_then(key)))
    }

    /// `GetItem`, consistent.
    async fn get(&self, of: &Dataset, key: &str) -> PortResult<Option<Item>> {
        let partition = partition(of, shard_of(key));
        let call = self.client.get_item().table_name(&self.table).consistent_read(true);
        let call = call.key("PK", AttributeValue::S(partition)).key("SK", AttributeValue::S(key.to_owned()));
        Ok(call.send().await.map_err(unanswered("read a record"))?.item)
    }
}
