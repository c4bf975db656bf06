//! Questions to the deployed stack, asked with boto3 by `infra/local/stack.py`: an AWS SDK of our own would cost
//! xtask minutes of building, and it is what a fresh clone builds first.

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

/// The stack's name in samconfig.toml.
pub(crate) const NAME: &str = "longshore";

/// A stack on an emulator.
pub(crate) struct Stack<'a> {
    /// Whose `infra/local/stack.py` asks.
    pub(crate) project: &'a Project,
    /// With what it is run.
    pub(crate) tools: &'a Tools,
    /// The emulator.
    pub(crate) endpoint: &'a str,
}

/// What is deployed.
#[derive(Deserialize)]
pub(crate) struct Description {
    /// CloudFormation's word; none if there is no such stack.
    pub(crate) status: Option<String>,
    /// Outputs by name.
    pub(crate) outputs: BTreeMap<String, String>,
    /// Names of the functions by template id.
    pub(crate) functions: BTreeMap<String, String>,
}

/// How a deployed function is configured.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionConfig {
    /// Its environment variables as in the template, references resolved.
    pub(crate) environment: BTreeMap<String, String>,
    /// Its memory, which it is billed by.
    pub(crate) memory_mb: u32,
}

/// By what a user signs in.
#[derive(Serialize)]
pub(crate) struct Credentials {
    /// Name in the pool.
    pub(crate) name: String,
    /// Empty if it is not known: then the user gets a new one.
    pub(crate) password: String,
    /// Groups of the pool to be in.
    pub(crate) groups: Vec<String>,
}

/// A user who has signed in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignedIn {
    /// Name in the pool.
    pub(crate) name: String,
    /// The password that worked.
    pub(crate) password: String,
    /// The pool's own id of the user.
    pub(crate) sub: String,
    /// An hour's token for the API.
    pub(crate) access_token: String,
    /// The same, with the user's attributes in it.
    pub(crate) id_token: String,
}

impl Stack<'_> {
    /// Outputs and functions.
    pub(crate) fn describe(&self) -> Result<Description> {
        self.ask(&["describe".as_ref(), NAME.as_ref()])
    }

    /// The events that tell why a deployment failed; empty when there are none, or none can be had.
    pub(crate) fn failures(&self) -> String {
        self.run(&["events".as_ref(), NAME.as_ref()]).unwrap_or_default()
    }

    /// Replaces the code of a function.
    pub(crate) fn update_code(&self, function: &str, bootstrap: &Path) -> Result<()> {
        self.run(&["update-code".as_ref(), function.as_ref(), bootstrap.as_os_str()])?;
        Ok(())
    }

    /// Environment of a function.
    pub(crate) fn config(&self, function: &str) -> Result<FunctionConfig> {
        self.ask(&["config".as_ref(), function.as_ref()])
    }

    /// The API's routes, `POST /api/jobs` or `$default`, each with the name of its function.
    pub(crate) fn routes(&self, api: &str) -> Result<BTreeMap<String, String>> {
        self.ask(&["routes".as_ref(), api.as_ref()])
    }

    /// Users of a pool, made if they are not there, each signed in through a client of the pool.
    pub(crate) fn sign_in(&self, pool: &str, client: &str, users: &[Credentials]) -> Result<Vec<SignedIn>> {
        let text = self.run_with(&["sign-in".as_ref(), pool.as_ref(), client.as_ref()], &serde_json::to_vec(users)?)?;
        // Not repeated: it holds passwords.
        serde_json::from_str(&text).context("cannot read stack.py's answer")
    }

    /// Lets the sign-in page of a client return to `url`, and to no other address.
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

    /// A tool that talks to this emulator and, whatever the shell is logged in to, to nothing else.
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
