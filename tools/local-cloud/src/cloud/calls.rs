//! Calls of services that are too rare here for an SDK.
//!
//! The emulator does not check signatures. It reads only the access key: `test` is the account itself.

use super::Cloud;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Maximum size of a response.
const ANSWER_LIMIT: u64 = 1 << 30;

impl Cloud {
    /// A call of a service that speaks JSON: `target` is its version and operation.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn json(&self, service: &str, target: &str, body: &Value) -> Result<Value> {
        let call = self.agent.post(format!("{}/", self.endpoint())).header("authorization", named(service));
        let call = call.header("x-amz-target", target).content_type("application/x-amz-json-1.1");
        let mut answer = call.send(body.to_string()).with_context(|| format!("{target} got no answer"))?;
        let text = answer.body_mut().with_config().limit(ANSWER_LIMIT).read_to_string()?;
        ensure!(answer.status().is_success(), "{target} was refused: {text}");
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// Events that have been written to a log group since a time in milliseconds.
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

    /// Events that have been written to a log group so far.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn logs(&self, group: &str) -> Result<Vec<String>> {
        self.logs_since(group, 0)
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

    /// Submits a form to a page of the emulator. Returns the redirect's location, or otherwise the body.
    ///
    /// # Errors
    /// If there is no response.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}{path}", self.endpoint()));
        let mut answer = call.send_form(fields.iter().copied())?;
        match answer.headers().get("location") {
            Some(to) => Ok(to.to_str()?.to_owned()),
            None => Ok(answer.body_mut().read_to_string()?),
        }
    }

    fn query(&self, service: &str, parameters: &[(&str, &str)]) -> Result<String> {
        let call = self.agent.post(format!("{}/", self.endpoint())).header("authorization", named(service));
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
