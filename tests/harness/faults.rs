//! A proxy in front of an emulator that loses replies, refuses or throttles, by rule.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::process::{Process, agent, free_port};

/// What the proxy's Python loads when it starts.
const SITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/harness/proxy");

/// A running proxy; it is killed when this is dropped.
#[derive(Debug)]
pub struct Faults {
    /// Where it answers, without a slash at the end.
    pub endpoint: String,
    process: Process,
}

impl Faults {
    /// A proxy without rules in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If it does not start; its output is in the error.
    pub fn start(upstream: &str) -> Result<Self> {
        let port = free_port()?.to_string();
        let endpoint = format!("http://127.0.0.1:{port}");
        let arguments = ["-u", upstream, "-p", &port, "--no-resign"];
        let ready = format!("{endpoint}/_microburst/rules");
        let variables = [("AWS_EC2_METADATA_DISABLED", "true"), ("PYTHONPATH", SITE)];
        let process = Process::start("microburst", &arguments, variables, &ready)?;
        Ok(Self { endpoint, process })
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The rules from now on, in place of all others.
    ///
    /// # Errors
    /// If the proxy refuses them.
    pub fn set(&self, rules: &[Value]) -> Result<()> {
        let answer = agent().post(format!("{}/_microburst/rules", self.endpoint)).send_json(rules)?;
        ensure!(answer.status().is_success(), "the fault proxy refused its rules: {}", answer.status());
        Ok(())
    }

    /// The next `times` calls of this operation are executed, and their replies are lost.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn lose_replies(&self, service: &str, operation: &str, times: u32) -> Result<()> {
        let lost = json!({ "abort_bytes": 0 });
        self.set(&[json!({ "service": service, "operation": operation, "times": times, "response": lost })])
    }

    /// The next `times` calls of this operation are refused with this code.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn refuse(&self, service: &str, operation: &str, times: u32, code: &str) -> Result<()> {
        let error = json!({ "code": code });
        self.set(&[json!({ "service": service, "operation": operation, "times": times, "error": error })])
    }
}
