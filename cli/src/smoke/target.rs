//! The tested stack: the URL of its API, and the user who calls it.

use super::cleanup::Deployment;
use crate::aws::pool::{self, Credentials, Pool};
use crate::aws::session::Session;
use crate::aws::stack;
use crate::local_stack::LocalStack;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// Environment variable of an existing user's token.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// A deployed stack.
pub(super) struct Target {
    /// URL of an emulator; `None` for the account of the shell.
    endpoint: Option<String>,
    outputs: BTreeMap<String, String>,
    /// Root URL of the API.
    pub(super) api_url: String,
    /// Description for messages, such as "the stack longshore on AWS".
    pub(super) description: String,
    token: Option<String>,
}

impl Target {
    /// Finds the local stack of the current folder or of a parent folder.
    pub(super) fn local() -> Result<Self> {
        let stack = LocalStack::find(&std::env::current_dir()?)?;
        let stack =
            stack.context("no local stack in this folder or a parent folder: start one with `cargo xtask up`")?;
        let token = match token_from_environment() {
            Some(token) => Some(token),
            None => stack.first_token()?,
        };
        let description = format!("the local stack at {}", stack.api_url);
        let LocalStack { api_url, emulator_url, outputs, .. } = stack;
        Ok(Self { endpoint: Some(emulator_url), outputs, api_url, description, token })
    }

    /// Looks up a stack, on AWS or on the emulator at `endpoint`.
    pub(super) fn look_up(name: &str, endpoint: Option<&str>) -> Result<Self> {
        let endpoint = endpoint.map(|url| url.trim_end_matches('/').to_owned());
        let session = Session::open(endpoint.as_deref())?;
        let stack = session.block_on(stack::describe(session.config(), name));
        let stack = stack.with_context(|| format!("cannot look up the stack {name}"))?;
        let location = endpoint.as_deref().map_or("on AWS".to_owned(), |url| format!("at {url}"));
        let description = format!("the stack {name} {location}");
        let status = stack.status.with_context(|| format!("{description} does not exist"))?;
        let is_usable = matches!(status.as_str(), "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE");
        ensure!(is_usable, "{description} is not usable: its status is {status}");
        let outputs = stack.outputs;
        let output =
            |name: &str| outputs.get(name).cloned().with_context(|| format!("{description} has no output {name}"));
        let api_url = match &endpoint {
            // The host names of an emulator do not resolve.
            Some(endpoint) => format!("{endpoint}/_aws/execute-api/{}/$default", output("ApiId")?),
            None => output("ApiUrl")?,
        };
        Ok(Self { endpoint, outputs, api_url, description, token: token_from_environment() })
    }

    /// Returns true if the test must create a user: there is no token, and the stack has a user pool.
    pub(super) fn needs_user(&self) -> bool {
        self.token.is_none() && self.outputs.contains_key("UserPoolId")
    }

    /// Returns the token for the API; `None` if it is open.
    pub(super) fn sign_in(&self, user: Option<&str>) -> Result<Option<String>> {
        let access = self.outputs.get("Access").map_or("cognito", String::as_str);
        let Some(user) = user else {
            ensure!(
                self.token.is_some() || access == "open",
                "set {TOKEN}: with Access={access} the test cannot create a user"
            );
            return Ok(self.token.clone());
        };
        let output = |name: &str| self.outputs.get(name).with_context(|| format!("the stack has no output {name}"));
        let pool = Pool { id: output("UserPoolId")?, client: output("UserPoolClientId")? };
        let credentials = Credentials { name: user.to_owned(), password: String::new(), groups: Vec::new() };
        let session = Session::open(self.endpoint.as_deref())?;
        let signed_in = session.block_on(pool::sign_in(session.config(), pool, credentials))?;
        Ok(Some(signed_in.into_token(self.outputs.get("TenantClaim").map(String::as_str))))
    }

    /// Returns the data that the process that cleans up needs.
    pub(super) fn deployment(&self, token: Option<&str>) -> Deployment {
        Deployment {
            api: self.api_url.clone(),
            token: token.map(str::to_owned),
            tenant_claim: self.outputs.get("TenantClaim").cloned().unwrap_or_else(|| "sub".to_owned()),
            outputs: self.outputs.clone(),
            endpoint: self.endpoint.clone(),
        }
    }
}

fn token_from_environment() -> Option<String> {
    std::env::var(TOKEN).ok().filter(|token| !token.is_empty())
}
