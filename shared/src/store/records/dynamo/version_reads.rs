//! Reads versions of records in several calls, in the order of their keys, until enough are held.
//!
//! A call returns up to 16 MB, and leaves keys unprocessed if its response is full or a partition has no capacity: any
//! of its keys, not the last ones
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>). A read ends at the first
//! key that stays unprocessed, and waits only for the first key of all.

use std::collections::{HashMap, HashSet};
use std::future::Future;

use futures::future::try_join_all;
use longshore_domain::ports::{Busy, KnownVersions, PortResult};

use super::list::Item;
use super::versions::{as_version, failed};
use crate::aws_limits::dynamodb::BATCH_GET_KEYS;
use crate::back_off::{BackOff, Sleep};
use crate::store::records::VersionCollector;

/// Maximum number of calls at once. The first one is alone. Each response can take 16 MB.
const AT_ONCE: usize = 2;

/// The calls that read versions.
pub(super) trait GetCalls: Sync {
    /// One consistent `BatchGetItem` of up to 100 keys.
    fn get(&self, keys: &[String]) -> impl Future<Output = PortResult<Found>> + Send;

    /// Returns the function that waits.
    fn sleep(&self) -> Sleep;
}

/// The response to one call.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The records that exist, by key.
    pub(super) items: HashMap<String, Item>,
    /// The keys that were not read.
    pub(super) unprocessed: HashSet<String>,
}

impl Found {
    /// Adds the versions of these keys, in their order. Returns false at the first one that was not read, or for which
    /// there is no room.
    fn add_to(mut self, collector: &mut VersionCollector, keys: &[String]) -> bool {
        keys.iter().all(|key| {
            let is_read = !self.unprocessed.contains(key);
            is_read && collector.push(self.items.remove(key).and_then(as_version))
        })
    }

    /// Adds the response to a call for some of the keys.
    fn merge(&mut self, asked: &[String], next: Self) {
        self.items.extend(next.items);
        self.unprocessed.retain(|key| !asked.contains(key) || next.unprocessed.contains(key));
    }
}

/// Reads the versions of the first keys, at least of one.
pub(super) async fn read(calls: &impl GetCalls, keys: &[String]) -> PortResult<KnownVersions> {
    let mut collector = VersionCollector::default();
    let mut next = keys.chunks(BATCH_GET_KEYS);
    let Some(first) = next.next() else { return Ok(collector.finish()) };
    let mut is_complete = get_first(calls, first).await?.add_to(&mut collector, first);
    while is_complete && next.len() > 0 {
        let asked: Vec<_> = next.by_ref().take(AT_ONCE).collect();
        let found = try_join_all(asked.iter().map(|keys| calls.get(keys))).await?;
        is_complete = asked.iter().zip(found).all(|(keys, found)| found.add_to(&mut collector, keys));
    }
    Ok(collector.finish())
}

/// Makes one call. Asks again for the first of the keys that were left over: once, so that a full response, which has any
/// of the keys, does not end the read after a few; and until the first key was read.
async fn get_first(calls: &impl GetCalls, keys: &[String]) -> PortResult<Found> {
    let (mut found, mut back_off) = (calls.get(keys).await?, BackOff::new(calls.sleep()));
    // A full response has twice as much as is held.
    let wanted = if found.items.is_empty() { keys } else { &keys[..found.items.len().div_ceil(2)] };
    let mut is_due = !found.items.is_empty();
    let mut is_repeated = false;
    loop {
        let asked: Vec<_> = wanted.iter().filter(|key| found.unprocessed.contains(*key)).cloned().collect();
        if asked.is_empty() || (is_repeated && !found.unprocessed.contains(&keys[0])) {
            return Ok(found);
        }
        // After a response that is not empty, the next call is due at once.
        if !is_due && !back_off.wait().await {
            return Err(failed(Box::new(Busy("no capacity for some keys".into()))));
        }
        let next = calls.get(&asked).await?;
        (is_due, is_repeated) = (!next.items.is_empty(), true);
        found.merge(&asked, next);
    }
}

#[cfg(test)]
#[path = "version_reads_tests.rs"]
mod tests;
