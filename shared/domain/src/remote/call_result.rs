//! Results of calls of a remote handler, as the transport has them, and their classification.
//!
//! | result | classification |
//! | --- | --- |
//! | HTTP 200 or 201; a Lambda function's return value | an answer, which is then read |
//! | HTTP 429 or 503; throttling by Lambda | backpressure: the batch is parked, and no item spends an attempt |
//! | everything else | a fault: the handler is pinged, and the ping decides who is at fault |
//!
//! 201 is an answer because some frameworks use it for every `POST`. 202 and 204 are faults: what the handler will do
//! later, it has not said. A redirect is a fault and is never followed.

use std::time::Duration;

use super::excerpt::Excerpt;
use super::fault::{ConnectionError, Fault, FaultCause};
use super::json::JsonError;
use super::limits::MAX_ANSWER_BYTES;
use super::wait::retry_after;
use crate::text::quoted;
use crate::timestamp::Timestamp;

/// Errors of Lambda that mean backpressure, whatever their status.
const THROTTLING: [&str; 4] =
    ["TooManyRequestsException", "EC2ThrottledException", "ThrottlingException", "Throttling"];

/// Result of one call, as the transport has it.
#[derive(Copy, Clone, Debug)]
pub enum CallResult<'a> {
    /// A response of an HTTPS endpoint.
    Http {
        /// Status code.
        status: u16,
        /// The header `Retry-After`, if there is one.
        retry_after: Option<&'a str>,
        /// The body.
        body: &'a [u8],
    },
    /// A function returned.
    Returned {
        /// The return value as JSON.
        payload: &'a [u8],
    },
    /// A function failed: an exception, a time-out of its own, or out of memory.
    FunctionError {
        /// The error document.
        payload: &'a [u8],
    },
    /// Lambda refused the call.
    LambdaError {
        /// Name of the error, such as `ResourceNotFoundException`.
        name: &'a str,
        /// Status code, if there is one.
        status: Option<u16>,
        /// The header `Retry-After`, if there is one.
        retry_after: Option<&'a str>,
    },
    /// The response was cut off at the maximum size.
    TooLarge {
        /// The bytes that were read.
        body: &'a [u8],
    },
    /// No complete response arrived in time.
    TimedOut,
    /// The connection failed.
    Connection(ConnectionError),
}

/// Classification of a call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Reply<'a> {
    /// The handler returned something that should be an answer.
    Answered(&'a [u8]),
    /// Backpressure: the batch is sent again later, without an attempt of its items. The concurrency of the handler is
    /// halved.
    Parked(Backpressure),
    /// The call failed.
    Fault(Fault),
}

/// A handler's request to be called later.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Backpressure {
    /// The wait that the handler asked for, clamped; `None` if it named none.
    pub after: Option<Duration>,
    /// The reason, for the document of the job.
    pub reason: String,
}

impl<'a> CallResult<'a> {
    /// Classifies the result.
    pub fn classify(self, now: Timestamp) -> Reply<'a> {
        match self {
            Self::Http { status: 200 | 201, body, .. } | Self::Returned { payload: body } => Reply::Answered(body),
            Self::Http { status, retry_after, body } => {
                parked(status, retry_after, now).unwrap_or_else(|| fault(FaultCause::Status(status), body))
            }
            Self::LambdaError { name, status, retry_after } => lambda_error(name, status, retry_after, now),
            Self::FunctionError { payload } => fault(FaultCause::FunctionError, payload),
            Self::TooLarge { body } => {
                fault(FaultCause::BadAnswer(JsonError::TooLarge { max: MAX_ANSWER_BYTES }.into()), body)
            }
            Self::TimedOut => fault(FaultCause::TimedOut, &[]),
            Self::Connection(error) => fault(FaultCause::Connection(error), &[]),
        }
    }
}

fn lambda_error<'a>(name: &str, status: Option<u16>, after: Option<&str>, now: Timestamp) -> Reply<'a> {
    if THROTTLING.contains(&name) {
        let reason = format!("Lambda refused the call: {name}");
        return Reply::Parked(Backpressure { after: after.and_then(|after| retry_after(after, now)), reason });
    }
    let cause = FaultCause::Lambda { name: quoted(name), status };
    status.and_then(|status| parked(status, after, now)).unwrap_or_else(|| fault(cause, &[]))
}

/// Returns the classification of the two statuses that mean backpressure.
fn parked<'a>(status: u16, after: Option<&str>, now: Timestamp) -> Option<Reply<'a>> {
    let reason = match status {
        429 => "the handler answered 429: too many requests",
        503 => "the handler answered 503: unavailable",
        _ => return None,
    };
    let after = after.and_then(|after| retry_after(after, now));
    Some(Reply::Parked(Backpressure { after, reason: reason.to_owned() }))
}

fn fault<'a>(cause: FaultCause, body: &[u8]) -> Reply<'a> {
    Reply::Fault(Fault { cause, excerpt: Excerpt::new(body) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn http(status: u16, retry_after: Option<&str>) -> CallResult<'_> {
        CallResult::Http { status, retry_after, body: b"{}" }
    }

    fn lambda(name: &str, status: u16) -> CallResult<'_> {
        CallResult::LambdaError { name, status: Some(status), retry_after: Some("7") }
    }

    #[test]
    fn only_200_and_201_and_a_return_value_are_answers() {
        for result in [http(200, None), http(201, Some("5")), CallResult::Returned { payload: b"{}" }] {
            assert_eq!(result.classify(NOW), Reply::Answered(b"{}"), "{result:?}");
        }
    }

    #[test]
    fn backpressure_is_429_and_503_and_throttling_with_the_wait_that_was_asked_for() {
        for (result, after) in [
            (http(429, None), None),
            (http(429, Some("20")), Some(20)),
            (http(503, Some("Tue, 14 Nov 2023 22:14:20 GMT")), Some(60)),
            (http(503, Some("soon")), None),
            (http(503, Some("0")), Some(1)),
            (http(429, Some("86400")), Some(3_600)),
            (lambda("TooManyRequestsException", 429), Some(7)),
            (lambda("EC2ThrottledException", 502), Some(7)),
            (lambda("SomethingNew", 429), Some(7)),
            (lambda("ServiceUnavailableException", 503), Some(7)),
        ] {
            let Reply::Parked(backpressure) = result.classify(NOW) else { panic!("{result:?}") };
            assert_eq!(backpressure.after.map(|after| after.as_secs()), after, "{result:?}");
        }
    }

    #[test]
    fn everything_else_is_a_fault() {
        let statuses = (100..=599).filter(|status| ![200, 201, 429, 503].contains(status));
        let lambda_errors = [
            lambda("AccessDeniedException", 403),
            lambda("ResourceNotFoundException", 404),
            lambda("ResourceConflictException", 409),
            lambda("RequestTooLargeException", 413),
            lambda("ServiceException", 500),
            lambda("ENILimitReachedException", 502),
            CallResult::LambdaError { name: "", status: None, retry_after: Some("7") },
        ];
        let connections = [
            ConnectionError::NotAllowed,
            ConnectionError::RefusedAddress,
            ConnectionError::Dns,
            ConnectionError::Connect,
            ConnectionError::Tls,
            ConnectionError::Protocol,
        ];
        let others = [
            CallResult::FunctionError { payload: b"{\"errorType\":\"KeyError\"}" },
            CallResult::TooLarge { body: b"{" },
            CallResult::TimedOut,
        ];
        let results = statuses
            .map(|status| http(status, Some("5")))
            .chain(lambda_errors)
            .chain(connections.map(CallResult::Connection))
            .chain(others);
        for result in results {
            assert!(matches!(result.classify(NOW), Reply::Fault(_)), "{result:?}");
        }
    }

    #[test]
    fn a_fault_keeps_the_first_characters_for_operators() {
        let Reply::Fault(fault) = (CallResult::FunctionError { payload: b"Traceback" }).classify(NOW) else { panic!() };
        assert_eq!(fault.excerpt.for_operators(), "Traceback");
    }
}
