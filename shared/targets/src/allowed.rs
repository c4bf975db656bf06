//! The targets that may be registered and called: two lists that the stack's owner sets. They are checked at each call,
//! so that a target that was removed from its list is not called any more.

use longshore::config::{self, ConfigError, names};
use longshore_domain::registration::{AllowedFunctions, FunctionAlias};
use longshore_outbound::local::{LocalOnly, LocalOnlyError};
use longshore_outbound::policy::{UrlPolicy, UrlPolicyError};
use longshore_outbound::url::{HandlerUrl, UrlError};

/// Settings of handlers that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A missing or invalid variable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A host or a port that no endpoint can have.
    #[error(transparent)]
    Policy(#[from] UrlPolicyError),
    /// Permissions of a local stack in another environment.
    #[error(transparent)]
    Local(#[from] LocalOnlyError),
}

/// Returns the permissions of a local stack; `None` in a stack without an extra certificate.
///
/// # Errors
/// If there is a certificate in another environment than `local`, or it cannot be read.
pub fn local_permissions() -> Result<Option<LocalOnly>, SettingsError> {
    let Some(roots) = config::handler_ca()? else { return Ok(None) };
    Ok(Some(LocalOnly::new(&config::text(names::ENVIRONMENT)?, &roots)?))
}

/// Returns the policy for URLs of webhooks, which tenants name: every host with a domain, and port 443. A local stack
/// allows `localhost` with the ports of handlers, too.
///
/// # Errors
/// If a port cannot be read.
pub fn webhook_policy(local: Option<&LocalOnly>) -> Result<UrlPolicy, SettingsError> {
    let policy = UrlPolicy::any_host();
    Ok(match local {
        Some(local) => policy.with_localhost(local).with_local_ports(&config::handler_ports()?, local),
        None => policy,
    })
}

/// The targets that may be registered and called.
#[derive(Clone, Debug, Default)]
pub struct AllowedTargets {
    /// Lambda functions.
    pub functions: AllowedFunctions,
    /// Hosts and ports of endpoints.
    pub urls: UrlPolicy,
    /// The function of the job type `image`, which only that type calls.
    pub image_function: Option<FunctionAlias>,
}

impl AllowedTargets {
    /// Reads the lists from the environment. A local stack allows `localhost`, too.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn from_env(local: Option<&LocalOnly>) -> Result<Self, SettingsError> {
        let hosts = config::handler_hosts();
        let urls = UrlPolicy::new(hosts.iter().map(String::as_str), config::handler_ports()?)?;
        let urls = match local {
            Some(local) => urls.with_localhost(local),
            None => urls,
        };
        Ok(Self { functions: config::handler_functions()?, urls, image_function: config::image_function()? })
    }

    /// Returns true if this alias may be called: registrations may name it, or it is that of the job type `image`.
    pub fn may_call(&self, alias: &FunctionAlias) -> bool {
        self.permits(alias) || self.image_function.as_ref() == Some(alias)
    }

    /// Returns true if registrations may name this alias: the list has it, and it is none of this stack's functions.
    pub fn permits(&self, alias: &FunctionAlias) -> bool {
        self.functions.permits(alias)
    }

    /// Parses the URL of an endpoint that the lists have.
    ///
    /// # Errors
    /// The reason why it may not be called.
    pub fn url(&self, text: &str) -> Result<HandlerUrl, UrlError> {
        HandlerUrl::parse(text, &self.urls)
    }
}
