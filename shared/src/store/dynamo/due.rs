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
}

impl DueKind {
    /// Returns the partition of an item. `random` is a random hexadecimal digit of its id.
    pub(super) fn partition(self, random: Option<char>) -> AttributeValue {
        let kind = match self {
            Self::Deliveries => "deliveries",
            Self::Jobs => "jobs",
        };
        text(format!("{kind}#{}", random.unwrap_or('0')))
    }
}

/// How much of each partition is read.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reading {
    /// Maximum number of items of a page.
    pub(super) page: usize,
    /// Maximum number of pages.
    pub(super) pages: usize,
}

impl DynamoStore {
    /// Reads items that are due before a time, from each partition of the index, oldest first. `keep` reduces the items
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
        let partitions = PARTITIONS.map(|partition| async move {
            let query = self.client.query().table_name(&self.table).index_name(DUE);
            let mut pages = query
                .key_condition_expression("#due = :partition AND #dueAt < :before")
                .expression_attribute_names("#due", DUE)
                .expression_attribute_names("#dueAt", DUE_AT)
                .expression_attribute_values(":partition", kind.partition(Some(partition)))
                .expression_attribute_values(":before", time(before))
                .set_limit(i32::try_from(reading.page).ok())
                .into_paginator()
                .send();
            let mut due = Vec::new();
            for _ in 0..reading.pages {
                let Some(page) = pages.try_next().await.map_err(unanswered(operation))? else { break };
                due.extend(page.items().iter().filter_map(|item| readable(operation, read(item, key))));
                due = keep(due);
            }
            Ok(due)
        });
        Ok(keep(try_join_all(partitions).await?.into_iter().flatten().collect()))
    }
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
