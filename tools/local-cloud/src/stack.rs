//! A stack on an emulator, and the tools that deploy it.

use crate::cloud::Cloud;
use crate::project::Project;
use crate::tools::Tools;
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};

pub use crate::cloud::{Credentials, SignedIn};

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
    /// If the client cannot be created.
    pub fn cloud(&self) -> Result<Cloud> {
        Cloud::new(self.endpoint)
    }

    /// Returns the command of a tool that calls this emulator only. The shell's AWS account is ignored.
    pub fn command(&self, program: &str) -> Command {
        self.tools.command_for(self.endpoint, program)
    }
}

/// A deployment of a folder with `sam deploy`.
pub struct Deployment<'a> {
    /// The folder with template.yaml and samconfig.toml.
    pub folder: &'a Path,
    /// Name of the stack.
    pub stack: &'a str,
    /// Parameters as `NAME=VALUE`, separated by spaces; `None` for those of samconfig.toml.
    pub parameters: Option<String>,
}

impl Deployment<'_> {
    /// Returns the command that deploys to an emulator.
    pub fn command(&self, tools: &Tools, endpoint: &str) -> Command {
        let mut sam = tools.command_for(endpoint, "sam");
        sam.current_dir(self.folder)
            .args(["deploy", "--config-env", "local", "--stack-name", self.stack])
            // Without this option, SAM would prefer the output of an earlier `sam build`.
            .args(["--template-file", "template.yaml", "--no-confirm-changeset", "--no-fail-on-empty-changeset"])
            .env("__SAM_CLI_APP_DIR", self.folder.join("sam"))
            .stdin(Stdio::null());
        if let Some(parameters) = &self.parameters {
            // Replaces all parameters of samconfig.toml.
            sam.args(["--parameter-overrides", parameters]);
        }
        sam
    }
}
