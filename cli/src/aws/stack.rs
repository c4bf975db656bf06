//! A deployed stack: the session with its AWS account (region, credentials and endpoint of the calls, and a runtime
//! that waits for them), and its status, outputs, functions, parameters. Also the account's quota of concurrent
//! executions.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_cloudformation::Client;
use aws_sdk_cloudformation::error::ProvideErrorMetadata;
use aws_sdk_cloudformation::types::{Stack, StackStatus};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider, SharedHttpClient, retry::RetryConfig};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};
use tokio::runtime::Runtime;

use super::failed;

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
fn emulator(endpoint: &str) -> Result<SdkConfig> {
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
async fn account() -> Result<SdkConfig> {
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

/// A deployed stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Status of CloudFormation; `None` if the stack does not exist.
    pub status: Option<String>,
    /// Outputs by name.
    pub outputs: BTreeMap<String, String>,
    /// Physical names of the functions by template id.
    pub functions: BTreeMap<String, String>,
}

/// Reads status, outputs and functions of a stack.
///
/// # Errors
/// If a call fails. A missing stack is not an error.
pub async fn describe(config: &SdkConfig, name: &str) -> Result<Description> {
    let client = Client::new(config);
    let Some(stack) = find(&client, name).await? else { return Ok(Description::default()) };
    let outputs = stack.outputs().iter().filter_map(|output| pair(output.output_key(), output.output_value()));
    let mut functions = BTreeMap::new();
    let mut pages = client.list_stack_resources().stack_name(name).into_paginator().items().send();
    while let Some(resource) = pages.next().await.transpose().map_err(failed)? {
        if resource.resource_type() == Some("AWS::Lambda::Function") {
            functions.extend(pair(resource.logical_resource_id(), resource.physical_resource_id()));
        }
    }
    let status = stack.stack_status().map(|status| status.as_str().to_owned());
    Ok(Description { status, outputs: outputs.collect(), functions })
}

/// Reads the parameters of a stack. Returns `None` if it is not deployed. As in SAM, a stack that has only a change set
/// is not deployed.
///
/// # Errors
/// If the call fails.
pub async fn parameters(config: &SdkConfig, name: &str) -> Result<Option<BTreeMap<String, String>>> {
    let stack = find(&Client::new(config), name).await?;
    let deployed = stack.filter(|stack| stack.stack_status() != Some(&StackStatus::ReviewInProgress));
    Ok(deployed.map(|stack| {
        let parameters = stack.parameters().iter();
        parameters.filter_map(|parameter| pair(parameter.parameter_key(), parameter.parameter_value())).collect()
    }))
}

/// Reads the account's quota of concurrent executions.
///
/// # Errors
/// If the call fails.
pub async fn concurrent_executions(config: &SdkConfig) -> Result<u64> {
    let settings = aws_sdk_lambda::Client::new(config).get_account_settings().send().await.map_err(failed)?;
    let limit = settings.account_limit().context("the account's settings have no limits")?;
    Ok(limit.concurrent_executions().try_into()?)
}

async fn find(client: &Client, name: &str) -> Result<Option<Stack>> {
    match client.describe_stacks().stack_name(name).send().await {
        Ok(output) => Ok(output.stacks.unwrap_or_default().into_iter().next()),
        Err(error) if is_absent(error.code(), error.message()) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Returns true if the error means that the stack does not exist, and not, for example, that the credentials expired.
fn is_absent(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ValidationError") && message.is_some_and(|message| message.contains("does not exist"))
}

fn pair(name: Option<&str>, value: Option<&str>) -> Option<(String, String)> {
    Some((name?.to_owned(), value?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::is_absent;

    #[test]
    fn only_the_error_of_a_missing_stack_means_absent() {
        let rows = [
            ("ValidationError", "Stack with id s does not exist", true),
            ("ExpiredToken", "The security token included in the request is expired", false),
            ("AccessDenied", "User u is not authorized: the role r does not exist", false),
            ("ValidationError", "1 validation error detected: Value '' at 'stackName'", false),
            ("Throttling", "Rate exceeded", false),
        ];
        for (code, message, expected) in rows {
            assert_eq!(is_absent(Some(code), Some(message)), expected, "{code}: {message}");
        }
    }
}
