//! Region, credentials and endpoint of AWS calls, and a runtime that waits for them.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider, SharedHttpClient, retry::RetryConfig};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};
use tokio::runtime::Runtime;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to an AWS account or to an emulator.
pub struct Session {
    runtime: Runtime,
    config: SdkConfig,
}

impl Session {
    /// Connects to the emulator at `endpoint`, or to the shell's AWS account.
    ///
    /// # Errors
    /// If no region is set.
    pub fn open(endpoint: Option<&str>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let config = match endpoint {
            Some(url) => emulator(url)?,
            None => runtime.block_on(account())?,
        };
        Ok(Self { runtime, config })
    }

    /// The configuration that clients are built from.
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    /// Waits for a call.
    pub fn block_on<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }
}

/// Returns the configuration of the emulator at `endpoint`. The shell's AWS account is ignored.
pub fn emulator(endpoint: &str) -> Result<SdkConfig> {
    let credentials = Credentials::new("test", "test", None, None, "emulator");
    Ok(SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::standard())
        .http_client(http_client(ProxyConfig::disabled(), TrustStore::default())?)
        .build())
}

/// Returns the configuration of the shell's AWS account, by the standard chain: environment, profile, container,
/// instance. Respects `AWS_ENDPOINT_URL`, `AWS_CA_BUNDLE` and the proxy variables.
///
/// # Errors
/// If no region is set, or the two variables for it differ: the AWS SDKs for Rust and Python would use different ones,
/// and SAM deploys with the latter.
pub async fn account() -> Result<SdkConfig> {
    let [region, default] =
        ["AWS_REGION", "AWS_DEFAULT_REGION"].map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    if let (Some(region), Some(default)) = (region, default)
        && region != default
    {
        bail!(
            "AWS_REGION is {region}, but AWS_DEFAULT_REGION is {default}: set both to the stack's region, or only one"
        );
    }
    let loader = aws_config::defaults(BehaviorVersion::latest()).retry_config(RetryConfig::standard());
    let config = loader.http_client(http_client(ProxyConfig::from_env(), trust_store()?)?).load().await;
    config.region().context("no region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names")?;
    Ok(config)
}

/// Returns the system's certificates and those of the file `AWS_CA_BUNDLE`, as the other tools of AWS do.
fn trust_store() -> Result<TrustStore> {
    let Some(path) = std::env::var_os("AWS_CA_BUNDLE").filter(|path| !path.is_empty()) else {
        return Ok(TrustStore::default());
    };
    let pem = fs::read(&path).with_context(|| format!("cannot read AWS_CA_BUNDLE, {}", path.display()))?;
    Ok(TrustStore::default().with_pem_certificate(pem))
}

/// Builds an HTTP client that trusts these certificates.
fn http_client(proxy: ProxyConfig, certificates: TrustStore) -> Result<SharedHttpClient> {
    let tls = TlsContext::builder().with_trust_store(certificates).build()?;
    let timeouts = HttpConnectorSettings::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build();
    let connector = Connector::builder()
        .proxy_config(proxy)
        .connector_settings(timeouts)
        .tls_provider(Provider::rustls(CryptoMode::Ring))
        .tls_context(tls)
        .build();
    let connector = SharedHttpConnector::new(connector);
    Ok(http_client_fn(move |_, _| connector.clone()))
}
