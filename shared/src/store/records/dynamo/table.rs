//! The records table of a process: its client, and what the process has learned.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;

use super::write_rate::WriteRate;
use longshore_domain::dataset::Dataset;

/// Attempts of the SDK for one call. Few and close together: a failed write is retried in a later round, half a
/// minute later, and meanwhile other items can be processed.
const ATTEMPTS: u32 = 3;
/// Scale of the SDK's first wait between them, and its maximum.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(400)];
/// Maximum time of one call with all its attempts, far more than any successful call takes.
const CALL_TIME: Duration = Duration::from_secs(20);

/// Records in DynamoDB.
#[derive(Debug)]
pub struct DynamoRecords {
    pub(super) client: Client,
    pub(super) table: String,
    /// True if most keys of the last batch already existed: the next one then begins with `UPDATE`, so that importing
    /// the same file again costs one statement a row instead of two. Only a hint: a wrong one is harmless.
    pub(super) mostly_present: AtomicBool,
    pub(super) datasets: KnownDatasets,
    pub(super) write_rate: WriteRate,
    /// Start of time measurement.
    pub(super) started: Instant,
}

impl DynamoRecords {
    /// Creates a store on this table.
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
            datasets: KnownDatasets::default(),
            write_rate: WriteRate::default(),
            started: Instant::now(),
        }
    }
}

/// Datasets that this process has already put. A process sees few; a forgotten one is put again.
#[derive(Debug, Default)]
pub(super) struct KnownDatasets(Mutex<BTreeSet<Dataset>>);

/// Maximum number of remembered datasets: more than any process writes to between two deployments; bounds its memory.
const MAX_KNOWN: usize = 1_000;

impl KnownDatasets {
    pub(super) fn has(&self, dataset: &Dataset) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(dataset)
    }

    pub(super) fn add(&self, dataset: &Dataset) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(dataset.clone());
    }
}
