//! The client of an emulator: endpoint, credentials, and the runtime that waits for its calls.

use anyhow::{Context, Result};
use aws_credential_types::Credentials as Keys;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_cloudformation::config::retry::RetryConfig;
use aws_sdk_cloudformation::config::timeout::TimeoutConfig;
use aws_sdk_cloudformation::config::{BehaviorVersion, Region};
use aws_types::SdkConfig;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use ureq::Agent;

/// Timeout of one attempt of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A client of an emulator. Its calls block, so async functions must not use it.
#[derive(Clone, Debug)]
pub struct Cloud {
    endpoint: String,
    pub(super) config: SdkConfig,
    runtime: Arc<Runtime>,
    pub(super) agent: Agent,
}

impl Cloud {
    /// Creates a client of the emulator at this endpoint, with the credentials of the root user.
    ///
    /// # Errors
    /// If the runtime cannot be started.
    pub fn new(endpoint: &str) -> Result<Self> {
        let keys = Keys::new("test", "test", None, None, "local-cloud");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(keys))
            // Without TLS, because its setup takes longer than the calls.
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .retry_config(RetryConfig::standard().with_max_attempts(2))
            .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(CALL_TIMEOUT).build())
            .endpoint_url(endpoint)
            .build();
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?;
        let (runtime, agent) = (Arc::new(runtime), crate::process::agent());
        Ok(Self { endpoint: endpoint.to_owned(), config, runtime, agent })
    }

    /// Returns the endpoint of the emulator.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(super) fn block_on<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }
}
