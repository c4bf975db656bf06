//! Choice of the service that a request is for, and the form of its refusals.

use longshore::aws_limits::Refusal;
use serde_json::{Value, json};

use super::conflicts::{Conflicts, InFlight};
use super::request::Head;
use super::s3::Parts;
use super::{dynamodb, s3, sqs};

/// State that is kept between requests.
#[derive(Debug, Default)]
pub(super) struct Checks {
    parts: Parts,
    conflicts: Conflicts,
}

/// A request that is refused instead of being forwarded.
#[derive(Debug)]
pub(super) struct Refused {
    /// Operation, code and message, if a limit is the cause. `None` for a conflict: the client retries the call, and
    /// then it succeeds.
    pub(super) limit: Option<String>,
    /// The complete HTTP response.
    pub(super) answer: Vec<u8>,
}

impl Checks {
    /// Checks a request. Returns the guard to hold until the request is answered.
    ///
    /// # Errors
    /// Returns the response, if AWS would refuse the request.
    pub(super) fn pass(&self, head: &Head, body: &[u8]) -> Result<Option<InFlight>, Refused> {
        let Some((service, operation)) = head.operation() else {
            let refusal = |refusal: Refusal| refused(&head.method, &refusal, s3::answer(&refusal));
            return s3::check(head, body, &self.parts).map(|()| None).map_err(refusal);
        };
        let Ok(call) = serde_json::from_slice::<Value>(body) else { return Ok(None) };
        let refusal = |namespace: &'static str| {
            move |refusal: Refusal| refused(operation, &refusal, in_json(namespace, &refusal, json!({})))
        };
        match service {
            "DynamoDB_20120810" => {
                dynamodb::check(operation, &call).map_err(refusal("com.amazon.coral.validate"))?;
                self.conflicts.begin(operation, &call).map_err(|answer| Refused { limit: None, answer })
            }
            "AmazonSQS" => sqs::check(operation, &call).map(|()| None).map_err(refusal("com.amazonaws.sqs")),
            _ => Ok(None),
        }
    }

    /// Records the size of a part.
    pub(super) fn record_part(&self, head: &Head, length: u64) {
        self.parts.note(head, length);
    }
}

fn refused(operation: &str, refusal: &Refusal, answer: Vec<u8>) -> Refused {
    Refused { limit: Some(format!("{operation}: {refusal}")), answer }
}

/// A refusal in the form of the services that speak JSON, with further members besides code and message.
pub(super) fn in_json(namespace: &str, refusal: &Refusal, mut body: Value) -> Vec<u8> {
    body["__type"] = format!("{namespace}#{}", refusal.code.rsplit('.').next().unwrap_or_default()).into();
    body["message"] = refusal.message.as_str().into();
    body["Message"] = refusal.message.as_str().into();
    answer("application/x-amz-json-1.0", &body.to_string(), &format!("x-amzn-query-error: {};Sender\r\n", refusal.code))
}

/// A response with status 400.
pub(super) fn answer(content_type: &str, body: &str, headers: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 400 Bad Request\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}");
    format!("{head}x-amzn-requestid: limits\r\n\r\n{body}").into_bytes()
}
