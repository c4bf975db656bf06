//! Requests of a check, and what came back.

use std::time::Duration;

use longshore_domain::remote::{CallResult, ConnectionError};
use longshore_outbound::probe::AnswerHeaders;

/// The signature of a request to an HTTPS endpoint.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Signature {
    /// That of the handler's secret.
    Valid,
    /// None.
    Absent,
    /// That of another secret.
    Wrong,
    /// That of the handler's secret, an hour ago.
    Old,
}

/// A request.
pub(super) struct Request<'a> {
    pub(super) id: &'a str,
    pub(super) body: Vec<u8>,
    pub(super) signature: Signature,
    pub(super) timeout: Duration,
}

/// A response with the time that it took.
pub(super) struct Exchange {
    pub(super) response: Response,
    pub(super) headers: AnswerHeaders,
    pub(super) took: Duration,
}

/// What came back, as the transport has it.
#[derive(Debug)]
pub(super) enum Response {
    Http {
        status: u16,
        retry_after: Option<String>,
        body: Vec<u8>,
    },
    Returned(Vec<u8>),
    FunctionError(Vec<u8>),
    LambdaError {
        name: String,
        status: Option<u16>,
        retry_after: Option<String>,
        message: String,
    },
    TooLarge,
    /// No complete response in time. The text has the phase.
    TimedOut(String),
    /// No connection to the handler.
    Unreachable(ConnectionError, String),
    /// A connection that broke.
    Broken(String),
}

impl Exchange {
    /// Returns the result as the domain classifies it.
    pub(super) fn result(&self) -> CallResult<'_> {
        match &self.response {
            Response::Http { status, retry_after, body } => {
                CallResult::Http { status: *status, retry_after: retry_after.as_deref(), body }
            }
            Response::Returned(payload) => CallResult::Returned { payload },
            Response::FunctionError(payload) => CallResult::FunctionError { payload },
            Response::LambdaError { name, status, retry_after, .. } => {
                CallResult::LambdaError { name, status: *status, retry_after: retry_after.as_deref() }
            }
            Response::TooLarge => CallResult::TooLarge { body: &[] },
            Response::TimedOut(_) => CallResult::TimedOut,
            Response::Unreachable(error, _) => CallResult::Connection(*error),
            Response::Broken(_) => CallResult::Connection(ConnectionError::Protocol),
        }
    }

    /// Returns the body of the response.
    pub(super) fn body(&self) -> &[u8] {
        match &self.response {
            Response::Http { body, .. } | Response::Returned(body) | Response::FunctionError(body) => body,
            _ => &[],
        }
    }
}
