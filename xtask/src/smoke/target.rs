//! The tested stack: the location of its API, and the user who calls it.

use super::Options;
use crate::account::Account;
use crate::project::Project;
use crate::stack::Credentials;
use crate::tools::Tools;
use crate::users;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::process::Command;

/// Environment variable of an existing token.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// A deployed stack.
pub(super) struct Target<'a> {
    project: &'a Project,
    tools: &'a Tools,
    emulator: Option<String>,
    /// Outputs of the stack.
    pub(super) outputs: BTreeMap<String, String>,
    /// Root URL of the API.
    pub(super) api_url: String,
    /// Display name.
    pub(super) place: String,
    token: Option<String>,
}

impl<'a> Target<'a> {
    /// Looks up the stack.
    pub(super) fn find(project: &'a Project, tools: &'a Tools, options: &Options) -> Result<Self> {
        let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
        if options.local {
            let state = users::signed_in(project, tools)?;
            let token = token.or_else(|| state.token().map(str::to_owned));
            let place = format!("the local stack at {}", state.api_url);
            let emulator = Some(state.emulator_url);
            return Ok(Self { project, tools, emulator, outputs: state.outputs, api_url: state.api_url, place, token });
        }
        let emulator = options.endpoint.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        let account = Account { project, tools, emulator: emulator.as_deref() };
        let described = account.describe(&options.stack).context("the stack cannot be looked up")?;
        let at = emulator.as_deref().map_or("on AWS".to_owned(), |url| format!("at {url}"));
        let place = format!("the stack {} {at}", options.stack);
        let status = described.status.with_context(|| format!("{place} does not exist"))?;
        let is_usable = matches!(status.as_str(), "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE");
        ensure!(is_usable, "{place} is not usable: {status}");
        let outputs = described.outputs;
        let output = |name: &str| outputs.get(name).cloned().with_context(|| format!("{place} has no output {name}"));
        let api_url = match &emulator {
            // An emulator's host names do not resolve here.
            Some(endpoint) => format!("{endpoint}/_aws/execute-api/{}/$default", output("ApiId")?),
            None => output("ApiUrl")?,
        };
        Ok(Self { project, tools, emulator, outputs, api_url, place, token })
    }

    /// Returns true if a user must be created: the API needs a token, none is given, and the stack has its own user
    /// pool.
    pub(super) fn needs_user(&self) -> bool {
        self.token.is_none() && self.outputs.contains_key("UserPoolId")
    }

    /// Returns the token for the API; `None` if it is open.
    pub(super) fn sign_in(&mut self, user: Option<&str>) -> Result<Option<String>> {
        let access = self.outputs.get("Access").map_or("cognito", String::as_str);
        let Some(user) = user else {
            ensure!(self.token.is_some() || access == "open", "set {TOKEN}: with Access={access} users are another's");
            return Ok(self.token.clone());
        };
        let output = |name: &str| self.outputs.get(name).with_context(|| format!("the stack has no output {name}"));
        let credentials = Credentials { name: user.to_owned(), password: String::new(), groups: Vec::new() };
        let signed_in = self.account().sign_in(output("UserPoolId")?, output("UserPoolClientId")?, credentials)?;
        // Custom attributes, such as custom:tenant, are in ID tokens only.
        let by_sub = self.outputs.get("TenantClaim").is_none_or(|claim| claim == "sub");
        Ok(Some(if by_sub { signed_in.access_token } else { signed_in.id_token }))
    }

    /// The script that removes the test data.
    pub(super) fn cleanup(&self) -> Command {
        self.account().script("cleanup.py")
    }

    fn account(&self) -> Account<'_> {
        Account { project: self.project, tools: self.tools, emulator: self.emulator.as_deref() }
    }
}
