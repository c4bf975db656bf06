//! The dead-letter queues on SQS: messages are received, made visible again, and deleted once an operator has
//! resolved them.
//!
//! SQS can read messages only by receiving them, and a received message is hidden for some time: from the next sweep,
//! from the console, and from the metric of the alarms. So code that has read dead letters makes them visible again
//! immediately.

use std::collections::BTreeMap;

use aws_sdk_sqs::types::{ChangeMessageVisibilityBatchRequestEntry, Message, MessageSystemAttributeName as Name};
use longshore_domain::dead_letter::Queue;
use longshore_domain::ports::{DeadLetterQueues, PortResult, Received};
use longshore_domain::timestamp::Timestamp;

use super::{NoQueueUrl, failed};

/// Seconds for which a received message stays invisible, unless it is made visible again: longer than a sweep reads,
/// shorter than a person waits.
const VISIBILITY_S: i32 = 20;

/// Maximum number of messages in one call: SQS's limit.
const CALL_MESSAGES: usize = 10;

/// The dead-letter queues on SQS.
#[derive(Clone, Debug)]
pub struct SqsDeadLetters {
    client: aws_sdk_sqs::Client,
    urls: BTreeMap<Queue, String>,
}

impl SqsDeadLetters {
    /// Creates the dead-letter queues at these URLs.
    pub fn new(client: aws_sdk_sqs::Client, urls: BTreeMap<Queue, String>) -> Self {
        Self { client, urls }
    }

    fn url(&self, queue: Queue, operation: &'static str) -> PortResult<&str> {
        let url = self.urls.get(&queue).ok_or_else(|| NoQueueUrl(format!("{} dead-letter", queue.as_str())));
        url.map(String::as_str).map_err(failed(operation))
    }
}

impl DeadLetterQueues for SqsDeadLetters {
    /// ReceiveMessage.
    async fn receive(&self, queue: Queue) -> PortResult<Vec<Received>> {
        let call = self.client.receive_message().queue_url(self.url(queue, "receive")?);
        let call = call.visibility_timeout(VISIBILITY_S).max_number_of_messages(CALL_MESSAGES as i32);
        let answer = call.message_system_attribute_names(Name::All).send().await.map_err(failed("receive"))?;
        Ok(answer.messages.unwrap_or_default().into_iter().map(|message| received(queue, message)).collect())
    }

    /// DeleteMessage.
    async fn delete(&self, dead_letter: &Received) -> PortResult<()> {
        let call = self.client.delete_message().queue_url(self.url(dead_letter.queue, "delete")?);
        call.receipt_handle(&dead_letter.handle).send().await.map(|_| ()).map_err(failed("delete"))
    }

    /// ChangeMessageVisibilityBatch to zero. If it refuses a message, the visibility timeout ends by itself.
    async fn make_visible(&self, dead_letters: &[&Received]) -> PortResult<()> {
        for batch in dead_letters.chunks(CALL_MESSAGES) {
            let Some(first) = batch.first() else { break };
            let entry = |(n, dead_letter): (usize, &&Received)| {
                let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(n.to_string());
                entry.receipt_handle(&dead_letter.handle).visibility_timeout(0).build().map_err(failed("make_visible"))
            };
            let entries: PortResult<Vec<_>> = batch.iter().enumerate().map(entry).collect();
            let call = self.client.change_message_visibility_batch().queue_url(self.url(first.queue, "make_visible")?);
            call.set_entries(Some(entries?)).send().await.map_err(failed("make_visible"))?;
        }
        Ok(())
    }
}

fn received(queue: Queue, mut message: Message) -> Received {
    let body = message.body.take().unwrap_or_default();
    let attribute = |name| message.attributes().and_then(|all| all.get(&name)).cloned();
    let number = |name| attribute(name).and_then(|digits| digits.parse::<i64>().ok()).unwrap_or_default();
    let source = attribute(Name::DeadLetterQueueSourceArn);
    Received {
        queue,
        message_id: message.message_id().unwrap_or_default().to_owned(),
        body,
        sent_at: Timestamp(number(Name::SentTimestamp)),
        receives: u32::try_from(number(Name::ApproximateReceiveCount)).unwrap_or(u32::MAX),
        source: source.and_then(|arn| arn.rsplit(':').next().map(str::to_owned)),
        group_id: attribute(Name::MessageGroupId),
        handle: message.receipt_handle().unwrap_or_default().to_owned(),
    }
}
