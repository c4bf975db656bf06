//! The records table: `PK` = dataset and shard, `SK` = key, `data`, `writer`, `updatedAt`, and `expiresAt` if
//! somebody sets it. Beside them an item for each dataset, by which they are listed.
//!
//! A write is an `INSERT`; where the key is taken, an `UPDATE` with the rule as its condition. Both go out in
//! batches of PartiQL, because `BatchWriteItem` knows no conditions (docs/decisions/0004-records-partiql.md).

mod batch;
mod datasets;
mod list;
mod statement;
mod write_rate;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::BatchStatementResponse;
use longshore_domain::ports::{Page, PortResult};

use self::batch::{Batch, CallError, Calls, Way};
use self::statement::{Pending, Step};
use self::write_rate::WriteRate;
use super::{Dataset, KnownDataset, ListError, NewRecord, RecordStore, Rule, StoredRecord, Written};
use crate::telemetry;

/// The SDK's attempts at one call. Few and close together: what does not get through goes round again with its item,
/// half a minute later, and meanwhile others can be worked.
const ATTEMPTS: u32 = 3;
/// Scale of the SDK's first wait between them, and the longest.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(400)];
/// The most that one call may take with all its attempts, far above what any takes that will succeed.
const CALL_TIME: Duration = Duration::from_secs(20);

/// Records in DynamoDB.
#[derive(Debug)]
pub struct DynamoRecords {
    client: Client,
    table: String,
    /// Whether most keys of the last batch were there already: then the next one begins with `UPDATE`, so that
    /// importing the same file again costs one statement a row and not two. Only a hint, wrong at no harm.
    mostly_present: AtomicBool,
    noted: datasets::Noted,
    write_rate: WriteRate,
    /// What time is counted from.
    began: Instant,
}

impl DynamoRecords {
    /// Records in this table.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let retries = RetryConfig::standard()
            .with_max_attempts(ATTEMPTS)
            .with_initial_backoff(BACKOFF[0])
            .with_max_backoff(BACKOFF[1]);
        let timeouts = TimeoutConfig::builder().operation_timeout(CALL_TIME).build();
        let config = client.config().to_builder().retry_config(retries).timeout_config(timeouts).build();
        let client = Client::from_conf(config);
        Self {
            client,
            table: table.into(),
            mostly_present: AtomicBool::new(false),
            noted: datasets::Noted::default(),
            write_rate: WriteRate::default(),
            began: Instant::now(),
        }
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
        if let Err(error) = datasets::note(self, into).await {
            return vec![error.into(); count];
        }
        let done =
            Batch::new(self, &self.write_rate, Way { into, rule, first: self.first_step(rule) }, records).run().await;
        let mut written = vec![Written::Untried; count];
        let mut present = 0;
        for done in done {
            present += usize::from(done.was_present);
            written[done.index] = done.written;
        }
        self.mostly_present.store(present * 2 > count, Ordering::Relaxed);
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        list::page(self, from, limit, cursor).await
    }

    async fn datasets(&self, tenant: &str, limit: usize, after: Option<&str>) -> PortResult<Page<KnownDataset>> {
        datasets::page(self, tenant, limit, after).await
    }
}

impl Calls for DynamoRecords {
    /// `BatchExecuteStatement`. The SDK has tried a few times before this fails.
    async fn execute(&self, rule: Rule, open: &[Pending]) -> Result<Vec<BatchStatementResponse>, CallError> {
        let statements: Result<Vec<_>, _> = open.iter().map(|p| p.statement(&self.table, rule)).collect();
        let statements = statements.map_err(|e| CallError::Failed(e.to_string()))?;
        match self.client.batch_execute_statement().set_statements(Some(statements)).send().await {
            Ok(output) => Ok(output.responses.unwrap_or_default()),
            Err(error) => {
                tracing::warn!(error = telemetry::chain(&error), records = open.len(), "writing records failed");
                Err(CallError::from_code(error.code(), String::from("the row may have been written all the same")))
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
