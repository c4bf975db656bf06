//! Macros that run a test on every implementation of a port.

use std::sync::OnceLock;

use local_cloud::emulator::OwnedEmulator;
use local_cloud::process::Cleanup;
use longshore::config::Aws;
use longshore::files::S3Files;
use longshore::store::dynamo::DynamoStore;
use longshore::store::records::DynamoRecords;
use longshore_domain::ids::JobId;
use longshore_tests::harness::aws_limits::LimitsProxy;
use longshore_tests::harness::setup::{aws, create_bucket, create_jobs_table};

/// Turns each `async fn name(store: impl Store)` into a test on the in-memory store and one on DynamoDB.
macro_rules! on_both_stores {
    ($($name:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(longshore_testing::MemoryStore::default()).await;
            })+
        }
        mod on_dynamodb {
            $(#[tokio::test]
            async fn $name() {
                let local = crate::on_both::Local::start().await;
                super::$name(local.store().await).await;
            })+
        }
    };
}

/// Turns each `async fn name(files: impl Files)` into a test on the in-memory files and one on S3.
macro_rules! on_both_files {
    ($($name:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(longshore_testing::MemoryFiles::default()).await;
            })+
        }
        mod on_s3 {
            $(#[tokio::test]
            async fn $name() {
                let local = crate::on_both::Local::start().await;
                super::$name(local.files().await).await;
            })+
        }
    };
}

/// Turns each `async fn name(records: impl RecordStore)` into a test on the in-memory records and one on DynamoDB.
macro_rules! on_both_records {
    ($($name:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(longshore_testing::MemoryRecords::default()).await;
            })+
        }
        mod on_dynamodb {
            $(#[tokio::test]
            async fn $name() {
                let local = crate::on_both::Local::start().await;
                super::$name(local.records().await).await;
            })+
        }
    };
}

/// An emulator, clients for it through a proxy that refuses what AWS refuses, and a unique name for this test's
/// resources.
pub(crate) struct Local {
    pub(crate) aws: Aws,
    pub(crate) endpoint: String,
    pub(crate) name: String,
    limits: LimitsProxy,
}

impl Local {
    /// Calls that AWS would have refused.
    pub(crate) fn refusals(&self) -> Vec<String> {
        self.limits.refusals()
    }

    /// Uses the emulator that `LONGSHORE_EMULATOR` names, or else one for all tests of this process.
    pub(crate) async fn start() -> Self {
        // Nothing drops a static value at the end of the process.
        static OWN: OnceLock<(OwnedEmulator, Cleanup)> = OnceLock::new();
        let start = || {
            let emulator = OwnedEmulator::start().unwrap();
            let cleanup = Cleanup::new(&[emulator.process()]).unwrap();
            (emulator, cleanup)
        };
        let own = || OWN.get_or_init(start).0.endpoint.clone();
        let endpoint = std::env::var("LONGSHORE_EMULATOR").unwrap_or_else(|_| own());
        let limits = LimitsProxy::start(&endpoint).unwrap();
        let endpoint = limits.endpoint.clone();
        Self { aws: aws(&endpoint), endpoint, limits, name: format!("test-{}", JobId::generate()) }
    }

    pub(crate) async fn store(&self) -> DynamoStore {
        create_jobs_table(&self.aws, &self.name).await.unwrap();
        DynamoStore::new(self.aws.dynamodb(), self.name.clone())
    }

    /// Creates a records table. The jobs table has the same keys, and its index does no harm.
    pub(crate) async fn records(&self) -> DynamoRecords {
        create_jobs_table(&self.aws, &self.name).await.unwrap();
        DynamoRecords::new(self.aws.dynamodb(), &self.name)
    }

    pub(crate) async fn files(&self) -> S3Files {
        create_bucket(&self.aws, &self.name).await.unwrap();
        S3Files::new(self.aws.s3(), self.name.clone())
    }
}
