//! The few calls of CloudFormation, IAM and Lambda that tests need, without an SDK for each.
//!
//! The emulator does not check signatures. It reads only the access key: `test` is the account itself.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use super::process::agent;

/// Client for one emulator.
#[derive(Clone, Debug)]
pub struct Cloud {
    endpoint: String,
    agent: Agent,
}

impl Cloud {
    /// A client for this emulator.
    pub fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), agent: agent() }
    }

    /// Runs `sam deploy` on the template in `folder`. The stack gets this name, and these parameters instead of those
    /// in `samconfig.toml`.
    ///
    /// # Errors
    /// If it fails. The error contains SAM's output.
    pub fn deploy(&self, folder: &Path, stack: &str, parameters: &[(String, String)]) -> Result<()> {
        let venv = std::env::var_os("LONGSHORE_VENV").context("LONGSHORE_VENV is not set")?;
        let overrides: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let output = Command::new(Path::new(&venv).join("bin/sam"))
            .current_dir(folder)
            .args(["deploy", "--config-env", "local", "--template-file", "template.yaml"])
            .args(["--stack-name", stack, "--no-confirm-changeset", "--parameter-overrides", &overrides.join(" ")])
            .env("__SAM_CLI_APP_DIR", folder.join("sam"))
            .env("SAM_CLI_TELEMETRY", "0")
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::null())
            .output()
            .context("cannot run sam")?;
        if !output.status.success() {
            let mut reported = output.stdout;
            reported.write_all(&output.stderr)?;
            bail!("sam deploy failed:\n{}", String::from_utf8_lossy(&reported));
        }
        Ok(())
    }

    /// The outputs of a stack, by name.
    ///
    /// # Errors
    /// If there is no such stack, or its deployment is not complete.
    pub fn outputs(&self, stack: &str) -> Result<BTreeMap<String, String>> {
        let answer = self.query("cloudformation", &[("Action", "DescribeStacks"), ("StackName", stack)])?;
        ensure!(answer.contains("CREATE_COMPLETE"), "the stack is not complete: {answer}");
        let outputs = answer.split("<OutputKey>").skip(1).filter_map(|output| {
            let (key, rest) = output.split_once("</OutputKey>")?;
            Some((key.to_owned(), element(rest, "OutputValue")?.to_owned()))
        });
        Ok(outputs.collect())
    }

    /// The physical name of a resource of the template.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn physical_id(&self, stack: &str, resource: &str) -> Result<String> {
        let action = [("Action", "DescribeStackResource"), ("StackName", stack), ("LogicalResourceId", resource)];
        let answer = self.query("cloudformation", &action)?;
        element(&answer, "PhysicalResourceId").map(str::to_owned).with_context(|| format!("no {resource}: {answer}"))
    }

    /// Allows a role these actions on all resources.
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

    /// Access key and secret of a new user without any permission.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn powerless_key(&self) -> Result<(String, String)> {
        self.query("iam", &[("Action", "CreateUser"), ("UserName", "powerless")])?;
        let answer = self.query("iam", &[("Action", "CreateAccessKey"), ("UserName", "powerless")])?;
        let part =
            |name: &str| element(&answer, name).map(str::to_owned).with_context(|| format!("no {name}: {answer}"));
        Ok((part("AccessKeyId")?, part("SecretAccessKey")?))
    }

    /// Invokes a function and waits for its response.
    ///
    /// # Errors
    /// If it fails.
    pub fn invoke(&self, function: &str) -> Result<Value> {
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.endpoint);
        let mut answer = self.agent.post(url).header("authorization", named("lambda")).send_json(json!({}))?;
        let failed = answer.headers().contains_key("x-amz-function-error");
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success() && !failed, "{function} failed: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Calls an action of Cognito's user pools.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn user_pools(&self, action: &str, body: &Value) -> Result<Value> {
        self.json("cognito-idp", &format!("AWSCognitoIdentityProviderService.{action}"), body)
    }

    /// Events that have been written to a log group so far.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn logs(&self, group: &str) -> Result<Vec<String>> {
        let (mut events, mut request) = (Vec::new(), json!({ "logGroupName": group }));
        loop {
            let page = self.json("logs", "Logs_20140328.FilterLogEvents", &request)?;
            let reported = page["events"].as_array().into_iter().flatten();
            events.extend(reported.filter_map(|event| event["message"].as_str().map(str::to_owned)));
            match page["nextToken"].as_str() {
                Some(token) => request["nextToken"] = token.into(),
                None => return Ok(events),
            }
        }
    }

    /// A call of a service that speaks JSON.
    fn json(&self, service: &str, target: &str, body: &Value) -> Result<Value> {
        let call = self.agent.post(format!("{}/", self.endpoint)).header("authorization", named(service));
        let call = call.header("x-amz-target", target).content_type("application/x-amz-json-1.1");
        let mut answer = call.send(body.to_string())?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success(), "{target} was refused: {text}");
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// Calls an action of EventBridge on a rule.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn rule(&self, action: &str, name: &str) -> Result<()> {
        let call = self.agent.post(format!("{}/", self.endpoint)).header("authorization", named("events"));
        let call = call.header("x-amz-target", format!("AWSEvents.{action}"));
        let mut answer = call.content_type("application/x-amz-json-1.1").send(json!({ "Name": name }).to_string())?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success(), "events refused {action} of {name}: {text}");
        Ok(())
    }

    /// Submits a form to a page of the emulator. Returns the redirect's location, or otherwise the body.
    ///
    /// # Errors
    /// If there is no response.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}{path}", self.endpoint)).config();
        let call = call.max_redirects(0).max_redirects_will_error(false).build();
        let mut answer = call.send_form(fields.iter().copied())?;
        match answer.headers().get("location") {
            Some(to) => Ok(to.to_str()?.to_owned()),
            None => Ok(answer.body_mut().read_to_string()?),
        }
    }

    fn query(&self, service: &str, parameters: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}/", self.endpoint)).header("authorization", named(service));
        let mut answer = call.send_form(parameters.iter().copied())?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success(), "{service} refused {parameters:?}: {text}");
        Ok(text)
    }
}

fn named(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(value, _)| value)
}
