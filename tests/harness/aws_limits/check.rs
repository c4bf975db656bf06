//! Selection of the checks for a request, by its service.

use longshore::aws_limits::Refusal;
use serde_json::{Value, json};

use super::dynamodb::{Conflicts, InFlight};
use super::refused::{Refused, in_json, in_xml, refused};
use super::request::Head;
use super::s3::Parts;
use super::{dynamodb, s3, sqs};

/// State that is kept between requests.
#[derive(Debug, Default)]
pub(super) struct Checks {
    parts: Parts,
    conflicts: Conflicts,
}

impl Checks {
    /// Checks a request. Returns the guard to hold until the request is answered.
    ///
    /// # Errors
    /// The response, if AWS would refuse the request.
    pub(super) fn pass(&self, head: &Head, body: &[u8]) -> Result<Option<InFlight>, Refused> {
        let Some((service, operation)) = head.operation() else {
            let refusal = |refusal: Refusal| refused(&head.method, &refusal, in_xml(&refusal));
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
        self.parts.record(head, length);
    }
}
