//! The local stack of a checkout: `.longshore/local.json` in the current folder or in a parent folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use url::Url;

use crate::api::is_loopback;
use crate::aws::pool::{self, Credentials, Pool};
use crate::aws::session::Session;

/// Path of the file in a checkout. `cargo xtask up` writes it.
const FILE: &str = ".longshore/local.json";

/// Timeout of the first call. It starts a process for the function.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The running local stack, limited to the fields that the commands read.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalStack {
    /// Root URL of the HTTP API. Empty until the stack is up.
    pub api_url: String,
    /// Endpoint of the AWS emulator.
    pub emulator_url: String,
    /// Outputs of the stack.
    pub outputs: BTreeMap<String, String>,
    users: Vec<User>,
}

#[derive(Deserialize)]
struct User {
    name: String,
    password: String,
}

impl LocalStack {
    /// Returns the file of the local stack of the folder or of a parent folder, whether the stack runs or not.
    pub fn file(folder: &Path) -> Option<PathBuf> {
        folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file())
    }

    /// Finds the local stack of the folder or of a parent folder. Returns `None` if there is none.
    ///
    /// # Errors
    /// If the stack is not running, or its file cannot be read.
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        let Some(file) = Self::file(folder) else { return Ok(None) };
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let stack: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is damaged: delete it and run `cargo xtask up`", file.display()))?;
        // The folder can be of somebody else: what is sent to a local stack stays on this machine.
        let is_here = |url: &String| url.is_empty() || Url::parse(url).is_ok_and(|url| is_loopback(&url));
        if ![&stack.api_url, &stack.emulator_url].into_iter().all(is_here) {
            bail!("{} names a stack that is not on this machine: delete it", file.display());
        }
        if stack.api_url.is_empty() || !responds(&stack.api_url) {
            bail!("the local stack of {} is not running: start it with `cargo xtask up`", file.display());
        }
        Ok(Some(stack))
    }

    /// Signs in the first user. Returns a token, or `None` for a stack without a user pool: its API is open or accepts
    /// tokens of another issuer.
    ///
    /// # Errors
    /// If the user cannot sign in.
    pub fn first_token(&self) -> Result<Option<String>> {
        self.users.first().map(|user| self.sign_in(user)).transpose()
    }

    /// Signs in the user of this name. Returns a token, or `None` if there is no such user.
    ///
    /// # Errors
    /// If the user cannot sign in.
    pub fn token_of(&self, name: &str) -> Result<Option<String>> {
        self.users.iter().find(|user| user.name == name).map(|user| self.sign_in(user)).transpose()
    }

    fn sign_in(&self, user: &User) -> Result<String> {
        let output = |name: &str| self.outputs.get(name).with_context(|| format!("the stack has no output {name}"));
        let pool = Pool { id: output("UserPoolId")?, client: output("UserPoolClientId")? };
        let credentials = Credentials { name: user.name.clone(), password: user.password.clone(), groups: Vec::new() };
        let session = Session::open(Some(&self.emulator_url))?;
        let signed_in = session.block_on(pool::sign_in(session.config(), pool, credentials));
        let signed_in = signed_in.with_context(|| format!("the local user {} cannot sign in", user.name))?;
        Ok(signed_in.into_token(self.outputs.get("TenantClaim").map(String::as_str)))
    }
}

/// Returns true if a server responds, with any status.
fn responds(url: &str) -> bool {
    let config = ureq::Agent::config_builder().proxy(None).http_status_as_error(false);
    let config = config.timeout_global(Some(RESPONSE_TIMEOUT)).build();
    ureq::Agent::new_with_config(config).get(url).call().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_found_from_a_subfolder_and_must_be_running() -> Result<()> {
        let root = tempfile::tempdir()?;
        let subfolder = root.path().join("docs/guides");
        fs::create_dir_all(&subfolder)?;
        fs::create_dir(root.path().join(".longshore"))?;
        assert!(LocalStack::find(&subfolder)?.is_none());
        let error = |text: &str| -> Result<String> {
            fs::write(root.path().join(FILE), text)?;
            Ok(LocalStack::find(&subfolder).map(drop).err().map(|error| error.to_string()).unwrap_or_default())
        };
        assert!(error("{")?.contains("is damaged"));
        assert!(error(r#"{"apiUrl":"https://a.example"}"#)?.contains("is not on this machine"));
        // Nothing listens on port 9.
        for stack in ["{}", r#"{"apiUrl":"http://127.0.0.1:9"}"#] {
            assert!(error(stack)?.contains("is not running: start it with `cargo xtask up`"));
        }
        Ok(())
    }
}
