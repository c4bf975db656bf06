//! The HTTP client: TLS with the system's certificates, limits of time, and faults that may pass.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustls::crypto::ring;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Proxy};
use url::{Host, Url};

use crate::output::exit::{CommandError, Exit};

/// Time in which a connection is made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time in which an answer begins: longer than the API's own limit of 30 s.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Time in which the next bytes are sent or received. A slow connection is no stalled one.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A fault that may pass: there was no answer, or one that ended early. The call may have had its effect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Transient(pub(crate) String);

/// Returns the error of a call without an answer.
pub(crate) fn no_answer(url: &str, error: &ureq::Error) -> anyhow::Error {
    let message = format!("{url} does not answer: {error}");
    match error {
        ureq::Error::BadUri(_) | ureq::Error::TlsRequired | ureq::Error::InvalidProxyUrl => {
            CommandError::new(Exit::Usage, message).into()
        }
        _ => Transient(message).into(),
    }
}

/// Returns the time until then, as the limit of a call; `None` without a limit.
pub(crate) fn time_left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}

/// Returns an HTTP client for a deployment. A proxy of the environment is used, but not on the way to this machine.
pub(crate) fn agent(base: &str) -> Agent {
    let is_here = Url::parse(base).is_ok_and(|url| is_loopback(&url));
    let config = Agent::config_builder()
        .proxy(if is_here { None } else { Proxy::try_from_env() })
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(RESPONSE_TIMEOUT))
        .timeout_per_read(Some(STALL_TIMEOUT))
        .timeout_per_write(Some(STALL_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false);
    // Certificates are read only where they are needed: a local stack has none.
    let config = if base.starts_with("https:") { config.tls_config(tls()) } else { config };
    Agent::new_with_config(config.build())
}

/// Returns TLS with the certificates of the system, to which companies add their own.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build()
}

/// Checks that what is sent to a URL is encrypted, or stays on this machine.
///
/// # Errors
/// If it would not.
pub(crate) fn check_secure(url: &str) -> Result<()> {
    match Url::parse(url) {
        Ok(parsed) if parsed.scheme() == "https" || (parsed.scheme() == "http" && is_loopback(&parsed)) => Ok(()),
        Ok(_) => bail!(CommandError::new(
            Exit::Usage,
            format!("{url} must begin with https://, unless it is on this machine")
        )),
        Err(error) => bail!(CommandError::new(Exit::Usage, format!("{url:?} is not a URL: {error}"))),
    }
}

/// Returns true for an address of this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // RFC 6761, 6.3.
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_encrypted_or_to_this_machine() {
        for url in [
            "https://a.example",
            "http://127.0.0.1:3000",
            "http://localhost/",
            "http://a.localhost:1",
            "http://[::1]:1",
        ] {
            assert!(check_secure(url).is_ok(), "{url}");
        }
        for url in [
            "http://a.example",
            "http://127.0.0.1.a.example",
            "http://localhost.example",
            "file:///etc/passwd",
            "a.example",
            "",
            "http://10.0.0.1",
        ] {
            assert!(check_secure(url).is_err(), "{url}");
        }
    }
}
