//! The port of the calls of remote handlers.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use longshore_domain::registration::Target;
use longshore_domain::remote::{CallResult, ConnectionError};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;

/// Time between the time-out of a call and the end of the function: a wait of five seconds for the rate limit, one of
/// eight for another worker's ping, a ping of ten, and the commit.
const RESERVE: Duration = Duration::from_secs(30);

/// A call of a handler.
#[derive(Clone, Debug)]
pub struct RemoteCall<'a> {
    /// The handler.
    pub target: &'a Target,
    /// Name of the job type, from which the secret of an endpoint is derived.
    pub job_type: &'a str,
    /// The trace of the job; `None` for the ping of a registration.
    pub trace: Option<TraceId>,
    /// Unique id of the message; the id of a batch.
    pub id: &'a str,
    /// The request as JSON.
    pub body: Vec<u8>,
    /// End of the call, with all of its phases.
    pub deadline: Timestamp,
}

/// The reply to a call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum RemoteReply {
    /// A response of an HTTPS endpoint.
    Http {
        /// Status code.
        status: u16,
        /// The header `Retry-After`.
        retry_after: Option<String>,
        /// The body.
        body: Vec<u8>,
    },
    /// A function returned.
    Returned {
        /// The return value as JSON.
        payload: Vec<u8>,
    },
    /// A function failed.
    FunctionError {
        /// The error document.
        payload: Vec<u8>,
    },
    /// Lambda refused the call.
    LambdaError {
        /// Name of the error.
        name: String,
        /// Status code.
        status: Option<u16>,
        /// The header `Retry-After`.
        retry_after: Option<String>,
    },
    /// The response was cut off at the maximum size.
    TooLarge {
        /// The bytes that were read.
        body: Vec<u8>,
    },
    /// No complete response arrived in time.
    TimedOut,
    /// The connection failed.
    Connection(ConnectionError),
}

impl RemoteReply {
    /// Returns the reply in the form that the domain classifies.
    pub fn result(&self) -> CallResult<'_> {
        match self {
            Self::Http { status, retry_after, body } => {
                CallResult::Http { status: *status, retry_after: retry_after.as_deref(), body }
            }
            Self::Returned { payload } => CallResult::Returned { payload },
            Self::FunctionError { payload } => CallResult::FunctionError { payload },
            Self::LambdaError { name, status, retry_after } => {
                CallResult::LambdaError { name, status: *status, retry_after: retry_after.as_deref() }
            }
            Self::TooLarge { body } => CallResult::TooLarge { body },
            Self::TimedOut => CallResult::TimedOut,
            Self::Connection(error) => CallResult::Connection(*error),
        }
    }
}

/// A call that this stack could not make. Nothing was sent, and nothing follows about the handler: no item spends a try,
/// and the circuit breaker does not open. The message fails, and is delivered again.
#[derive(Debug, thiserror::Error)]
#[error("the handler was not called: {reason}")]
pub struct NotCalled {
    reason: &'static str,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

impl NotCalled {
    /// Creates the error from its reason and its cause, neither of which has a secret or a row.
    pub fn new(reason: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { reason, source: source.into() }
    }
}

/// A call in progress.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<RemoteReply, NotCalled>> + Send + 'a>>;

/// Calls of remote handlers. A call is sent at most once: repetitions are the worker's decision.
pub trait CallHandlers: Send + Sync {
    /// Name of the stack, which a handler can compare.
    fn stack(&self) -> &str;
    /// Makes a call, and returns what came back until its deadline.
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a>;
    /// Returns the time that must be left after a call's time-out: for a wait, a ping, and the commit.
    fn reserve(&self) -> Duration {
        RESERVE
    }
    /// Returns the maximum number of concurrent chunks of one type, whatever its registration says: a part of the
    /// function's concurrency, so that one slow handler does not delay the other types.
    fn max_concurrency(&self) -> u32 {
        u32::MAX
    }
    /// Waits until a time.
    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
