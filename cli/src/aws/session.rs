//! A session with an AWS account: region, credentials and endpoint of the calls, and a runtime that waits for them.
//! Also the account's quota of concurrent executions.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_lambda::types::AccountLimit;
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider, SharedHttpClient, retry::RetryConfig};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};
use deployment::quotas::Quota;
use longshore_signed_json::{JsonClient, Service};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{failed, with_advice};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to an AWS account or to an emulator.
pub struct Session {
    runtime: Runtime,
    config: SdkConfig,
    connector: SharedHttpConnector,
}

impl Session {
    /// Connects to the emulator at `endpoint`, or to the shell's AWS account.
    ///
    /// # Errors
    /// If no region is set.
    pub fn open(endpoint: Option<&str>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connector = match endpoint {
            Some(_) => connector(ProxyConfig::disabled(), TrustStore::default())?,
            None => connector(ProxyConfig::from_env(), trust_store()?)?,
        };
        let config = match endpoint {
            Some(url) => emulator(url, &connector),
            None => runtime.block_on(account(&connector))?,
        };
        Ok(Self { runtime, config, connector })
    }

    /// The configuration that clients are built from.
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    /// The client of services without an SDK.
    pub fn json(&self) -> JsonClient {
        JsonClient { config: self.config.clone(), connector: self.connector.clone() }
    }

    /// Calls an operation of a service without an SDK. The operation only reads.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn read_json(&self, service: &Service, operation: &str, body: &Value) -> Result<Value> {
        let answer = self.json().read(service, operation, body).await;
        answer.map_err(|error| anyhow!(with_advice(error.to_string())))
    }

    /// Waits for a call.
    pub fn block_on<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }
}

/// Returns the configuration of the emulator at `endpoint`. The shell's AWS account is ignored.
fn emulator(endpoint: &str, connector: &SharedHttpConnector) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "emulator");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::standard())
        .http_client(http_client(connector))
        .build()
}

/// Returns the configuration of the shell's AWS account, by the standard chain: environment, profile, container,
/// instance. Respects `AWS_ENDPOINT_URL`, `AWS_CA_BUNDLE` and the proxy variables.
///
/// # Errors
/// If no region is set, or the two variables for it differ: the AWS SDKs for Rust and Python would use different ones,
/// and SAM deploys with the latter.
async fn account(connector: &SharedHttpConnector) -> Result<SdkConfig> {
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
    let config = loader.http_client(http_client(connector)).load().await;
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

/// Returns the HTTP client of the SDKs. All of them share its connections.
fn http_client(connector: &SharedHttpConnector) -> SharedHttpClient {
    let connector = connector.clone();
    http_client_fn(move |_, _| connector.clone())
}

/// Builds an HTTP client that trusts these certificates.
fn connector(proxy: ProxyConfig, certificates: TrustStore) -> Result<SharedHttpConnector> {
    let tls = TlsContext::builder().with_trust_store(certificates).build()?;
    let timeouts = HttpConnectorSettings::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build();
    let connector = Connector::builder()
        .proxy_config(proxy)
        .connector_settings(timeouts)
        .tls_provider(Provider::rustls(CryptoMode::Ring))
        .tls_context(tls)
        .build();
    Ok(SharedHttpConnector::new(connector))
}

/// Reads the account's quota of concurrent executions, and the part that no function has reserved.
///
/// # Errors
/// If the call fails.
pub async fn concurrent_executions(config: &SdkConfig) -> Result<Quota> {
    let settings = aws_sdk_lambda::Client::new(config).get_account_settings().send().await.map_err(failed)?;
    read_quota(settings.account_limit().context("the account's settings have no limits")?)
}

/// Returns the quota. An emulator can lack what is not reserved.
fn read_quota(limit: &AccountLimit) -> Result<Quota> {
    let total: u64 = limit.concurrent_executions().try_into()?;
    match limit.unreserved_concurrent_executions() {
        Some(unreserved) => Ok(Quota { total, unreserved: unreserved.try_into()? }),
        None => Ok(Quota::without_reservations(total)),
    }
}

#[cfg(test)]
mod tests {
    use longshore_signed_json::CLOUDWATCH;

    use super::*;

    #[test]
    fn what_functions_have_reserved_is_no_part_of_the_quota() -> Result<()> {
        let limit = AccountLimit::builder().concurrent_executions(1_000);
        assert_eq!(read_quota(&limit.clone().build())?, Quota::without_reservations(1_000));
        let quota = read_quota(&limit.unreserved_concurrent_executions(300).build())?;
        assert_eq!(quota, Quota { total: 1_000, unreserved: 300 });
        Ok(())
    }

    #[test]
    fn a_call_without_a_response_is_tried_again() -> Result<()> {
        use std::io::{Read, Write};

        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = std::thread::spawn(move || -> std::io::Result<()> {
            drop(listener.accept()?);
            let (mut connection, _) = listener.accept()?;
            let (mut request, mut part) = (Vec::new(), [0; 1024]);
            while !request.ends_with(b"null") {
                let length = connection.read(&mut part)?;
                request.extend_from_slice(&part[..length]);
            }
            connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        });
        let session = Session::open(Some(&url))?;
        let answer = session.block_on(session.read_json(&CLOUDWATCH, "DescribeAlarms", &Value::Null))?;
        assert_eq!(answer, serde_json::json!({}));
        server.join().map_err(|_| anyhow!("the server panicked"))??;
        Ok(())
    }
}
