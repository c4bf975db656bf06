//! The port on the records table.

use std::sync::atomic::Ordering;
use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{AttributeValue, BatchStatementResponse};
use longshore_domain::ports::{Page, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::batch::{Batch, CallError, Calls};
use super::statement::{Pending, Step};
use super::table::DynamoRecords;
use super::{datasets, list};
use crate::metering;
use crate::store::dynamo::unanswered;
use crate::store::records::{shard, size};
use crate::telemetry;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{DatasetInfo, ListError, NewRecord, RecordStore, StoredRecord};
use longshore_domain::writer::{Rule, Written};

impl DynamoRecords {
    /// Returns the first statement. An insert always begins with `INSERT`, because existing keys should be the
    /// exception there.
    fn first_step(&self, rule: Rule) -> Step {
        match rule {
            Rule::Update => Step::Update,
            Rule::Delete => Step::Delete,
            Rule::Upsert if self.mostly_present.load(Ordering::Relaxed) => Step::Update,
            Rule::Insert | Rule::Upsert => Step::Insert,
        }
    }
}

impl RecordStore for DynamoRecords {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let count = records.len();
        // A rule that creates no record creates no dataset either.
        if rule.creates()
            && let Err(error) = datasets::put(self, into).await
        {
            return vec![error.into(); count];
        }
        let (first, now) = (self.first_step(rule), Timestamp::now());
        let numbered = records.iter().enumerate();
        let pending = numbered.map(|(index, record)| Pending::new(into, index, record, first, now)).collect();
        let done = Batch::new(self, &self.write_rate, rule, pending).run().await;
        let mut written = vec![Written::Untried; count];
        let mut present = 0;
        for done in done {
            present += usize::from(done.was_present);
            written[done.index] = done.written;
        }
        if rule.creates() {
            self.mostly_present.store(present * 2 > count, Ordering::Relaxed);
        }
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        list::page(self, from, limit, cursor).await
    }

    /// `DeleteItem` without a condition. Idempotent.
    async fn delete(&self, from: &Dataset, key: &str) -> PortResult<()> {
        let partition = shard::partition(from, shard::shard_of(key));
        let call = self.client.delete_item().table_name(&self.table);
        let call = call.key("PK", AttributeValue::S(partition)).key("SK", AttributeValue::S(key.to_owned()));
        call.send().await.map(drop).map_err(unanswered("delete a record"))
    }

    async fn datasets(&self, tenant: &TenantId, limit: usize, after: Option<&str>) -> PortResult<Page<DatasetInfo>> {
        datasets::page(self, tenant, limit, after).await
    }

    async fn find_dataset(&self, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
        datasets::find(self, dataset).await
    }
}

impl Calls for DynamoRecords {
    /// `BatchExecuteStatement`. The SDK has tried a few times before this fails.
    async fn execute(&self, rule: Rule, open: &[Pending]) -> Result<Vec<BatchStatementResponse>, CallError> {
        let statements: Result<Vec<_>, _> = open.iter().map(|p| p.statement(&self.table, rule)).collect();
        let statements = statements.map_err(|e| CallError::Failed(e.to_string()))?;
        metering::add_written(open.iter().map(|record| size::billed(record.bytes)));
        match self.client.batch_execute_statement().set_statements(Some(statements)).send().await {
            Ok(output) => Ok(output.responses.unwrap_or_default()),
            Err(error) => {
                tracing::warn!(error = telemetry::chain(&error), records = open.len(), "cannot write records");
                Err(CallError::from_code(error.code(), String::from("the row may have been written nevertheless")))
            }
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
