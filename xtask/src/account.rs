//! Queries to a deployed stack by `infra/local/stack.py`: on AWS with the shell's credentials, or on an emulator.

use crate::project::Project;
use crate::stack::{Credentials, Description, SignedIn, Stack};
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// The account that holds the stacks.
pub(crate) struct Account<'a> {
    /// The checkout whose scripts are run.
    pub(crate) project: &'a Project,
    /// The tools that run the scripts.
    pub(crate) tools: &'a Tools,
    /// URL of an emulator; `None` for AWS, or the `AWS_ENDPOINT_URL` of the shell.
    pub(crate) emulator: Option<&'a str>,
}

/// An account's quota and a stack's deployed parameters; each is the error if it could not be read.
#[derive(Deserialize)]
pub(crate) struct SessionState {
    /// Quota of concurrent executions of all functions.
    pub(crate) quota: Result<u64, String>,
    /// Parameters of the stack; `None` if there is no such stack.
    pub(crate) parameters: Result<Option<BTreeMap<String, String>>, String>,
}

impl Account<'_> {
    /// Reads the account's quota and the parameters of a stack.
    pub(crate) fn session_state(&self, stack: &str) -> Result<SessionState> {
        self.ask(&["account", stack], &[])
    }

    /// Reads the outputs and functions of a stack.
    pub(crate) fn describe(&self, stack: &str) -> Result<Description> {
        self.ask(&["describe", stack], &[])
    }

    /// Creates a user in a pool and signs the user in.
    pub(crate) fn sign_in(&self, pool: &str, client: &str, user: Credentials) -> Result<SignedIn> {
        let users: Vec<SignedIn> = self.ask(&["sign-in", pool, client], &serde_json::to_vec(&[user])?)?;
        users.into_iter().next().context("nobody is signed in")
    }

    /// Builds the command for a script of `infra/local`, run by the tools' Python.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut command = match self.emulator {
            Some(endpoint) => Stack { project: self.project, tools: self.tools, endpoint }.command("python"),
            None => Command::new(self.tools.program("python")),
        };
        command.arg(self.project.infra(name)).env("PYTHONUTF8", "1");
        command
    }

    /// Runs stack.py and parses its answer. The answer may contain passwords and tokens, so errors do not include it.
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
