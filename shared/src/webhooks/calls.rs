//! Calls of endpoints, as a trait: HTTPS in a function, and simulated in tests.

use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{AttemptResult, Endpoint};

use crate::remote::NotCalled;

/// Maximum seconds of a call: the shortest time-out that Standard Webhooks recommends.
pub const TIMEOUT_S: i64 = 15;

/// A call of an endpoint: a signed `POST`.
#[derive(Copy, Clone, Debug)]
pub struct EndpointCall<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// Id of the message, the same at every attempt.
    pub id: &'a str,
    /// The message as JSON.
    pub body: &'a str,
    /// Time by which the function ends. The call itself takes [`TIMEOUT_S`] at most, and is not made if less time is left.
    pub deadline: Timestamp,
}

/// The end of a call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Called {
    /// The result.
    pub result: AttemptResult,
    /// The wait in seconds that the endpoint asked for.
    pub retry_after_s: Option<i64>,
    /// The body of the answer, or its beginning.
    pub body: Vec<u8>,
}

/// Calls of endpoints. A call is sent at most once.
pub trait CallEndpoints: Send + Sync {
    /// Calls an endpoint, and returns its answer, or why there is none.
    ///
    /// # Errors
    /// If this stack cannot make calls, which says nothing about the endpoint.
    fn call(&self, call: EndpointCall<'_>) -> impl Future<Output = Result<Called, NotCalled>> + Send;
}

/// Returns the end of a call that failed with this code. The sentence shows nothing that only this stack can see, such as
/// the address of a host.
pub fn failed_call(code: &'static str) -> Called {
    let sentence = match code {
        "timed_out" => "the endpoint did not answer in time",
        "refused_address" => "the host has an address that is not public",
        "dns" => "the host has no address",
        "connect" => "the endpoint accepted no connection",
        "tls" => "the certificate is not valid, or TLS failed",
        "closed" => "the endpoint closed the connection before it had answered",
        "too_large" => "the answer is too large",
        "invalid_url" => "the URL is not allowed",
        _ => "the answer is not valid HTTP",
    };
    Called { result: AttemptResult::unanswered(code, sentence), retry_after_s: None, body: Vec::new() }
}
