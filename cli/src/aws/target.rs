//! The options that name a deployed stack, and its look-up.

use anyhow::{Context, Result, ensure};

use super::inventory::{Inventory, inventory};
use super::session::Session;
use crate::local_stack::LocalStack;

/// Options that name a deployed stack.
#[derive(clap::Args)]
pub struct TargetOptions {
    /// Name of the stack, in the region and the account of the shell
    #[arg(long, value_name = "NAME", default_value = "longshore", conflicts_with = "local")]
    pub stack: String,
    /// URL of an AWS emulator that has the stack
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub endpoint: Option<String>,
    /// Use the local stack that `cargo xtask up` started in the current folder or a parent folder
    #[arg(long)]
    pub local: bool,
}

/// A deployed stack.
pub struct Target {
    /// Session with its account or emulator.
    pub session: Session,
    /// Name.
    pub name: String,
    /// URL of an emulator, without a slash at the end; `None` for the account of the shell.
    pub endpoint: Option<String>,
    /// The stack as CloudFormation describes it.
    pub inventory: Inventory,
    /// The local stack, if it is one.
    pub local: Option<LocalStack>,
}

impl TargetOptions {
    /// Looks up the stack.
    ///
    /// # Errors
    /// If there is no such stack, or it cannot be read.
    pub fn look_up(&self) -> Result<Target> {
        let local = if self.local { Some(local_stack()?) } else { None };
        let endpoint = local.as_ref().map(|stack| &stack.emulator_url).or(self.endpoint.as_ref());
        let endpoint = endpoint.map(|url| url.trim_end_matches('/').to_owned());
        let name = self.stack.clone();
        let session = Session::open(endpoint.as_deref())?;
        let found = session.block_on(inventory(session.config(), &name));
        let found = found.with_context(|| format!("cannot look up the stack {name}"))?;
        let description = describe(&name, endpoint.as_deref());
        let inventory = found.with_context(|| format!("{description} does not exist"))?;
        ensure!(inventory.is_deployed(), "{description} has only a change set: deploy it");
        Ok(Target { session, name, endpoint, inventory, local })
    }
}

impl Target {
    /// Returns a description for messages, such as "the stack longshore on AWS".
    pub fn description(&self) -> String {
        match &self.local {
            Some(stack) => format!("the local stack at {}", stack.api_url),
            None => describe(&self.name, self.endpoint.as_deref()),
        }
    }

    /// Returns the URL under which this machine reaches the API; `None` if the stack has no output with it.
    pub fn api_url(&self) -> Option<String> {
        let output = |name: &str| self.inventory.outputs.get(name);
        match (&self.local, &self.endpoint) {
            (Some(stack), _) => Some(stack.api_url.clone()),
            // The host names of an emulator do not resolve.
            (None, Some(endpoint)) => Some(format!("{endpoint}/_aws/execute-api/{}/$default", output("ApiId")?)),
            (None, None) => output("ApiUrl").cloned(),
        }
    }
}

fn local_stack() -> Result<LocalStack> {
    LocalStack::find(&std::env::current_dir()?)?
        .context("no local stack in this folder or a parent folder: start one with `cargo xtask up`")
}

fn describe(name: &str, endpoint: Option<&str>) -> String {
    format!("the stack {name} {}", endpoint.map_or("on AWS".to_owned(), |url| format!("at {url}")))
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<TargetOptions, clap::Error> {
        let command = TargetOptions::augment_args(Command::new("command"));
        TargetOptions::from_arg_matches(&command.try_get_matches_from([&["command"], arguments].concat())?)
    }

    #[test]
    fn local_and_stack_exclude_each_other() -> Result<(), clap::Error> {
        assert!(parse(&["--local"])?.local);
        assert_eq!(parse(&["--stack", "other"])?.stack, "other");
        for other in ["--stack", "--endpoint"] {
            let conflict = parse(&["--local", other, "other"]).map(drop).map_err(|error| error.kind());
            assert_eq!(conflict, Err(ErrorKind::ArgumentConflict), "{other}");
        }
        Ok(())
    }
}
