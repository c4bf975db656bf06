//! The URL of an endpoint, checked against the operator's policy.

use std::fmt;

use rustls::pki_types::DnsName;
use url::{Host, Url};

use crate::policy::UrlPolicy;

/// Maximum bytes of a URL.
pub const URL_BYTES: usize = 2_048;

/// The `https` URL of an endpoint that a [`UrlPolicy`] has accepted. Its host is a name in ASCII form.
#[derive(Clone, Eq, PartialEq, Hash)]
pub struct HandlerUrl {
    origin: Origin,
    target: String,
}

/// The host and the port of an endpoint.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Origin {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// A URL that is not accepted, with the way to fix it.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum UrlError {
    /// The URL is too long.
    #[error("The URL has more than {URL_BYTES} bytes. Use a shorter path or query.")]
    TooLong,
    /// White space, a control character or a backslash.
    #[error("The URL contains {0:?}. Percent-encode it.")]
    Character(char),
    /// Another scheme than `https`.
    #[error("The URL does not begin with \"https://\" and a host. Only HTTPS is supported.")]
    NotHttps,
    /// No URL.
    #[error("The URL is not valid: {0}. Write it as https://host/path.")]
    Invalid(String),
    /// A name or a password before the host.
    #[error("The URL has a user name or password (\"@\" before the path). Remove it: no password is sent.")]
    UserInfo,
    /// A fragment.
    #[error("The URL has a fragment (\"#\"). Remove it: it is never sent.")]
    Fragment,
    /// An IP address in any notation.
    #[error("The host is an IP address. Use a host name.")]
    NumericHost,
    /// A host that is no complete DNS name.
    #[error(
        "The host {0:?} is not a complete DNS name. Write it with its domain and without a dot at its end, as in api.example.com."
    )]
    HostName(String),
    /// A host that the policy does not list.
    #[error("The host {0:?} is not allowed. Ask the owner of the stack to add it to the parameter HandlerHosts.")]
    HostNotAllowed(String),
    /// A port that the policy does not list.
    #[error(
        "Port {0} is not allowed. Use port 443, or ask the owner of the stack to add it to the parameter HandlerPorts."
    )]
    PortNotAllowed(u16),
}

impl HandlerUrl {
    /// Parses a URL and checks it.
    ///
    /// # Errors
    /// Returns the first reason for which the policy, or any policy, refuses the URL.
    pub fn parse(text: &str, policy: &UrlPolicy) -> Result<Self, UrlError> {
        check_text(text)?;
        check_start(text)?;
        let url = Url::parse(text).map_err(|error| UrlError::Invalid(error.to_string()))?;
        if url.fragment().is_some() {
            return Err(UrlError::Fragment);
        }
        let host = host_name(&url)?;
        policy.check_host(&host)?;
        let port = url.port_or_known_default().unwrap_or_default();
        policy.check_port(port)?;
        let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        Ok(Self { origin: Origin { host, port }, target })
    }

    /// Returns the host's name, in ASCII and lower case.
    pub fn host(&self) -> &str {
        &self.origin.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.origin.port
    }

    /// Returns path and query, as the request's first line has them.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Checks the text as it was written. The parser would drop tabs and line ends, and read a backslash as a slash.
pub(crate) fn check_text(text: &str) -> Result<(), UrlError> {
    if text.len() > URL_BYTES {
        return Err(UrlError::TooLong);
    }
    if let Some(bad) = text.chars().find(|c| c.is_control() || c.is_whitespace() || *c == '\\') {
        return Err(UrlError::Character(bad));
    }
    Ok(())
}

/// Checks scheme and authority as they were written.
fn check_start(text: &str) -> Result<(), UrlError> {
    let scheme = text.get(..8).filter(|scheme| scheme.eq_ignore_ascii_case("https://")).ok_or(UrlError::NotHttps)?;
    let authority = text[scheme.len()..].split(['/', '?', '#']).next().unwrap_or_default();
    match authority {
        "" => Err(UrlError::NotHttps),
        _ if authority.contains('@') => Err(UrlError::UserInfo),
        _ => Ok(()),
    }
}

/// Returns the host in ASCII. The parser reads every notation of an IP address as one: decimal, octal, hexadecimal,
/// short, percent-encoded or in other digits of Unicode.
fn host_name(url: &Url) -> Result<String, UrlError> {
    match url.host() {
        Some(Host::Domain(name)) if DnsName::try_from(name).is_ok() && !name.ends_with('.') => Ok(name.to_owned()),
        Some(Host::Domain(name)) => Err(UrlError::HostName(name.to_owned())),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => Err(UrlError::NumericHost),
        None => Err(UrlError::NotHttps),
    }
}

/// Writes the URL without its query, which may hold a secret.
impl fmt::Display for HandlerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "https://{}{path}", self.origin)
    }
}

impl fmt::Debug for HandlerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandlerUrl({self})")
    }
}

/// Writes the origin as the `Host` header has it: the port only if it is not 443.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            443 => f.write_str(&self.host),
            port => write!(f, "{}:{port}", self.host),
        }
    }
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
