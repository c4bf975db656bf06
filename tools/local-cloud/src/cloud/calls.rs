//! Calls to services without their SDK, because the calls are few.
//!
//! The emulator does not check signatures. It reads only the access key; `test` is the root user of the account.

use super::Cloud;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Maximum size of a response.
const RESPONSE_LIMIT: u64 = 1 << 30;

impl Cloud {
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

    /// Returns the events of a log group since a time in milliseconds.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn logs_since(&self, group: &str, from_ms: u64) -> Result<Vec<String>> {
        let (mut events, mut request) = (Vec::new(), json!({ "logGroupName": group, "startTime": from_ms }));
        loop {
            let page = self.json("logs", "Logs_20140328.FilterLogEvents", &request)?;
            let messages = page["events"].as_array().into_iter().flatten();
            events.extend(messages.filter_map(|event| event["message"].as_str().map(str::to_owned)));
            match page["nextToken"].as_str() {
                Some(token) => request["nextToken"] = token.into(),
                None => return Ok(events),
            }
        }
    }

    /// Returns all events of a log group.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn logs(&self, group: &str) -> Result<Vec<String>> {
        self.logs_since(group, 0)
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
