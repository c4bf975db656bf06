//! Builds the AWS clients: region, credentials and endpoint from the environment, as Lambda sets them.
//!
//! Uses only the environment part of `aws-config`, never its chain of profiles and metadata services: on Lambda the
//! keys are in the environment, and the chain costs binary size and start-up time.
//! All clients share one HTTP client and its trust store: only Amazon's own roots.

use std::time::Duration;

use aws_config::environment::{EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider};
use aws_config::meta::region::ProvideRegion;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, ProvideCredentials, Region};
use aws_sdk_dynamodb::config::{SharedCredentialsProvider, SharedHttpClient};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector};
use aws_types::SdkConfig;
use longshore_domain::dead_letter::Queue;
use longshore_domain::job::{ChunkQueue, Priority};
use longshore_domain::ports::StackQueue;

use super::calls::CountCalls;
use super::{ConfigError, names, text};
use crate::files::S3Files;
use crate::queues::{QueueUrls, SqsDeadLetters, SqsQueueCounts, SqsQueues};
use crate::store::dynamo::{DynamoOperatorLog, DynamoStore};
use crate::store::records::DynamoRecords;

/// Attempts of one call, including the first: enough to survive a second of throttling.
const ATTEMPTS: u32 = 6;

/// Scale of the first wait between attempts. The SDK's default of one second is too long for a conflict of two
/// writers.
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);

/// Maximum wait between attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Maximum time of one attempt until its response begins: otherwise a connection that died silently would hold an
/// invocation until its end. Enough for a part of a report on a slow network.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);

/// The roots of Amazon Trust Services, <https://www.amazontrust.com/repository/>.
const AMAZON_ROOTS: &[u8] = include_bytes!("amazon_roots.pem");

/// The shared configuration of all clients, and the adapters that are built from it.
#[derive(Clone, Debug)]
pub struct Aws {
    shared: SdkConfig,
    endpoint: Option<String>,
}

impl Aws {
    /// Reads `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` and, for an emulator,
    /// `AWS_ENDPOINT_URL`.
    ///
    /// # Errors
    /// If region or keys are missing.
    pub async fn from_env() -> Result<Self, ConfigError> {
        let region = EnvironmentVariableRegionProvider::new().region().await;
        let region = region.ok_or(ConfigError::Missing("AWS_REGION"))?;
        let credentials = EnvironmentVariableCredentialsProvider::new().provide_credentials().await;
        let credentials =
            credentials.map_err(|_| ConfigError::Missing("AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY"))?;
        Ok(Self::new(region, credentials, text("AWS_ENDPOINT_URL").ok()))
    }

    /// Creates the configuration from values: for tests, and for programs that get their credentials elsewhere.
    pub fn new(region: Region, credentials: Credentials, endpoint: Option<String>) -> Self {
        let trust_store = trust_store(region.as_ref(), endpoint.as_deref());
        let retries = RetryConfig::standard()
            .with_max_attempts(ATTEMPTS)
            .with_initial_backoff(INITIAL_BACKOFF)
            .with_max_backoff(MAX_BACKOFF);
        let mut builder = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(region)
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .http_client(http_client(trust_store))
            .retry_config(retries)
            .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT_TIMEOUT).build());
        builder.set_endpoint_url(endpoint.clone());
        Self { shared: builder.build(), endpoint }
    }

    /// Returns the configuration for the clients of services that a single function uses. Such a function links their
    /// SDKs itself, so that no other function does; its clients count their calls with [`CountCalls`].
    pub const fn config(&self) -> &SdkConfig {
        &self.shared
    }

    /// Returns the configuration with connections of its own, none of which is open.
    pub fn with_new_connections(&self) -> SdkConfig {
        let region = self.shared.region().map_or("", Region::as_ref);
        let trust_store = trust_store(region, self.endpoint.as_deref());
        self.shared.to_builder().http_client(http_client(trust_store)).build()
    }

    /// Returns an HTTP client for calls of services without an SDK, with these limits of time.
    ///
    /// # Errors
    /// If the trust store is damaged.
    pub fn connector(&self, timeouts: HttpConnectorSettings) -> Result<SharedHttpConnector, ConfigError> {
        let region = self.shared.region().map_or("", Region::as_ref);
        let tls = TlsContext::builder().with_trust_store(trust_store(region, self.endpoint.as_deref())).build();
        let tls = tls.map_err(|_| ConfigError::Invalid { name: "AWS_REGION", expected: "a region" })?;
        let connector = Connector::builder().connector_settings(timeouts);
        let connector = connector.tls_provider(Provider::rustls(CryptoMode::Ring)).tls_context(tls).build();
        Ok(SharedHttpConnector::new(connector))
    }

    /// Creates a DynamoDB client.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::config::Builder::from(&self.shared);
        let config = config.interceptor(CountCalls).build();
        aws_sdk_dynamodb::Client::from_conf(config)
    }

    /// Creates an SQS client.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let config = aws_sdk_sqs::config::Builder::from(&self.shared).interceptor(CountCalls).build();
        aws_sdk_sqs::Client::from_conf(config)
    }

    /// Creates an S3 client. Checksums only on request: the signature already covers each body, and a presigned URL
    /// must not require one that a browser cannot compute.
    pub fn s3(&self) -> aws_sdk_s3::Client {
        use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
        let config = aws_sdk_s3::config::Builder::from(&self.shared)
            .interceptor(CountCalls)
            .force_path_style(self.endpoint.is_some())
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .build();
        aws_sdk_s3::Client::from_conf(config)
    }

    /// Creates the ledger on the table that `LONGSHORE_JOBS_TABLE` names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn store(&self) -> Result<DynamoStore, ConfigError> {
        Ok(DynamoStore::new(self.dynamodb(), text(names::JOBS_TABLE)?))
    }

    /// Creates the records on the table that `LONGSHORE_RECORDS_TABLE` names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn records(&self) -> Result<DynamoRecords, ConfigError> {
        Ok(DynamoRecords::new(self.dynamodb(), text(names::RECORDS_TABLE)?))
    }

    /// Creates the operators' log on the table that `LONGSHORE_OPERATOR_LOG_TABLE` names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn operator_log(&self) -> Result<DynamoOperatorLog, ConfigError> {
        Ok(DynamoOperatorLog::new(self.dynamodb(), text(names::OPERATOR_LOG_TABLE)?))
    }

    /// Creates the counts of the queues.
    ///
    /// # Errors
    /// If the URL of one is not set.
    pub fn queue_counts(&self) -> Result<SqsQueueCounts, ConfigError> {
        let urls: Result<_, _> = StackQueue::ALL.into_iter().map(|queue| Ok((queue, text(url_of(queue))?))).collect();
        Ok(SqsQueueCounts::new(self.sqs(), urls?))
    }

    /// Creates the queues whose URLs are set. Sending to another queue is an error.
    pub fn queues(&self) -> SqsQueues {
        SqsQueues::new(self.sqs(), queue_urls())
    }

    /// Creates the dead-letter queues.
    ///
    /// # Errors
    /// If one of their URLs is not set.
    pub fn dead_letters(&self) -> Result<SqsDeadLetters, ConfigError> {
        let urls = [
            (Queue::Create, text(names::CREATE_DLQ)?),
            (Queue::Chunk, text(names::CHUNK_DLQ)?),
            (Queue::Complete, text(names::COMPLETE_DLQ)?),
        ];
        Ok(SqsDeadLetters::new(self.sqs(), urls.into()))
    }

    /// Creates the files in the bucket that `LONGSHORE_BUCKET` names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn files(&self) -> Result<S3Files, ConfigError> {
        Ok(S3Files::new(self.s3(), text(names::BUCKET)?))
    }
}

/// Returns the name of the variable with the URL of a queue.
const fn url_of(queue: StackQueue) -> &'static str {
    match queue {
        StackQueue::Create => names::CREATE_QUEUE,
        StackQueue::Prepare => names::PREPARE_QUEUE,
        StackQueue::ChunkHigh => names::HIGH_CHUNK_QUEUE,
        StackQueue::ChunkNormal => names::CHUNK_QUEUE,
        StackQueue::ChunkLow => names::LOW_CHUNK_QUEUE,
        StackQueue::ChunkHandler => names::HANDLER_CHUNK_QUEUE,
        StackQueue::Complete => names::COMPLETE_QUEUE,
        StackQueue::Webhook => names::WEBHOOK_QUEUE,
        StackQueue::CreateDeadLetters => names::CREATE_DLQ,
        StackQueue::ChunkDeadLetters => names::CHUNK_DLQ,
        StackQueue::CompleteDeadLetters => names::COMPLETE_DLQ,
        StackQueue::WebhookDeadLetters => names::WEBHOOK_DLQ,
    }
}

/// Returns the queue URLs that are set.
fn queue_urls() -> QueueUrls {
    let url = |name| text(name).ok();
    let variable = |queue| match queue {
        ChunkQueue::Priority(Priority::High) => names::HIGH_CHUNK_QUEUE,
        ChunkQueue::Priority(Priority::Normal) => names::CHUNK_QUEUE,
        ChunkQueue::Priority(Priority::Low) => names::LOW_CHUNK_QUEUE,
        ChunkQueue::Handler => names::HANDLER_CHUNK_QUEUE,
    };
    let chunks = ChunkQueue::ALL.into_iter().filter_map(|queue| Some((queue, url(variable(queue))?)));
    QueueUrls {
        create: url(names::CREATE_QUEUE),
        prepare: url(names::PREPARE_QUEUE),
        chunks: chunks.collect(),
        complete: url(names::COMPLETE_QUEUE),
        webhooks: url(names::WEBHOOK_QUEUE),
    }
}

/// Returns the trust store of a client. Reading the system's hundred and more roots takes several milliseconds of
/// every cold start, and AWS needs five. For any other endpoint, and for China with its other roots, the system's
/// store is used.
fn trust_store(region: &str, endpoint: Option<&str>) -> TrustStore {
    match endpoint {
        Some(url) if url.starts_with("http://") => TrustStore::empty(),
        None if !region.starts_with("cn-") => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        _ => TrustStore::default(),
    }
}

fn http_client(trust_store: TrustStore) -> SharedHttpClient {
    let builder = Builder::new().tls_provider(Provider::rustls(CryptoMode::Ring));
    match TlsContext::builder().with_trust_store(trust_store).build() {
        Ok(context) => builder.tls_context(context).build_https(),
        Err(_) => builder.build_https(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_accepts_amazons_five_root_certificates() {
        let pem = std::str::from_utf8(AMAZON_ROOTS).unwrap();
        assert_eq!(pem.matches("-----BEGIN CERTIFICATE-----").count(), 5);
        let credentials = Credentials::new("key", "secret", None, None, "test");
        // Reading the certificates panics if one is damaged.
        drop(Aws::new(Region::from_static("eu-central-1"), credentials, None).dynamodb());
    }
}
