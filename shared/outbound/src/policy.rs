//! The hosts and ports that URLs of endpoints may name.

use rustls::pki_types::DnsName;
use url::Host;

use crate::local::LocalOnly;
use crate::url::UrlError;

/// The port of HTTPS, which every policy allows.
const HTTPS: u16 = 443;
/// The one host without a domain, and only with [`LocalOnly`].
pub(crate) const LOCALHOST: &str = "localhost";

/// The operator's policy for URLs. Without hosts it allows none.
#[derive(Clone, Debug)]
pub struct UrlPolicy {
    hosts: Vec<HostPattern>,
    ports: Vec<u16>,
    localhost: Localhost,
}

#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Localhost {
    Allowed,
    Refused,
}

#[derive(Clone, Eq, PartialEq, Debug)]
enum HostPattern {
    /// Every host with a domain.
    Any,
    /// One host.
    Exact(String),
    /// Every host that ends with this suffix, which begins with a dot.
    Below(String),
}

/// A policy that cannot be read.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum UrlPolicyError {
    /// An allowed host that is no name.
    #[error(
        "The allowed host {0:?} is not a host name. Write a name as api.example.com, or *.example.com for all names below a domain."
    )]
    Host(String),
    /// A suffix of one label, such as `*.com`.
    #[error("The allowed host {0:?} covers a whole top-level domain. Name the domain, as in *.example.com.")]
    TooWide(String),
    /// Port 0.
    #[error("Port 0 cannot be allowed.")]
    Port,
}

impl Default for UrlPolicy {
    /// Returns the policy that allows no host.
    fn default() -> Self {
        Self { hosts: Vec::new(), ports: vec![HTTPS], localhost: Localhost::Refused }
    }
}

impl UrlPolicy {
    /// Creates a policy of hosts, each a name or `*.` and a domain, and of ports besides 443.
    ///
    /// # Errors
    /// Returns the first host or port that is not valid.
    pub fn new<'a>(
        hosts: impl IntoIterator<Item = &'a str>,
        ports: impl IntoIterator<Item = u16>,
    ) -> Result<Self, UrlPolicyError> {
        let hosts = hosts.into_iter().map(HostPattern::parse).collect::<Result<_, _>>()?;
        let ports: Vec<_> = std::iter::once(HTTPS).chain(ports).collect();
        let policy = Self { hosts, ports, localhost: Localhost::Refused };
        if policy.ports.contains(&0) { Err(UrlPolicyError::Port) } else { Ok(policy) }
    }

    /// Creates the policy of files that anyone may name: every host with a domain, and port 443.
    pub fn any_host() -> Self {
        Self { hosts: vec![HostPattern::Any], ..Self::default() }
    }

    /// Allows other ports, in a local stack.
    #[must_use]
    pub fn with_local_ports(mut self, ports: &[u16], _: &LocalOnly) -> Self {
        self.ports.extend_from_slice(ports);
        self
    }

    /// Allows `localhost`, in a local stack.
    #[must_use]
    pub fn with_localhost(self, _: &LocalOnly) -> Self {
        Self { localhost: Localhost::Allowed, ..self }
    }

    pub(crate) fn check_host(&self, host: &str) -> Result<(), UrlError> {
        let allowed = match host {
            LOCALHOST => self.localhost == Localhost::Allowed,
            _ if !host.contains('.') => return Err(UrlError::HostName(host.to_owned())),
            _ => self.hosts.iter().any(|pattern| pattern.matches(host)),
        };
        if allowed { Ok(()) } else { Err(UrlError::HostNotAllowed(host.to_owned())) }
    }

    pub(crate) fn check_port(&self, port: u16) -> Result<(), UrlError> {
        if self.ports.contains(&port) { Ok(()) } else { Err(UrlError::PortNotAllowed(port)) }
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, UrlPolicyError> {
        let (name, below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let not_a_name = || UrlPolicyError::Host(text.to_owned());
        let name = match Host::parse(name).map_err(|_| not_a_name())? {
            Host::Domain(name) if DnsName::try_from(name.as_str()).is_ok() && !name.ends_with('.') => name,
            _ => return Err(not_a_name()),
        };
        match (name.contains('.'), below) {
            (false, true) => Err(UrlPolicyError::TooWide(text.to_owned())),
            (false, false) => Err(not_a_name()),
            (true, true) => Ok(Self::Below(format!(".{name}"))),
            (true, false) => Ok(Self::Exact(name)),
        }
    }

    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => host == name,
            Self::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_by_its_name_or_by_a_domain_above_it() {
        let policy = UrlPolicy::new(["api.example.com", "*.Bücher.example"], [8443]).unwrap();
        for (host, allowed) in [
            ("api.example.com", true),
            ("v1.api.example.com", false),
            ("example.com", false),
            ("api.example.com.evil.test", false),
            ("a.xn--bcher-kva.example", true),
            ("a.b.xn--bcher-kva.example", true),
            ("xn--bcher-kva.example", false),
            ("evilxn--bcher-kva.example", false),
            ("localhost", false),
        ] {
            assert_eq!(policy.check_host(host).is_ok(), allowed, "{host}");
        }
        for (port, allowed) in [(443, true), (8443, true), (80, false), (0, false)] {
            assert_eq!(policy.check_port(port).is_ok(), allowed, "{port}");
        }
    }

    #[test]
    fn a_policy_of_any_host_allows_names_with_a_domain_and_port_443() {
        let policy = UrlPolicy::any_host();
        for (host, allowed) in [("example.com", true), ("a.b.example", true), ("localhost", false), ("intranet", false)]
        {
            assert_eq!(policy.check_host(host).is_ok(), allowed, "{host}");
        }
        for (port, allowed) in [(443, true), (8443, false), (80, false)] {
            assert_eq!(policy.check_port(port).is_ok(), allowed, "{port}");
        }
    }

    #[test]
    fn a_policy_without_hosts_allows_none() {
        let policy = UrlPolicy::new([], []).unwrap();
        assert!(UrlPolicy::default().check_host("example.com").is_err());
        assert_eq!(policy.check_host("example.com"), Err(UrlError::HostNotAllowed("example.com".into())));
    }

    #[test]
    fn a_policy_names_hosts_and_not_addresses_or_whole_top_level_domains() {
        for (host, error) in [
            ("*.com", UrlPolicyError::TooWide("*.com".into())),
            ("*", UrlPolicyError::Host("*".into())),
            ("*.*.example.com", UrlPolicyError::Host("*.*.example.com".into())),
            ("", UrlPolicyError::Host(String::new())),
            ("localhost", UrlPolicyError::Host("localhost".into())),
            ("127.0.0.1", UrlPolicyError::Host("127.0.0.1".into())),
            ("example.com.", UrlPolicyError::Host("example.com.".into())),
            ("https://example.com", UrlPolicyError::Host("https://example.com".into())),
        ] {
            assert_eq!(UrlPolicy::new([host], []).unwrap_err(), error, "{host}");
        }
        assert_eq!(UrlPolicy::new([], [0]).unwrap_err(), UrlPolicyError::Port);
    }
}
