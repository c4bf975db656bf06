//! The options of every command that calls the API, and the order in which a deployment is found.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

use super::profiles::{self, DEFAULT, Profile, Profiles};
use super::session::Session;
use crate::api::{Api, check_secure};
use crate::local_stack::LocalStack;
use crate::output::exit::{CommandError, Exit};

/// Environment variable of the default for `--api-url`.
pub(super) const API_URL: &str = "LONGSHORE_API_URL";
/// Environment variable of the default for `--token`.
const TOKEN: &str = "LONGSHORE_TOKEN";
/// Environment variable of the default for `--profile`.
const PROFILE: &str = "LONGSHORE_PROFILE";

/// User of the local stack in the operators' group.
pub(crate) const OPERATOR: &str = "operator";

/// The deployment that a command calls, and the user.
#[derive(clap::Args, Clone, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Deployment")]
#[serde(rename_all = "camelCase")]
pub struct ConnectionOptions {
    /// Root URL of the API: the stack's output ApiUrl [env: LONGSHORE_API_URL] [default: the local stack of the checkout,
    /// or else the profile `default`]
    #[arg(long, value_name = "URL", global = true)]
    api_url: Option<String>,
    /// Token for the API [env: LONGSHORE_TOKEN] [default: that of the local stack or the profile]
    #[arg(long, value_name = "TOKEN", global = true)]
    token: Option<String>,
    /// Profile of a deployment that `longshore login` has signed in to [env: LONGSHORE_PROFILE]
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "api_url")]
    profile: Option<String>,
}

/// Returns the name of the profile of a command that names none.
pub(super) fn default_profile() -> String {
    variable(PROFILE).unwrap_or_else(|| DEFAULT.to_owned())
}

impl ConnectionOptions {
    /// Returns the options with these values, for commands that have several users.
    pub(crate) fn new(api_url: Option<String>, token: Option<String>, profile: Option<String>) -> Self {
        Self { api_url, token, profile }
    }

    /// Returns a client of the deployment: that of the options and variables, of the named or default profile, or the
    /// local stack of the current folder, with this user of it.
    ///
    /// # Errors
    /// If there is no deployment.
    pub fn api(&self, local_user: Option<&str>) -> Result<Api> {
        let given = [("--api-url", &self.api_url), ("--token", &self.token), ("--profile", &self.profile)];
        if let Some((name, _)) = given.iter().find(|(_, value)| value.as_deref() == Some("")) {
            let reason = format!("{name} is empty: is a variable of your shell not set?");
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        let token = self.token.clone().or_else(|| variable(TOKEN));
        let deployment = self.deployment(&variable, local_user, token.is_none())?;
        Ok(match (token, deployment) {
            (Some(token), deployment) => Api::new(checked(deployment.url())?, Some(&token)),
            (None, Deployment::Url(url)) => Api::new(checked(&url)?, None),
            (None, Deployment::Local { url, token }) => Api::new(checked(&url)?, token.as_deref()),
            (None, Deployment::Profile(name, path, profile)) => {
                let url = checked(&profile.api_url)?.to_owned();
                Api::signed_in(&url, Box::new(Session::new(&name, path, *profile)))
            }
        })
    }

    /// Returns a client for an operator, and names the deployment on standard error: an operator must not take the
    /// local stack for another one.
    ///
    /// # Errors
    /// If there is no deployment.
    pub(crate) fn operator_api(&self) -> Result<Api> {
        let api = self.api(Some(OPERATOR))?;
        eprintln!("Deployment: {}", api.absolute("/").trim_end_matches('/'));
        Ok(api)
    }

    /// Returns the first deployment of: `--api-url`, `--profile`, their variables, the local stack, the profile `default`.
    fn deployment(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        local_user: Option<&str>,
        signs_in: bool,
    ) -> Result<Deployment> {
        let url = self.api_url.clone().or_else(|| variable(API_URL).filter(|_| self.profile.is_none()));
        if let Some(url) = url {
            return Ok(Deployment::Url(url));
        }
        let named = self.profile.clone().or_else(|| variable(PROFILE));
        if named.is_none()
            && let Some(local) = local(&env::current_dir()?, local_user, signs_in)?
        {
            return Ok(local);
        }
        let name = named.unwrap_or_else(|| DEFAULT.to_owned());
        let path = profiles::path()?;
        let profiles = Profiles::read(&path)?;
        let profile = profiles.get(&name).cloned().ok_or_else(|| unknown(&name, &profiles))?;
        Ok(Deployment::Profile(name, path, Box::new(profile)))
    }
}

/// A deployment, and how it was found.
enum Deployment {
    Url(String),
    Local { url: String, token: Option<String> },
    Profile(String, PathBuf, Box<Profile>),
}

impl Deployment {
    fn url(&self) -> &str {
        match self {
            Self::Url(url) | Self::Local { url, .. } => url,
            Self::Profile(_, _, profile) => &profile.api_url,
        }
    }
}

fn checked(url: &str) -> Result<&str> {
    check_secure(url).map(|()| url)
}

/// Returns the running local stack of a checkout, with a token; `None` outside of a checkout.
fn local(folder: &Path, user: Option<&str>, signs_in: bool) -> Result<Option<Deployment>> {
    let others = "or name another deployment with `--profile NAME` or `--api-url URL`";
    let found = LocalStack::find(folder).map_err(|error| anyhow!("{error:#}, {others}"))?;
    let Some(stack) = found else { return Ok(None) };
    let token = match user {
        _ if !signs_in => None,
        Some(user) => {
            let none = || format!("the local stack has no user {user}: pass --token");
            Some(stack.token_of(user)?.ok_or_else(|| CommandError::new(Exit::NotSignedIn, none()))?)
        }
        None => stack.first_token()?,
    };
    Ok(Some(Deployment::Local { url: stack.api_url, token }))
}

fn unknown(name: &str, profiles: &Profiles) -> CommandError {
    let names: Vec<_> = profiles.names().collect();
    let message = if name == DEFAULT && names.is_empty() {
        format!(
            "there is no deployment: sign in with `longshore login --api-url URL`, or set {API_URL} and {TOKEN}; in a \
             checkout, `cargo xtask up` starts a local one"
        )
    } else {
        let others = if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) };
        format!("there is no profile {name}: create it with `longshore login --profile {name} --api-url URL`{others}")
    };
    CommandError::new(Exit::Usage, message)
}

/// Returns what a command calls instead of a profile that it does not name; `None` if it calls the profile.
pub(super) fn preferred(variable: &dyn Fn(&str) -> Option<String>, folder: &Path) -> Option<String> {
    if let Some(url) = variable(API_URL) {
        return Some(format!("{API_URL} is {url}"));
    }
    let file = LocalStack::file(folder).filter(|_| variable(PROFILE).is_none())?;
    Some(format!("{} names a local stack", file.display()))
}

/// Returns true if a variable has a token, which then takes precedence over those of all profiles.
pub(crate) fn has_token_variable() -> bool {
    variable(TOKEN).is_some()
}

/// Returns the value of a variable that is set and not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_or_a_local_stack_is_preferred_to_a_profile_that_is_not_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let subfolder = folder.path().join(".longshore");
        let preferred = |name: &str| preferred(&|asked: &str| (asked == name).then(|| "x".to_owned()), folder.path());
        assert_eq!(preferred(""), None);
        std::fs::create_dir(&subfolder)?;
        std::fs::write(subfolder.join("local.json"), "{}")?;
        assert!(preferred("").is_some_and(|text| text.ends_with("local.json names a local stack")));
        assert_eq!(preferred(PROFILE), None, "the variable names a profile");
        assert_eq!(preferred(API_URL).as_deref(), Some("LONGSHORE_API_URL is x"));
        Ok(())
    }
}
