//! Queries to the deployed stack with boto3, by `infra/local/stack.py`. A Rust AWS SDK would add minutes to xtask's
//! build, the first build of a fresh clone.

use crate::project::Project;
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Name of the stack in samconfig.toml.
pub(crate) const NAME: &str = "longshore";

/// A stack on an emulator.
pub(crate) struct Stack<'a> {
    /// The checkout whose `infra/local/stack.py` is run.
    pub(crate) project: &'a Project,
    /// The tools that run it.
    pub(crate) tools: &'a Tools,
    /// Endpoint of the emulator.
    pub(crate) endpoint: &'a str,
}

/// A deployed stack.
#[derive(Deserialize)]
pub(crate) struct Description {
    /// CloudFormation's status; `None` if there is no such stack.
    pub(crate) status: Option<String>,
    /// Outputs by name.
    pub(crate) outputs: BTreeMap<String, String>,
    /// Physical names of the functions by template id.
    pub(crate) functions: BTreeMap<String, String>,
}

/// Configuration of a deployed function.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionConfig {
    /// Environment variables as in the template, with references resolved.
    pub(crate) environment: BTreeMap<String, String>,
    /// Memory in MB, by which the function is billed.
    pub(crate) memory_mb: u32,
}

/// A user's credentials.
#[derive(Serialize)]
pub(crate) struct Credentials {
    /// User name in the pool.
    pub(crate) name: String,
    /// Password; empty if unknown, in which case a new one is set.
    pub(crate) password: String,
    /// Groups of the pool that the user must be in.
    pub(crate) groups: Vec<String>,
}

/// A signed-in user.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignedIn {
    /// User name in the pool.
    pub(crate) name: String,
    /// The password that was used.
    pub(crate) password: String,
    /// The pool's own id of the user.
    pub(crate) sub: String,
    /// Access token for the API, valid for an hour.
    pub(crate) access_token: String,
    /// ID token for the API, valid for an hour; it also contains the user's attributes.
    pub(crate) id_token: String,
}

impl Stack<'_> {
    /// Reads outputs and functions.
    pub(crate) fn describe(&self) -> Result<Description> {
        self.ask(&["describe".as_ref(), NAME.as_ref()])
    }

    /// The events that explain a failed deployment; empty if there are none or they cannot be read.
    pub(crate) fn failures(&self) -> String {
        self.run(&["events".as_ref(), NAME.as_ref()]).unwrap_or_default()
    }

    /// Replaces the code of a function.
    pub(crate) fn update_code(&self, function: &str, bootstrap: &Path) -> Result<()> {
        self.run(&["update-code".as_ref(), function.as_ref(), bootstrap.as_os_str()])?;
        Ok(())
    }

    /// Configuration of a function.
    pub(crate) fn config(&self, function: &str) -> Result<FunctionConfig> {
        self.ask(&["config".as_ref(), function.as_ref()])
    }

    /// The API's routes, such as `POST /api/jobs` or `$default`, each with the name of its function.
    pub(crate) fn routes(&self, api: &str) -> Result<BTreeMap<String, String>> {
        self.ask(&["routes".as_ref(), api.as_ref()])
    }

    /// Creates missing users of a pool, and signs each in through a client of the pool.
    pub(crate) fn sign_in(&self, pool: &str, client: &str, users: &[Credentials]) -> Result<Vec<SignedIn>> {
        let text = self.run_with(&["sign-in".as_ref(), pool.as_ref(), client.as_ref()], &serde_json::to_vec(users)?)?;
        // The text is not included in the error, because it contains passwords.
        serde_json::from_str(&text).context("cannot read stack.py's answer")
    }

    /// Sets the only URL that the sign-in page of a client may return to.
    pub(crate) fn return_to(&self, pool: &str, client: &str, url: &str) -> Result<()> {
        self.run(&["return-to".as_ref(), pool.as_ref(), client.as_ref(), url.as_ref()])?;
        Ok(())
    }

    fn ask<T: DeserializeOwned>(&self, arguments: &[&OsStr]) -> Result<T> {
        let text = self.run(arguments)?;
        serde_json::from_str(&text).with_context(|| format!("cannot read stack.py's answer {text}"))
    }

    fn run(&self, arguments: &[&OsStr]) -> Result<String> {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&OsStr], input: &[u8]) -> Result<String> {
        let mut child = self
            .command("python")
            .arg(self.project.infra("stack.py"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run the tools' Python")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let reported = String::from_utf8_lossy(&output.stderr);
            let last = reported.trim().lines().last().unwrap_or("no message");
            bail!("the emulator refused {}: {last}", arguments.join(OsStr::new(" ")).display());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Builds a command for a tool that talks to this emulator only, whatever account the shell is signed in to.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = self.tools.command(program);
        command
            .env("AWS_ENDPOINT_URL", self.endpoint)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("SAM_CLI_TELEMETRY", "0")
            .env("PYTHONUTF8", "1");
        command
    }
}
