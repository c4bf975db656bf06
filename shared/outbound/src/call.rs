//! A call and its outcome.

use std::time::{Duration, Instant, SystemTime};

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};

use crate::connection::Outgoing;
use crate::failure::CallFailure;
use crate::probe::Signing;
use crate::secret::Secrets;
use crate::signature::{MessageId, sign};
use crate::url::HandlerUrl;

pub(crate) const AGENT: &str = concat!("Longshore/", env!("CARGO_PKG_VERSION"));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A signed `POST` of a JSON document.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The endpoint.
    pub url: &'a HandlerUrl,
    /// The message's id, the same for every attempt.
    pub id: &'a MessageId,
    /// The endpoint's secrets.
    pub secrets: &'a Secrets,
    /// The document. What is signed is what is sent.
    pub body: Bytes,
    /// The trace that the call belongs to (W3C Trace Context).
    pub traceparent: Option<HeaderValue>,
    /// The time of this attempt, which is signed.
    pub now: SystemTime,
    /// The end of the call, with all of its phases.
    pub deadline: Instant,
}

/// The outcome of a call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum CallOutcome {
    /// The endpoint answered, with any status. A redirect is an answer, too: it is not followed.
    Answered(Answer),
    /// There was no answer, or only a part of one.
    Failed(CallFailure),
}

/// An answer.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Answer {
    /// The status, from 200 to 999.
    pub status: u16,
    /// The wait that `Retry-After` asks for, not clamped.
    pub retry_after: Option<Duration>,
    /// The body as it was sent; nothing is decompressed. That of a 2xx answer is whole; that of any other is cut off at
    /// [`excerpt_bytes`](crate::limits::Limits::excerpt_bytes), or where the connection broke.
    pub body: Bytes,
}

impl Call<'_> {
    /// Builds the request.
    pub(crate) fn to_request(&self, signing: Signing) -> Result<Outgoing, CallFailure> {
        let seconds = self.now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let invalid = || CallFailure::Protocol("the request cannot be written".to_owned());
        let signed = sign(self.secrets, self.id, seconds, &self.body).ok_or_else(invalid)?;
        let mut request = Request::post(self.url.target()).body(Full::new(self.body.clone())).map_err(|_| invalid())?;
        let host = HeaderValue::try_from(self.url.origin().to_string()).map_err(|_| invalid())?;
        request.headers_mut().extend([
            (HOST, host),
            (CONTENT_TYPE, JSON),
            (ACCEPT, JSON),
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            (USER_AGENT, HeaderValue::from_static(AGENT)),
        ]);
        if signing == Signing::Signed {
            request.headers_mut().extend([
                (HeaderName::from_static("webhook-id"), signed.id),
                (HeaderName::from_static("webhook-timestamp"), signed.timestamp),
                (HeaderName::from_static("webhook-signature"), signed.signature),
            ]);
        }
        if let Some(trace) = &self.traceparent {
            request.headers_mut().insert(HeaderName::from_static("traceparent"), trace.clone());
        }
        Ok(request)
    }
}
