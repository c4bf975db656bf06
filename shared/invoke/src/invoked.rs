//! What came back from an invocation.

use std::error::Error;
use std::io;

use aws_sdk_lambda::error::{ConnectorError, ProvideErrorMetadata, SdkError};
use aws_sdk_lambda::operation::invoke::{InvokeError, InvokeOutput};
use aws_sdk_lambda::primitives::Blob;

use super::answer_limit::is_too_large;

/// Name of a refusal whose response has none.
const UNNAMED: &str = "an error without a name";

/// Kinds of errors of a connection that was never made.
const NOT_CONNECTED: [io::ErrorKind; 6] = [
    io::ErrorKind::ConnectionRefused,
    io::ErrorKind::HostUnreachable,
    io::ErrorKind::NetworkUnreachable,
    io::ErrorKind::NetworkDown,
    io::ErrorKind::AddrNotAvailable,
    io::ErrorKind::TimedOut,
];

/// What came back from an invocation. The texts are for operators.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Invoked {
    /// The function returned this JSON.
    Returned(Vec<u8>),
    /// The function failed: an exception, a time-out of its own, or out of memory. The document describes the error.
    FunctionError(Vec<u8>),
    /// Lambda refused the invocation.
    Refused(Refused),
    /// The answer is above the contract's limit, and was cut off.
    TooLarge,
    /// No complete answer arrived in time.
    TimedOut,
    /// There was no connection to Lambda. Nothing was sent.
    NoConnection(String),
    /// The connection ended before the answer was complete.
    Broken(String),
    /// The request could not be written or signed. Nothing was sent.
    Unsent(String),
}

/// A refusal of Lambda.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Refused {
    /// Name of the error, such as `TooManyRequestsException`.
    pub name: String,
    /// Status code.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The message.
    pub message: String,
}

impl Invoked {
    pub(super) fn from_output(output: InvokeOutput) -> Self {
        let payload = output.payload.map(Blob::into_inner).unwrap_or_default();
        if output.function_error.is_some() { Self::FunctionError(payload) } else { Self::Returned(payload) }
    }

    pub(super) fn from_error(error: SdkError<InvokeError>) -> Self {
        if is_too_large(&error) {
            return Self::TooLarge;
        }
        let text = causes(&error);
        match error {
            SdkError::ConstructionFailure(_) => Self::Unsent(text),
            SdkError::TimeoutError(_) => Self::TimedOut,
            SdkError::DispatchFailure(failure) => match failure.as_connector_error() {
                Some(error) if is_not_connected(error) => Self::NoConnection(text),
                _ => Self::Broken(text),
            },
            SdkError::ServiceError(refusal) => Self::Refused(Refused {
                name: refusal.err().code().unwrap_or(UNNAMED).to_owned(),
                status: refusal.raw().status().as_u16(),
                retry_after: refusal.raw().headers().get("retry-after").map(str::to_owned),
                message: refusal.err().message().unwrap_or_default().to_owned(),
            }),
            _ => Self::Broken(text),
        }
    }
}

/// Returns true if no connection was made. The one time limit of the connector is that of connections.
fn is_not_connected(error: &ConnectorError) -> bool {
    error.is_timeout() || is_caused_by_refusal(error)
}

fn is_caused_by_refusal(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| NOT_CONNECTED.contains(&error.kind()))
        || error.source().is_some_and(is_caused_by_refusal)
}

/// Returns an error's causes as text. Their debug form could have the answer.
fn causes(error: &(dyn Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| {
        let error: &(dyn Error + 'static) = *error;
        error.source()
    });
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
