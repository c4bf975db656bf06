//! The client of an emulator: endpoint, credentials, and the runtime that waits for its calls.
//!
//! It calls some services without their SDK, because these calls are few. The emulator does not check signatures. It
//! reads only the access key; `test` is the root user of the account.

use anyhow::{Context, Result, ensure};
use aws_credential_types::Credentials as Keys;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_cloudformation::config::retry::RetryConfig;
use aws_sdk_cloudformation::config::timeout::TimeoutConfig;
use aws_sdk_cloudformation::config::{BehaviorVersion, Region};
use aws_types::SdkConfig;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use ureq::Agent;

/// Timeout of one attempt of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a response.
const RESPONSE_LIMIT: u64 = 1 << 30;

/// A client of an emulator. Its calls block, so async functions must not use it.
#[derive(Clone, Debug)]
pub struct Cloud {
    endpoint: String,
    pub(super) config: SdkConfig,
    runtime: Arc<Runtime>,
    agent: Agent,
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

    /// Calls a service that uses JSON. `target` is its version and operation.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn json(&self, service: &str, target: &str, body: &Value) -> Result<Value> {
        let call = self.agent.post(format!("{}/", self.endpoint())).header("authorization", authorization(service));
        let call = call.header("x-amz-target", target).content_type("application/x-amz-json-1.1");
        let mut response = call.send(body.to_string()).with_context(|| format!("{target}: no response"))?;
        let text = response.body_mut().with_config().limit(RESPONSE_LIMIT).read_to_string()?;
        ensure!(response.status().is_success(), "{target} was refused: {text}");
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// Allows a role to call these actions on all resources.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn allow(&self, role: &str, actions: &[&str]) -> Result<()> {
        let statement = json!({ "Effect": "Allow", "Action": actions, "Resource": "*" });
        let policy = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
        let call =
            [("Action", "PutRolePolicy"), ("RoleName", role), ("PolicyName", "tests"), ("PolicyDocument", &policy)];
        self.query("iam", &call).map(|_| ())
    }

    /// Creates a user without permissions. Returns its access key and secret.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn powerless_key(&self) -> Result<(String, String)> {
        self.query("iam", &[("Action", "CreateUser"), ("UserName", "powerless")])?;
        let response = self.query("iam", &[("Action", "CreateAccessKey"), ("UserName", "powerless")])?;
        let field =
            |name: &str| element(&response, name).map(str::to_owned).with_context(|| format!("no {name}: {response}"));
        Ok((field("AccessKeyId")?, field("SecretAccessKey")?))
    }

    /// Submits a form to a page of the emulator. Returns the location of the redirect, or the body if there is none.
    ///
    /// # Errors
    /// If there is no response.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}{path}", self.endpoint()));
        let mut response = call.send_form(fields.iter().copied())?;
        match response.headers().get("location") {
            Some(location) => Ok(location.to_str()?.to_owned()),
            None => Ok(response.body_mut().read_to_string()?),
        }
    }

    fn query(&self, service: &str, parameters: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}/", self.endpoint())).header("authorization", authorization(service));
        let mut response = call.send_form(parameters.iter().copied())?;
        let text = response.body_mut().read_to_string()?;
        ensure!(response.status().is_success(), "{service} refused {parameters:?}: {text}");
        Ok(text)
    }
}

fn authorization(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, tail) = text.split_once(&format!("<{name}>"))?;
    tail.split_once(&format!("</{name}>")).map(|(value, _)| value)
}
