//! The targets that may be called: two lists that the stack's owner sets. They are checked at each call, so that a
//! target that was removed from its list is not called any more.

use longshore::config;
use longshore_domain::registration::{AllowedFunctions, FunctionAlias};
use longshore_outbound::local::LocalOnly;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::url::{HandlerUrl, UrlError};

/// The targets that may be called.
#[derive(Clone, Debug, Default)]
pub struct AllowedTargets {
    /// Lambda functions.
    pub functions: AllowedFunctions,
    /// Hosts and ports of endpoints.
    pub urls: UrlPolicy,
}

impl AllowedTargets {
    /// Reads the lists from the environment. A local stack allows `localhost`, too.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn from_env(local: Option<&LocalOnly>) -> Result<Self, lambda_runtime::Error> {
        let hosts = config::handler_hosts();
        let urls = UrlPolicy::new(hosts.iter().map(String::as_str), config::handler_ports()?)?;
        let urls = match local {
            Some(local) => urls.with_localhost(local),
            None => urls,
        };
        Ok(Self { functions: config::handler_functions()?, urls })
    }

    /// Returns true if the list has this alias, and it is none of this stack's functions.
    pub(crate) fn permits(&self, alias: &FunctionAlias) -> bool {
        self.functions.permits(alias)
    }

    /// Parses the URL of an endpoint that the lists have.
    ///
    /// # Errors
    /// The reason why it may not be called.
    pub(crate) fn url(&self, text: &str) -> Result<HandlerUrl, UrlError> {
        HandlerUrl::parse(text, &self.urls)
    }
}
