//! Calls of a check of an endpoint: they can be unsigned, and their outcome has headers that no other call looks at.

use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName, LOCATION};

use crate::call::CallOutcome;
use crate::failure::reason_text;

/// The signature of a request.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Signing {
    /// With the secrets of the call.
    Signed,
    /// None: the request has no header of Standard Webhooks.
    Unsigned,
}

/// The outcome of a call, with headers of its answer.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Probed {
    /// The outcome.
    pub outcome: CallOutcome,
    /// Headers of the answer, if there was one.
    pub headers: AnswerHeaders,
}

/// Headers of an answer, shortened and without control characters.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct AnswerHeaders {
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `Location`, the target of a redirect
    pub location: Option<String>,
}

impl AnswerHeaders {
    pub(crate) fn new(headers: &HeaderMap) -> Self {
        let text = |name: &HeaderName| Some(reason_text(&String::from_utf8_lossy(headers.get(name)?.as_bytes())));
        Self { content_type: text(&CONTENT_TYPE), location: text(&LOCATION) }
    }
}
