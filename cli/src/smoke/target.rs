//! The tested stack: the location of its API, and the user who calls it.

use super::cleanup::Deployment;
use crate::aws::pool::{self, Credentials, Pool};
use crate::aws::session::Session;
use crate::aws::stack;
use crate::local_stack::LocalStack;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// Environment variable of an existing token.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// A deployed stack.
pub(super) struct Target {
    /// URL of an emulator; `None` for the account of the shell.
    endpoint: Option<String>,
    outputs: BTreeMap<String, String>,
    /// Root URL of the API.
    pub(super) api_url: String,
    /// Display name.
    pub(super) place: String,
    token: Option<String>,
}

impl Target {
    /// Finds the local stack of the current folder, or of one above it.
    pub(super) fn local() -> Result<Self> {
        let stack = LocalStack::find(&std::env::current_dir()?)?;
        let stack = stack.context("there is no local stack here: start it with `cargo xtask up`")?;
        let token = match given_token() {
            Some(token) => Some(token),
            None => stack.first_token()?,
        };
        let place = format!("the local stack at {}", stack.api_url);
        let LocalStack { api_url, emulator_url, outputs, .. } = stack;
        Ok(Self { endpoint: Some(emulator_url), outputs, api_url, place, token })
    }

    /// Looks a stack up, on AWS or on the emulator at `endpoint`.
    pub(super) fn look_up(name: &str, endpoint: Option<&str>) -> Result<Self> {
        let endpoint = endpoint.map(|url| url.trim_end_matches('/').to_owned());
        let session = Session::open(endpoint.as_deref())?;
        let described = session.wait(stack::describe(session.config(), name));
        let described = described.context("the stack cannot be looked up")?;
        let at = endpoint.as_deref().map_or("on AWS".to_owned(), |url| format!("at {url}"));
        let place = format!("the stack {name} {at}");
        let status = described.status.with_context(|| format!("{place} does not exist"))?;
        let is_usable = matches!(status.as_str(), "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE");
        ensure!(is_usable, "{place} is not usable: {status}");
        let outputs = described.outputs;
        let output = |name: &str| outputs.get(name).cloned().with_context(|| format!("{place} has no output {name}"));
        let api_url = match &endpoint {
            // An emulator's host names do not resolve here.
            Some(endpoint) => format!("{endpoint}/_aws/execute-api/{}/$default", output("ApiId")?),
            None => output("ApiUrl")?,
        };
        Ok(Self { endpoint, outputs, api_url, place, token: given_token() })
    }

    /// Returns true if a user must be created: the API needs a token, none is given, and the stack has its own user
    /// pool.
    pub(super) fn needs_user(&self) -> bool {
        self.token.is_none() && self.outputs.contains_key("UserPoolId")
    }

    /// Returns the token for the API; `None` if it is open.
    pub(super) fn sign_in(&self, user: Option<&str>) -> Result<Option<String>> {
        let access = self.outputs.get("Access").map_or("cognito", String::as_str);
        let Some(user) = user else {
            ensure!(self.token.is_some() || access == "open", "set {TOKEN}: with Access={access} users are another's");
            return Ok(self.token.clone());
        };
        let output = |name: &str| self.outputs.get(name).with_context(|| format!("the stack has no output {name}"));
        let pool = Pool { id: output("UserPoolId")?, client: output("UserPoolClientId")? };
        let credentials = Credentials { name: user.to_owned(), password: String::new(), groups: Vec::new() };
        let session = Session::open(self.endpoint.as_deref())?;
        let signed_in = session.wait(pool::sign_in(session.config(), pool, credentials))?;
        Ok(Some(signed_in.into_token(self.outputs.get("TenantClaim").map(String::as_str))))
    }

    /// Describes the stack to the process that cleans up.
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

fn given_token() -> Option<String> {
    std::env::var(TOKEN).ok().filter(|token| !token.is_empty())
}
