//! Region, credentials and endpoint of the calls, and a runtime that waits for them.

use std::time::Duration;

use anyhow::{Context, Result};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider, SharedHttpClient, retry::RetryConfig};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};
use tokio::runtime::Runtime;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// An account of AWS, or an emulator.
pub struct Session {
    runtime: Runtime,
    config: SdkConfig,
}

impl Session {
    /// Opens the emulator at `endpoint`, or the shell's account.
    ///
    /// # Errors
    /// If there is no region.
    pub fn open(endpoint: Option<&str>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let config = match endpoint {
            Some(url) => emulator(url),
            None => runtime.block_on(account())?,
        };
        Ok(Self { runtime, config })
    }

    /// The configuration that clients are built from.
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    /// Waits for the end of a call.
    pub fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }
}

/// Configures the emulator at `endpoint`, whatever account the shell is signed in to.
pub fn emulator(endpoint: &str) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "emulator");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::standard())
        .http_client(http_client(ProxyConfig::disabled()))
        .build()
}

/// Configures the account of the shell by the standard chain: environment, profile, container, instance.
/// `AWS_ENDPOINT_URL` and the variables of a proxy are respected.
///
/// # Errors
/// If there is no region.
pub async fn account() -> Result<SdkConfig> {
    let loader = aws_config::defaults(BehaviorVersion::latest()).retry_config(RetryConfig::standard());
    let config = loader.http_client(http_client(ProxyConfig::from_env())).load().await;
    config.region().context("no region: set AWS_REGION, or the region of the profile that AWS_PROFILE names")?;
    Ok(config)
}

/// Builds a client with the system's trust store.
fn http_client(proxy: ProxyConfig) -> SharedHttpClient {
    let timeouts = HttpConnectorSettings::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build();
    let connector = Connector::builder()
        .proxy_config(proxy)
        .connector_settings(timeouts)
        .tls_provider(Provider::rustls(CryptoMode::Ring))
        .build();
    let connector = SharedHttpConnector::new(connector);
    http_client_fn(move |_, _| connector.clone())
}
