//! A proxy in front of an emulator that loses replies, refuses or throttles calls, by rules.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::process::{Process, agent, free_port};

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

    /// Replaces all rules by these.
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
