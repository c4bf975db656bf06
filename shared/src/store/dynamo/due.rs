//! The index `due`: items that the sweeper acts on at a time. Its partition key has the kind of the items and one of 16
//! partitions, because one partition takes 1,000 write units a second; its sort key is the time.

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::try_join_all;
use longshore_domain::ports::PortResult;
use longshore_domain::timestamp::Timestamp;

use super::DynamoStore;
use super::item::{Item, ItemError, read_number, text, time};
use super::retry::unanswered;

/// The index, and its partition key.
pub(super) const DUE: &str = "due";

/// Its sort key.
pub(super) const DUE_AT: &str = "dueAt";

const PARTITIONS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// Kind of items in the index.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum DueKind {
    /// Deliveries of events.
    Deliveries,
    /// Jobs that start later.
    Jobs,
    /// Schedules with a next time.
    Schedules,
}

impl DueKind {
    /// Returns the partition of an item. `random` is a random hexadecimal digit of its id.
    pub(super) fn partition(self, random: Option<char>) -> AttributeValue {
        let kind = match self {
            Self::Deliveries => "deliveries",
            Self::Jobs => "jobs",
            Self::Schedules => "schedules",
        };
        text(format!("{kind}#{}", random.unwrap_or('0')))
    }
}

/// Extent of a read of each partition.
#[derive(Copy, Clone, Debug)]
pub(super) enum Reading {
    /// A page of the longest overdue items.
    Oldest {
        /// Maximum number of items.
        items: usize,
    },
    /// The longest overdue items, and those that became due last, page by page: what one tenant has due for long hides
    /// nothing of the others that has just become due.
    BothEnds,
}

/// Items of a page, if more than one is read: 16 of them are in memory at once.
const PAGE: usize = 1_000;

/// Pages of each end.
const PAGES: usize = 20;

impl DynamoStore {
    /// Reads items that are due before a time, from each partition of the index. `keep` reduces the items
    /// after each page to those that are needed.
    pub(super) async fn due<T>(
        &self,
        (operation, kind): (&'static str, DueKind),
        before: Timestamp,
        reading: Reading,
        key: impl Fn(&Item) -> Result<T, ItemError>,
        keep: impl Fn(Vec<(Timestamp, T)>) -> Vec<(Timestamp, T)>,
    ) -> PortResult<Vec<(Timestamp, T)>> {
        let (key, keep) = (&key, &keep);
        let (page, pages, ends) = match reading {
            Reading::Oldest { items } => (items, 1, [true].as_slice()),
            Reading::BothEnds => (PAGE, PAGES, [true, false].as_slice()),
        };
        let ends = PARTITIONS.iter().flat_map(|partition| ends.iter().map(move |is_forward| (*partition, *is_forward)));
        let reads = ends.map(|(partition, is_forward)| async move {
            let query = self.client.query().table_name(&self.table).index_name(DUE).scan_index_forward(is_forward);
            let mut read_pages = query
                .key_condition_expression("#due = :partition AND #dueAt < :before")
                .expression_attribute_names("#due", DUE)
                .expression_attribute_names("#dueAt", DUE_AT)
                .expression_attribute_values(":partition", kind.partition(Some(partition)))
                .expression_attribute_values(":before", time(before))
                .set_limit(i32::try_from(page).ok())
                .into_paginator()
                .send();
            let mut due = Vec::new();
            for _ in 0..pages {
                let Some(page) = read_pages.try_next().await.map_err(unanswered(operation))? else { break };
                due.extend(page.items().iter().filter_map(|item| readable(operation, read(item, key))));
                due = keep(due);
            }
            Ok(due)
        });
        Ok(keep(try_join_all(reads).await?.into_iter().flatten().collect()))
    }
}

/// Returns the longest overdue items.
pub(super) fn oldest<T: Ord>(mut due: Vec<(Timestamp, T)>, limit: usize) -> Vec<(Timestamp, T)> {
    due.sort_unstable();
    due.truncate(limit);
    due
}

fn read<T>(item: &Item, key: impl Fn(&Item) -> Result<T, ItemError>) -> Result<(Timestamp, T), ItemError> {
    Ok((Timestamp(read_number(item, DUE_AT)?), key(item)?))
}

/// Leaves out an item that another version of this program wrote and this one cannot read.
fn readable<T>(operation: &'static str, read: Result<T, ItemError>) -> Option<T> {
    if let Err(error) = &read {
        tracing::warn!(%error, operation, "cannot read an entry of an index");
    }
    read.ok()
}
