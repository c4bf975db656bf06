//! Checks of SQS's calls.

use longshore::aws_limits::Refusal;
use longshore::aws_limits::sqs::{Sent, check_batch, check_message};
use serde_json::Value;

/// Checks a call. SQS refuses single entries of a batch. The proxy refuses the complete call, because it cannot build
/// the response to a batch. This system must not send an entry that SQS refuses.
pub(super) fn check(operation: &str, call: &Value) -> Result<(), Refusal> {
    match operation {
        "SendMessage" => check_message(&sent(call, &call["MessageBody"])),
        "SendMessageBatch" => {
            let entries = call["Entries"].as_array().map(Vec::as_slice).unwrap_or_default();
            let bytes: Vec<_> =
                entries.iter().map(|entry| entry["MessageBody"].as_str().unwrap_or_default().len()).collect();
            check_batch(&bytes)?;
            entries.iter().try_for_each(|entry| check_message(&sent(entry, &entry["MessageBody"])))
        }
        "ReceiveMessage" if call["MaxNumberOfMessages"].as_i64().is_some_and(|most| !(1..=10).contains(&most)) => {
            Err(Refusal::new(
                "InvalidParameterValue",
                "Value for parameter MaxNumberOfMessages is invalid. Reason: must be between 1 and 10",
            ))
        }
        _ => Ok(()),
    }
}

fn sent<'a>(message: &'a Value, body: &'a Value) -> Sent<'a> {
    Sent {
        body: body.as_str().unwrap_or_default(),
        group_id: message["MessageGroupId"].as_str(),
        deduplication_id: message["MessageDeduplicationId"].as_str(),
        delay_s: message["DelaySeconds"].as_i64().unwrap_or_default(),
    }
}
