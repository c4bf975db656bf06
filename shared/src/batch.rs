//! Serves a function whose trigger is a queue: message by message, with a partial batch response.
//!
//! A message that fails, or that cannot be parsed, is reported as failed: it comes back, and in the end reaches its
//! dead-letter queue. Nothing accepted may vanish. On a FIFO queue the rest of the failed message's group is reported
//! as failed with it, unworked, for what is reported as done is deleted, and order would be lost.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Instant;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures::future::BoxFuture;
use lambda_runtime::{LambdaEvent, service_fn};
use longshore_domain::time_stamp::Timestamp;
use serde::de::DeserializeOwned;

use crate::config::take_calls;
use crate::telemetry;

/// Time kept at the end of an invocation for the commit, the continuation and the answer.
const RESERVE_MS: i64 = 4_000;

/// What is known of a message beside what it says.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Delivery {
    /// When its function should have stopped by itself.
    pub deadline: Timestamp,
    /// Deliveries of the message before this one. They failed, or their worker died.
    pub failures: u32,
}

/// What a queue's function does with one message.
pub trait MessageHandler: Send + Sync {
    /// What the message says.
    type Message: DeserializeOwned + Send;
    /// Name of the function, for its logs.
    const FUNCTION: &'static str;

    /// Works one message. The answer says what became of it.
    fn handle(
        &self,
        message: Self::Message,
        delivery: Delivery,
    ) -> impl Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send;
}

/// Runs the Lambda runtime with this handler until the process is ended.
///
/// # Errors
/// If the runtime's API fails.
pub async fn serve(handler: impl MessageHandler) -> Result<(), lambda_runtime::Error> {
    let handler = &handler;
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async move {
        let (started, now) = (Instant::now(), Timestamp::now());
        let ends = Timestamp(i64::try_from(event.context.deadline).unwrap_or(i64::MAX));
        // A quarter of a short timeout, so that quick test stacks keep time to work.
        let reserve_ms = RESERVE_MS.min(ends.millis_since(now) / 4);
        let answer = work(handler, event.payload, Timestamp(ends.0 - reserve_ms)).await;
        telemetry::record_invocation(&function_name(handler), started, &take_calls());
        Ok::<_, lambda_runtime::Error>(answer)
    }))
    .await
}

fn function_name<H: MessageHandler>(_: &H) -> String {
    H::FUNCTION.to_owned()
}

/// Works the messages in order and reports those that failed.
pub async fn work<H: MessageHandler>(handler: &H, event: SqsEvent, deadline: Timestamp) -> SqsBatchResponse {
    let (mut failures, mut stopped_groups) = (Vec::new(), BTreeSet::new());
    for record in event.records {
        let group = fifo_group(&record);
        let skipped = group.as_ref().is_some_and(|group| stopped_groups.contains(group));
        if skipped || !handle_one(handler, &record, deadline).await {
            stopped_groups.extend(group);
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = record.message_id.unwrap_or_default();
            failures.push(failure);
        }
    }
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failures;
    response
}

/// The message group, if the queue is a FIFO queue; on others it is only the tenant's share.
fn fifo_group(record: &SqsMessage) -> Option<String> {
    let fifo = record.event_source_arn.as_ref().is_some_and(|arn| arn.ends_with(".fifo"));
    record.attributes.get("MessageGroupId").filter(|_| fifo).cloned()
}

async fn handle_one<H: MessageHandler>(handler: &H, record: &SqsMessage, deadline: Timestamp) -> bool {
    let message_id = record.message_id.as_deref().unwrap_or_default();
    let message = match serde_json::from_str(record.body.as_deref().unwrap_or_default()) {
        Ok(message) => message,
        Err(error) => {
            tracing::error!(message.id = message_id, %error, "a message cannot be parsed; it goes to the dead-letter queue");
            return false;
        }
    };
    let received = record.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse::<u32>().ok());
    let delivery = Delivery { deadline, failures: received.unwrap_or(1).saturating_sub(1) };
    // Boxed: the futures of the SDK nest deeper than the compiler cares to lay out in one type.
    let done: BoxFuture<'_, _> = Box::pin(handler.handle(message, delivery));
    match done.await {
        Ok(end) => {
            tracing::debug!(message.id = message_id, end, "message done");
            true
        }
        Err(error) => {
            let error = telemetry::chain(error.as_ref());
            tracing::error!(message.id = message_id, error, "a message failed; it will be delivered again");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FailsOn(u32);

    impl MessageHandler for FailsOn {
        type Message = u32;
        const FUNCTION: &'static str = "test";

        async fn handle(&self, message: u32, _: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
            if message == self.0 { Err("asked to".into()) } else { Ok("done".into()) }
        }
    }

    fn event(queue: &str, messages: &[(&str, &str)]) -> SqsEvent {
        let records: Vec<_> = messages
            .iter()
            .map(|(group, body)| {
                serde_json::json!({"messageId": body, "body": body, "attributes": {"MessageGroupId": group},
                    "messageAttributes": {}, "eventSourceARN": format!("arn:aws:sqs:r:1:{queue}")})
            })
            .collect();
        serde_json::from_value(serde_json::json!({ "Records": records })).unwrap()
    }

    async fn failed(queue: &str, messages: &[(&str, &str)]) -> Vec<String> {
        let answer = work(&FailsOn(2), event(queue, messages), Timestamp(0)).await;
        answer.batch_item_failures.into_iter().map(|f| f.item_identifier).collect()
    }

    #[tokio::test]
    async fn a_standard_queue_reports_only_what_failed() {
        assert_eq!(failed("chunks", &[("t", "1"), ("t", "2"), ("t", "3")]).await, ["2"]);
    }

    /// Works a message only after as many failures as it says.
    struct AfterFailures;

    impl MessageHandler for AfterFailures {
        type Message = u32;
        const FUNCTION: &'static str = "test";

        async fn handle(&self, message: u32, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
            if delivery.failures == message { Ok("done".into()) } else { Err("not yet".into()) }
        }
    }

    #[tokio::test]
    async fn a_handler_is_told_how_often_its_message_failed() {
        for (received, failures) in [("1", "0"), ("3", "2"), ("", "0")] {
            let mut event = event("chunks", &[("t", failures)]);
            event.records[0].attributes.insert("ApproximateReceiveCount".into(), received.into());
            let answer = work(&AfterFailures, event, Timestamp(0)).await;
            assert!(answer.batch_item_failures.is_empty(), "received {received}");
        }
    }

    #[tokio::test]
    async fn a_fifo_queue_stops_the_failed_messages_group_and_no_other() {
        let messages = [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")];
        assert_eq!(failed("create-job.fifo", &messages).await, ["2", "4"]);
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_parsed_fails_through_to_its_dead_letter_queue() {
        assert_eq!(failed("chunks", &[("t", "not json"), ("t", "1")]).await, ["not json"]);
    }
}
