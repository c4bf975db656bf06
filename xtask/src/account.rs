//! Questions to a deployed stack by `infra/local/stack.py`: on AWS with the shell's own rights, or on an emulator.

use crate::project::Project;
use crate::stack::{Credentials, Description, SignedIn, Stack};
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// Where stacks are deployed.
pub(crate) struct Account<'a> {
    /// Whose scripts ask.
    pub(crate) project: &'a Project,
    /// With what they are run.
    pub(crate) tools: &'a Tools,
    /// An emulator; none is AWS, or whatever `AWS_ENDPOINT_URL` of the shell names.
    pub(crate) emulator: Option<&'a str>,
}

/// Quota and deployed parameters of an account; for each of them the error if it could not be read.
#[derive(Deserialize)]
pub(crate) struct SessionState {
    /// Concurrent executions of all functions.
    pub(crate) quota: Result<u64, String>,
    /// Parameters of the stack; `None` if there is no such stack.
    pub(crate) parameters: Result<Option<BTreeMap<String, String>>, String>,
}

impl Account<'_> {
    /// The account's quota, and the parameters of a stack.
    pub(crate) fn session_state(&self, stack: &str) -> Result<SessionState> {
        self.ask(&["account", stack], &[])
    }

    /// Outputs and functions of a stack.
    pub(crate) fn describe(&self, stack: &str) -> Result<Description> {
        self.ask(&["describe", stack], &[])
    }

    /// A user of a pool, made for this, signed in.
    pub(crate) fn sign_in(&self, pool: &str, client: &str, user: Credentials) -> Result<SignedIn> {
        let users: Vec<SignedIn> = self.ask(&["sign-in", pool, client], &serde_json::to_vec(&[user])?)?;
        users.into_iter().next().context("nobody is signed in")
    }

    /// A script of `infra/local`, run by the tools' Python.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut command = match self.emulator {
            Some(endpoint) => Stack { project: self.project, tools: self.tools, endpoint }.command("python"),
            None => Command::new(self.tools.program("python")),
        };
        command.arg(self.project.infra(name)).env("PYTHONUTF8", "1");
        command
    }

    /// The answer may hold passwords and tokens: errors do not repeat it.
    fn ask<T: DeserializeOwned>(&self, arguments: &[&str], input: &[u8]) -> Result<T> {
        let mut command = self.script("stack.py");
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run the tools' Python")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let reported = String::from_utf8_lossy(&output.stderr);
            bail!("{}", reported.trim().lines().last().unwrap_or("no message"));
        }
        serde_json::from_slice(&output.stdout).context("cannot read stack.py's answer")
    }
}
