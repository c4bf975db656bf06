//! The records table: `PK` = dataset and shard, `SK` = key, `data`, `writer`, `updatedAt`, and `expiresAt` if
//! somebody sets it.
//!
//! A write is an `INSERT`; where the key is taken, an `UPDATE` with the rule as its condition. Both go out in
//! batches of PartiQL, because `BatchWriteItem` knows no conditions (infra/decisions/0004-records-partiql.md).

mod batch;
mod list;
mod statement;

use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_dynamodb::Client;
use futures::StreamExt;
use longshore_domain::ports::Page;
use longshore_domain::time_stamp::Timestamp;

use self::batch::Batch;
use self::statement::Step;
use super::{Dataset, ListError, NewRecord, RecordStore, Rule, StoredRecord, Written};

/// Calls in flight at once. Enough to hide a call's 10 ms; more would only queue up in one Lambda's CPU share.
const CALLS: usize = 8;

/// Records in DynamoDB.
#[derive(Debug)]
pub struct DynamoRecords {
    client: Client,
    table: String,
    /// Whether most keys of the last batch were there already: then the next one begins with `UPDATE`, so that
    /// importing the same file again costs one statement a row and not two. Only a hint, wrong at no harm.
    mostly_present: AtomicBool,
}

impl DynamoRecords {
    /// Records in this table.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into(), mostly_present: AtomicBool::new(false) }
    }

    /// An insert always begins with `INSERT`: a key that is taken should be the exception there.
    fn first_step(&self, rule: Rule) -> Step {
        let update = rule == Rule::Upsert && self.mostly_present.load(Ordering::Relaxed);
        if update { Step::Update } else { Step::Insert }
    }
}

impl RecordStore for DynamoRecords {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let count = records.len();
        let batches = Batch::split(into, rule, records, self.first_step(rule), Timestamp::now());
        let done: Vec<_> =
            futures::stream::iter(batches).map(|batch| batch.run(self)).buffer_unordered(CALLS).collect().await;
        let mut written = vec![Written::Unknown(String::from("not written")); count];
        let mut present = 0;
        for done in done.into_iter().flatten() {
            present += usize::from(done.was_present);
            written[done.index] = done.written;
        }
        self.mostly_present.store(present * 2 > count, Ordering::Relaxed);
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        list::page(self, from, limit, cursor).await
    }
}
