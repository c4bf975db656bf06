//! A stack on an emulator, and the tools that deploy it.

use crate::cloud::Cloud;
use crate::project::Project;
use crate::tools::Tools;
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};

pub use crate::cloud::{Credentials, Description, SignedIn};

/// Name of the stack in samconfig.toml.
pub const NAME: &str = "longshore";

/// A stack on an emulator.
pub struct Stack<'a> {
    /// The checkout that is deployed.
    pub project: &'a Project,
    /// The tools that deploy it.
    pub tools: &'a Tools,
    /// Endpoint of the emulator.
    pub endpoint: &'a str,
}

impl Stack<'_> {
    /// Creates a client for the stack's emulator.
    ///
    /// # Errors
    /// If the system gives no resources for it.
    pub fn cloud(&self) -> Result<Cloud> {
        Cloud::new(self.endpoint)
    }

    /// Builds a command for a tool that talks to this emulator only, whatever account the shell is signed in to.
    pub fn command(&self, program: &str) -> Command {
        self.tools.command_for(self.endpoint, program)
    }
}

/// A deployment of a folder by `sam deploy`.
pub struct Deployment<'a> {
    /// The folder with template.yaml and samconfig.toml.
    pub folder: &'a Path,
    /// Name of the stack.
    pub stack: &'a str,
    /// Parameters, `NAME=VALUE` by spaces; `None` for those in samconfig.toml.
    pub parameters: Option<String>,
}

impl Deployment<'_> {
    /// The command that deploys to an emulator.
    pub fn command(&self, tools: &Tools, endpoint: &str) -> Command {
        let mut sam = tools.command_for(endpoint, "sam");
        sam.current_dir(self.folder)
            .args(["deploy", "--config-env", "local", "--stack-name", self.stack])
            // Named explicitly, or SAM would prefer the leftover of a `sam build`.
            .args(["--template-file", "template.yaml", "--no-confirm-changeset", "--no-fail-on-empty-changeset"])
            .env("__SAM_CLI_APP_DIR", self.folder.join("sam"))
            .stdin(Stdio::null());
        if let Some(parameters) = &self.parameters {
            // Replaces the whole list of samconfig.toml.
            sam.args(["--parameter-overrides", parameters]);
        }
        sam
    }
}
