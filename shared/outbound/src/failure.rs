//! Failures of calls: everything that is not a complete answer.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;

use longshore_domain::remote::ConnectionError;

use crate::address::Purpose;
use crate::budget::OverBudget;

/// Maximum characters of a reason, parts of which may come from the endpoint.
const REASON_CHARS: usize = 300;

/// A failure of a call. Its text is for operators.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum CallFailure {
    /// A limit of time, or the deadline, passed.
    #[error("The endpoint did not answer in time: {0}.")]
    TimedOut(Phase),
    /// The host has an address that is not global unicast. Nothing was sent.
    #[error("The host has the address {address}, which is {purpose}. Endpoints must have public addresses only.")]
    RefusedAddress {
        /// The address.
        address: IpAddr,
        /// Its purpose.
        purpose: Purpose,
    },
    /// The host's name does not resolve.
    #[error("The host has no address: {0}.")]
    Dns(String),
    /// No TCP connection.
    #[error("The endpoint accepted no connection: {0}.")]
    Connect(String),
    /// No TLS, a certificate that is not valid for the host, or an error of TLS later.
    #[error("TLS with the endpoint failed: {0}.")]
    Tls(String),
    /// The connection ended before the answer.
    #[error("The endpoint closed the connection before its answer was complete: {0}.")]
    Closed(String),
    /// An answer above a limit.
    #[error("The endpoint's answer is too large: {0}.")]
    TooLarge(Part),
    /// An answer that is not valid HTTP/1.1.
    #[error("The endpoint's answer is not valid HTTP: {0}.")]
    Protocol(String),
}

/// The phase of a call in which its time passed.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Phase {
    /// Nothing: the deadline had passed.
    Start,
    /// Name resolution.
    Lookup,
    /// TCP.
    Connect,
    /// TLS.
    Handshake,
    /// Request, status and headers.
    Head,
    /// The answer's body.
    Body,
}

/// The part of an answer that is too large.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Part {
    /// Status line and headers, with informational answers.
    Head,
    /// The body.
    Body,
    /// The headers of the body's chunks.
    Framing,
}

impl CallFailure {
    /// Returns a stable name, for metrics and conditions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TimedOut(_) => "timed_out",
            Self::RefusedAddress { .. } => "refused_address",
            Self::Dns(_) => "dns",
            Self::Connect(_) => "connect",
            Self::Tls(_) => "tls",
            Self::Closed(_) => "closed",
            Self::TooLarge(_) => "too_large",
            Self::Protocol(_) => "protocol",
        }
    }

    /// Returns the failure of the connection, as the contract of handlers names it; `None` if the endpoint did not
    /// answer in time or answered too much.
    pub fn connection_error(&self) -> Option<ConnectionError> {
        Some(match self {
            Self::RefusedAddress { .. } => ConnectionError::RefusedAddress,
            Self::Dns(_) | Self::TimedOut(Phase::Lookup) => ConnectionError::Dns,
            Self::Connect(_) | Self::TimedOut(Phase::Connect) => ConnectionError::Connect,
            Self::Tls(_) | Self::TimedOut(Phase::Handshake) => ConnectionError::Tls,
            Self::TooLarge(Part::Head) | Self::Closed(_) | Self::Protocol(_) => ConnectionError::Protocol,
            Self::TimedOut(Phase::Start | Phase::Head | Phase::Body) | Self::TooLarge(Part::Body | Part::Framing) => {
                return None;
            }
        })
    }

    /// Describes an error of HTTP while this part of the answer was read.
    pub(crate) fn of_http(error: &hyper::Error, part: Part) -> Self {
        if let Some(failed) = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>()) {
            return Self::of_stream(failed, part);
        }
        if error.is_parse_too_large() {
            return Self::TooLarge(Part::Head);
        }
        let reason = reason(causes(error).last().unwrap_or(error));
        let ended = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
        if ended { Self::Closed(reason) } else { Self::Protocol(reason) }
    }

    fn of_stream(error: &io::Error, part: Part) -> Self {
        let cause = error.get_ref();
        if cause.is_some_and(|cause| cause.is::<OverBudget>()) {
            return Self::TooLarge(if part == Part::Body { Part::Framing } else { part });
        }
        if cause.is_some_and(|cause| cause.is::<rustls::Error>()) {
            return Self::Tls(reason(error));
        }
        match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Self::Protocol(reason(error)),
            _ => Self::Closed(reason(error)),
        }
    }
}

/// Iterates over the causes of an error, the nearest first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| {
        let cause: &'a (dyn Error + 'static) = *cause;
        cause.source()
    })
}

/// Returns an error's text, shortened, with characters that are safe in a log and without a full stop.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    reason_text(&error.to_string()).trim_end_matches('.').to_owned()
}

/// Returns a text of the endpoint, shortened, with characters that are safe in a log.
pub(crate) fn reason_text(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(REASON_CHARS).collect()
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "the deadline had passed before the call began",
            Self::Lookup => "its name was not resolved",
            Self::Connect => "it accepted no connection",
            Self::Handshake => "the TLS handshake did not end",
            Self::Head => "no complete status and headers arrived",
            Self::Body => "the body did not end, or paused for too long",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "its headers are above the limit",
            Self::Body => "its body is above the limit",
            Self::Framing => "the headers of its chunks are above the limit",
        })
    }
}
