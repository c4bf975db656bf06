//! Refusals in the form of the service that a request is for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use longshore::aws_limits::Refusal;
use serde_json::Value;

/// A request that is refused instead of being forwarded.
#[derive(Debug)]
pub(super) struct Refused {
    /// Operation, code and message, if a limit is the cause. `None` for a conflict: the call succeeds when the client
    /// retries it.
    pub(super) limit: Option<String>,
    /// The complete HTTP response.
    pub(super) answer: Vec<u8>,
}

/// Refusals so far.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    limits: Mutex<Vec<String>>,
    conflicts: AtomicUsize,
}

impl Refusals {
    /// Records a refusal, and reports it on standard error if a limit is its cause.
    pub(super) fn record(&self, refused: &Refused) {
        match &refused.limit {
            Some(limit) => {
                eprintln!("AWS would refuse: {limit}");
                self.limits.lock().unwrap_or_else(PoisonError::into_inner).push(limit.clone());
            }
            None => drop(self.conflicts.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// Refusals because of a limit.
    pub(super) fn limits(&self) -> Vec<String> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Number of refusals because of a conflict.
    pub(super) fn conflicts(&self) -> usize {
        self.conflicts.load(Ordering::Relaxed)
    }
}

/// A refusal because of a limit.
pub(super) fn refused(operation: &str, refusal: &Refusal, answer: Vec<u8>) -> Refused {
    Refused { limit: Some(format!("{operation}: {refusal}")), answer }
}

/// A refusal in the form of the services that use JSON, with additional members besides code and message.
pub(super) fn in_json(namespace: &str, refusal: &Refusal, mut body: Value) -> Vec<u8> {
    body["__type"] = format!("{namespace}#{}", refusal.code.rsplit('.').next().unwrap_or_default()).into();
    body["message"] = refusal.message.as_str().into();
    body["Message"] = refusal.message.as_str().into();
    answer("application/x-amz-json-1.0", &body.to_string(), &format!("x-amzn-query-error: {};Sender\r\n", refusal.code))
}

/// A refusal in S3's form.
pub(super) fn in_xml(refusal: &Refusal) -> Vec<u8> {
    let text = refusal.message.replace('&', "&amp;").replace('<', "&lt;");
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>{text}</Message></Error>", refusal.code);
    answer("application/xml", &body, "")
}

/// A response with status 400.
fn answer(content_type: &str, body: &str, headers: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 400 Bad Request\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}");
    format!("{head}x-amzn-requestid: limits\r\n\r\n{body}").into_bytes()
}
