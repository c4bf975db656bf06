//! Faults: calls that ended without an answer of the contract.

use super::answer::ItemOutcome;
use super::bad_answer::{BadAnswer, BadAnswerReason};
use super::excerpt::Excerpt;
use crate::outcome::{Outcome, Rejection};

/// Code of an item on which the handler failed when it was sent alone, at its last attempt.
pub const HANDLER_FAILED: &str = "handler_failed";

/// A call that ended without an answer. Nothing is counted. A ping decides whether the batch or the handler is at fault.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Fault {
    /// The cause, in words for the handler's author and for operators.
    #[source]
    pub cause: FaultCause,
    /// The first characters of the response.
    pub excerpt: Excerpt,
}

impl From<BadAnswer> for Fault {
    fn from(answer: BadAnswer) -> Self {
        Self { cause: FaultCause::BadAnswer(answer.reason), excerpt: answer.excerpt }
    }
}

/// Cause of a fault.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum FaultCause {
    /// A status of HTTP that is neither an answer nor backpressure.
    #[error("the endpoint answered {0}{advice}", advice = advice(*.0))]
    Status(u16),
    /// An exception in a function, its time-out, or out of memory.
    #[error("the function failed: an exception, its own time-out, or out of memory; see its log")]
    FunctionError,
    /// A refusal by Lambda.
    #[error("Lambda refused the call: {name}")]
    Lambda {
        /// Name of the error, quoted.
        name: String,
        /// Status code, if there is one.
        status: Option<u16>,
    },
    /// No complete response in time.
    #[error("no complete answer arrived before the time-out")]
    TimedOut,
    /// A connection that failed.
    #[error(transparent)]
    Connection(ConnectionError),
    /// An answer that is not one of the contract.
    #[error("bad_answer: {0}")]
    BadAnswer(#[source] BadAnswerReason),
}

/// Cause of a connection that failed.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, thiserror::Error)]
pub enum ConnectionError {
    /// A function or a host that the stack's lists do not have, or not any more.
    #[error(
        "the handler is not on this stack's list of allowed functions or hosts, so it was not called; ask the owner of \
         the stack to add it to the parameter HandlerFunctions or HandlerHosts"
    )]
    NotAllowed,
    /// An address that calls may not reach.
    #[error("the host's address is not a public one, so it was not called")]
    RefusedAddress,
    /// A host name without an address.
    #[error("the host name has no address (DNS)")]
    Dns,
    /// No connection to the address.
    #[error("no connection could be made to the host")]
    Connect,
    /// No encrypted connection.
    #[error("no TLS connection could be made: is the certificate valid for the host name, and not expired?")]
    Tls,
    /// A connection that broke, or a response that is not HTTP.
    #[error("the connection broke, or the response was not valid HTTP")]
    Protocol,
}

/// Returns the usual correction of a status.
fn advice(status: u16) -> &'static str {
    match status {
        202 | 204 => "; answer 200 with the outcomes, after the work is done",
        200..=299 => "; only 200 and 201 are answers",
        300..=399 => "; redirects are not followed: register the address that answers",
        401 | 403 => "; does the endpoint verify the signature with the current secret?",
        404 | 410 => "; is the registered address correct? An item that does not exist is a result, not a status",
        413 => "; the endpoint's limit is below the size of a batch: register smaller batches",
        _ => "",
    }
}

impl FaultCause {
    /// Returns the class of the cause, for rows and metrics: no text of the handler.
    pub fn class(&self) -> String {
        match self {
            Self::Status(status) => format!("HTTP status {status}"),
            Self::FunctionError => "function error".into(),
            Self::Lambda { status: Some(status), .. } => format!("Lambda status {status}"),
            Self::Lambda { status: None, .. } => "Lambda error".into(),
            Self::TimedOut => "time-out".into(),
            Self::Connection(_) => "connection error".into(),
            Self::BadAnswer(_) => "bad_answer".into(),
        }
    }
}

/// Attempts of an item.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Attempts {
    /// Number of the attempt that failed, from 1.
    pub made: u32,
    /// Maximum number of attempts.
    pub allowed: u32,
}

impl Fault {
    /// Returns the outcome of an item that was sent alone when the handler failed, although its ping is good: a retry
    /// while it has attempts, then a failure with [`HANDLER_FAILED`]. The message has status, batch and advice, and no
    /// text of the handler.
    pub fn of_item_alone(&self, attempts: Attempts, batch_id: &str) -> ItemOutcome {
        let class = self.cause.class();
        if attempts.made < attempts.allowed {
            return Outcome::Retry { after: None, reason: format!("{class} (batch {batch_id})") };
        }
        let message = format!(
            "the handler failed on this row each of {} times; last: {class} (batch {batch_id}); the row may have been \
             processed nevertheless; give an operator the id of the batch; correct the row, or retry this code once the \
             handler is fixed",
            attempts.made
        );
        Outcome::Reject(Rejection::new(HANDLER_FAILED, None, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::read_answer;

    #[test]
    fn an_item_alone_is_retried_and_at_last_fails_without_a_text_of_the_handler() {
        let fault = Fault::from(read_answer(b"Traceback: ann@example.com", &[]).unwrap_err());
        let outcome = |made| fault.of_item_alone(Attempts { made, allowed: 3 }, "b-1");
        for made in [1, 2] {
            assert!(
                matches!(outcome(made), Outcome::Retry { after: None, reason } if reason == "bad_answer (batch b-1)")
            );
        }
        let Outcome::Reject(rejection) = outcome(3) else { panic!() };
        assert_eq!(rejection.code, "handler_failed");
        assert!(rejection.message.contains("3 times; last: bad_answer (batch b-1)"), "{}", rejection.message);
        assert!(rejection.message.contains("retry this code once the handler is fixed"), "{}", rejection.message);
        assert!(!rejection.message.contains("Traceback"));
        assert_eq!(fault.excerpt.for_operators(), "Traceback: ann@example.com");
    }

    #[test]
    fn the_words_of_a_fault_say_how_to_fix_it() {
        for (cause, words) in [
            (FaultCause::Status(202), "answer 200"),
            (FaultCause::Status(206), "only 200 and 201"),
            (FaultCause::Status(302), "not followed"),
            (FaultCause::Status(401), "signature"),
            (FaultCause::Status(404), "registered address"),
            (FaultCause::Status(413), "smaller batches"),
            (FaultCause::Status(500), "answered 500"),
            (FaultCause::FunctionError, "see its log"),
            (FaultCause::Connection(ConnectionError::NotAllowed), "parameter HandlerFunctions or HandlerHosts"),
            (FaultCause::Connection(ConnectionError::Tls), "certificate"),
        ] {
            assert!(cause.to_string().contains(words), "{cause}");
        }
    }
}
