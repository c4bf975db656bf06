//! A proxy in front of an emulator that loses replies, and refuses or throttles calls, by rules.
//!
//! On a stack that other tests use at the same time, a test only adds rules, and never replaces them. Each rule matches
//! the requests of its own job by their content.

use anyhow::{Context, Result, ensure};
use local_cloud::process::{Process, agent, free_port};
use longshore_domain::ids::JobId;
use serde_json::{Value, json};

/// Folder with the Python module that is loaded when the proxy starts.
const SITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/harness/proxy");

/// A running proxy. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Faults {
    /// Base URL of the proxy, without a trailing slash.
    pub endpoint: String,
    process: Process,
}

impl Faults {
    /// Starts a proxy without rules in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If it does not start. The error contains its output.
    pub fn start(upstream: &str) -> Result<Self> {
        let port = free_port()?.to_string();
        let endpoint = format!("http://127.0.0.1:{port}");
        let arguments = ["-u", upstream, "-p", &port, "--no-resign"];
        let ready = format!("{endpoint}/_microburst/rules");
        let variables = [("AWS_EC2_METADATA_DISABLED", "true"), ("PYTHONPATH", SITE)];
        let process = Process::start("microburst", &arguments, variables, &ready)?;
        Ok(Self { endpoint, process })
    }

    /// The proxy's process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Replaces all rules.
    ///
    /// # Errors
    /// If the proxy refuses them.
    pub fn set(&self, rules: &[Value]) -> Result<()> {
        let answer = agent().post(format!("{}/_microburst/rules", self.endpoint)).send_json(rules)?;
        ensure!(answer.status().is_success(), "the fault proxy refused its rules: {}", answer.status());
        Ok(())
    }

    /// Adds a rule: the next `times` calls of this operation are executed, and their replies are lost.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn lose_replies(&self, service: &str, operation: &str, times: u32) -> Result<()> {
        let lost = json!({ "abort_bytes": 0 });
        self.set(&[json!({ "service": service, "operation": operation, "times": times, "response": lost })])
    }

    /// Adds a rule: the next `times` calls of this operation are refused with this code.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn refuse(&self, service: &str, operation: &str, times: u32, code: &str) -> Result<()> {
        let error = json!({ "code": code });
        self.set(&[json!({ "service": service, "operation": operation, "times": times, "error": error })])
    }
}

/// An active rule.
#[derive(Debug)]
pub struct Rule<'a> {
    faults: &'a Faults,
    id: u64,
}

impl Rule<'_> {
    /// Number of calls that the rule has matched.
    ///
    /// # Errors
    /// If the proxy does not answer.
    pub fn fired(&self) -> Result<u64> {
        let rules: Value =
            agent().get(format!("{}/_microburst/rules", self.faults.endpoint)).call()?.body_mut().read_json()?;
        let mut rules = rules.as_array().into_iter().flatten();
        let own = rules.find(|rule| rule["id"] == self.id).context("the proxy does not have the rule any more")?;
        own["fired_count"].as_u64().with_context(|| format!("the rule has no count: {own}"))
    }
}

impl Faults {
    /// Number of calls that the active rules have matched.
    ///
    /// # Errors
    /// If the proxy does not answer.
    pub fn fired(&self) -> Result<u64> {
        let rules: Value =
            agent().get(format!("{}/_microburst/rules", self.endpoint)).call()?.body_mut().read_json()?;
        Ok(rules.as_array().into_iter().flatten().filter_map(|rule| rule["fired_count"].as_u64()).sum())
    }

    /// Adds a rule to the active ones.
    ///
    /// # Errors
    /// If the proxy refuses it.
    pub fn add(&self, rule: &Value) -> Result<Rule<'_>> {
        let mut answer = agent().patch(format!("{}/_microburst/rules", self.endpoint)).send_json([rule])?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success(), "the fault proxy refused {rule}: {text}");
        let rules: Value = serde_json::from_str(&text)?;
        let id = rules[0]["id"].as_u64().with_context(|| format!("the new rule has no id: {text}"))?;
        Ok(Rule { faults: self, id })
    }

    /// Adds a rule: the next `times` commits of this job's chunks are executed, and their replies are lost.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn lose_commit_replies(&self, job: JobId, times: u32) -> Result<Rule<'_>> {
        let body = format!("Key.PK.S == 'JOB#{job}' && starts_with(Key.SK.S, 'GROUP#')");
        self.add(&json!({
            "service": "dynamodb", "operation": "UpdateItem", "body": body, "times": times,
            "response": { "abort_bytes": 0 },
        }))
    }

    /// Adds a rule for the next batch of chunk messages whose rows contain `marker`. `effect` has the rule's members.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn on_chunks_with(&self, marker: &str, effect: &Value) -> Result<Rule<'_>> {
        let mut rule = json!({
            "service": "sqs", "operation": "SendMessageBatch", "times": 1,
            "body": format!("contains(Entries[0].MessageBody, '{marker}')"),
        });
        if let (Some(rule), Some(effect)) = (rule.as_object_mut(), effect.as_object()) {
            rule.extend(effect.clone());
        }
        self.add(&rule)
    }
}
