//! The options of every command that calls the API, and the order in which a deployment is found.

use std::env;
use std::path::Path;

use anyhow::Result;

use super::profiles::{self, DEFAULT, Profiles};
use super::session::Session;
use crate::api::Api;
use crate::exit::{Exit, Failure};
use crate::local_stack::LocalStack;

/// Environment variable of the default for `--api-url`.
const API_URL: &str = "LONGSHORE_API_URL";
/// Environment variable of the default for `--token`.
const TOKEN: &str = "LONGSHORE_TOKEN";
/// Environment variable of the default for `--profile`.
const PROFILE: &str = "LONGSHORE_PROFILE";

/// The deployment that a command calls, and the user.
#[derive(clap::Args, Default)]
#[command(next_help_heading = "Deployment")]
pub struct ConnectionOptions {
    /// Root URL of the API: the stack's output ApiUrl [env: LONGSHORE_API_URL] [default: the local stack of the checkout,
    /// else that of the profile]
    #[arg(long, value_name = "URL", global = true)]
    api_url: Option<String>,
    /// Token for the API [env: LONGSHORE_TOKEN] [default: that of the local stack or the profile]
    #[arg(long, value_name = "TOKEN", global = true)]
    token: Option<String>,
    /// Deployment that `longshore login` has signed in to [env: LONGSHORE_PROFILE] [default: default]
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "api_url")]
    profile: Option<String>,
}

/// Returns the name of the profile of a command that names none.
pub(super) fn default_profile() -> String {
    variable(PROFILE).unwrap_or_else(|| DEFAULT.to_owned())
}

impl ConnectionOptions {
    /// Returns a client of the deployment: that of the options and variables, of the named or default profile, or the
    /// local stack of the current folder, with this user of it.
    ///
    /// # Errors
    /// If there is no deployment.
    pub fn api(&self, local_user: Option<&str>) -> Result<Api> {
        let token = self.token.as_deref().filter(|token| !token.is_empty());
        let url = self.api_url.clone().or_else(|| variable(API_URL).filter(|_| self.profile.is_none()));
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            let of_machine = variable(TOKEN);
            return Ok(Api::new(&url, token.or(of_machine.as_deref())));
        }
        let named = self.profile.clone().or_else(|| variable(PROFILE));
        if named.is_none()
            && let Some((url, own)) = local(&env::current_dir()?, local_user, token.is_none())?
        {
            return Ok(Api::new(&url, token.or(own.as_deref())));
        }
        let name = named.unwrap_or_else(|| DEFAULT.to_owned());
        let path = profiles::path()?;
        let profiles = Profiles::read(&path)?;
        let profile = profiles.get(&name).cloned().ok_or_else(|| unknown(&name, &profiles))?;
        Ok(match token {
            Some(token) => Api::new(&profile.api_url, Some(token)),
            None => Api::signed_in(&profile.api_url.clone(), Session::new(&name, path, profile)),
        })
    }
}

/// Returns the URL of the running local stack of a checkout, and a token; `None` outside of a checkout.
fn local(folder: &Path, user: Option<&str>, signs_in: bool) -> Result<Option<(String, Option<String>)>> {
    let Some(stack) = LocalStack::find(folder)? else { return Ok(None) };
    let token = match user {
        _ if !signs_in => None,
        Some(user) => stack.token_of(user)?,
        None => stack.first_token()?,
    };
    Ok(Some((stack.api_url, token)))
}

fn unknown(name: &str, profiles: &Profiles) -> Failure {
    let names: Vec<_> = profiles.names().collect();
    let message = if names.is_empty() {
        format!(
            "there is no deployment: sign in with `longshore login --api-url URL`, or set {API_URL} and {TOKEN}; in a checkout, \
             `cargo xtask up` starts a local one"
        )
    } else {
        format!(
            "there is no profile {name}, only {}: pass --profile, or sign in with `longshore login`",
            names.join(", ")
        )
    };
    Failure::new(Exit::Usage, message)
}

/// Returns the value of a variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
