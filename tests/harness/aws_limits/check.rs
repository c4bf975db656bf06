//! Which service a request is for, and the form of its refusals.

use longshore::aws_limits::Refusal;
use serde_json::{Value, json};

use super::request::Head;
use super::s3::Parts;
use super::{dynamodb, s3, sqs};

/// What has to be remembered between requests.
#[derive(Debug, Default)]
pub(super) struct Checks {
    parts: Parts,
}

/// A request that is not passed on.
#[derive(Debug)]
pub(super) struct Refused {
    /// Operation, code and message.
    pub(super) call: String,
    /// The whole answer.
    pub(super) answer: Vec<u8>,
}

impl Checks {
    /// The refusal of a request, if AWS would refuse it for a limit.
    pub(super) fn refuse(&self, head: &Head, body: &[u8]) -> Option<Refused> {
        if let Some((service, operation)) = head.operation() {
            let body: Value = serde_json::from_slice(body).ok()?;
            return match service {
                "DynamoDB_20120810" => {
                    let refusal = dynamodb::check(operation, &body).err()?;
                    Some(refused(operation, &refusal, in_json("com.amazon.coral.validate", &refusal)))
                }
                "AmazonSQS" => {
                    let refusal = sqs::check(operation, &body).err()?;
                    Some(refused(operation, &refusal, in_json("com.amazonaws.sqs", &refusal)))
                }
                _ => None,
            };
        }
        let refusal = s3::check(head, body, &self.parts).err()?;
        Some(refused(&head.method, &refusal, s3::answer(&refusal)))
    }

    /// Remembers the size of a part.
    pub(super) fn note_part(&self, head: &Head, length: u64) {
        self.parts.note(head, length);
    }
}

fn refused(operation: &str, refusal: &Refusal, answer: Vec<u8>) -> Refused {
    Refused { call: format!("{operation}: {refusal}"), answer }
}

fn in_json(namespace: &str, refusal: &Refusal) -> Vec<u8> {
    let kind = format!("{namespace}#{}", refusal.code.rsplit('.').next().unwrap_or_default());
    let body = json!({ "__type": kind, "message": refusal.message, "Message": refusal.message });
    answer("application/x-amz-json-1.0", &body.to_string(), &format!("x-amzn-query-error: {};Sender\r\n", refusal.code))
}

/// An answer with status 400.
pub(super) fn answer(content_type: &str, body: &str, headers: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 400 Bad Request\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}");
    format!("{head}x-amzn-requestid: limits\r\n\r\n{body}").into_bytes()
}
