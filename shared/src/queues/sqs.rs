//! The queues on SQS: two FIFO queues for control messages, and a standard queue for the chunks of each priority.
//!
//! Every send may happen twice (the SDK repeats a call whose response was lost): on the FIFO queues deduplication drops
//! the second within five minutes, and a duplicate chunk message is harmless.

use aws_sdk_sqs::types::{BatchResultErrorEntry, QueueAttributeName, SendMessageBatchRequestEntry};
use longshore_domain::dead_letter::{DeadLetterRecord, Queue};
use longshore_domain::job::{ChunkQueue, Priority};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage, WebhookMessage};
use longshore_domain::ports::{InFlight, PingQueue, PortResult, QueueDepth, Queues, RedriveToSource, Visibility};
use longshore_domain::tenant::TenantId;
use serde::Serialize;

use super::body::body;
use super::urls::QueueUrls;
use super::{NoQueueUrl, failed};
use crate::aws_limits::sqs::{self, BATCH_MESSAGES};
use crate::back_off::{self, BackOff};

/// Maximum bytes in one batch: SQS's limit, minus a reserve for attributes.
const BATCH_BYTES: usize = sqs::BATCH_BYTES - (16 << 10);

/// The queues on SQS.
#[derive(Clone, Debug)]
pub struct SqsQueues {
    client: aws_sdk_sqs::Client,
    urls: QueueUrls,
}

/// Error of a batch that SQS accepted only in part, repeatedly.
#[derive(Debug, thiserror::Error)]
#[error("SQS refused {count} messages of a batch: {code}")]
struct RefusedEntries {
    count: usize,
    code: String,
}

impl SqsQueues {
    /// Creates the queues at these URLs.
    pub fn new(client: aws_sdk_sqs::Client, urls: QueueUrls) -> Self {
        Self { client, urls }
    }

    async fn send_fifo(&self, to: Fifo<'_>, message: &impl Serialize) -> PortResult<()> {
        let body = body(message).map_err(failed(to.operation))?;
        self.client
            .send_message()
            .queue_url(to.url)
            .message_body(body)
            .message_group_id(to.group)
            .message_deduplication_id(to.deduplication)
            .send()
            .await
            .map(|_| ())
            .map_err(failed(to.operation))
    }

    /// SendMessageBatch. Sends entries that SQS could not accept again. An entry that SQS will never accept is an
    /// error.
    async fn send_batch(
        &self,
        operation: &'static str,
        url: &str,
        mut entries: Vec<SendMessageBatchRequestEntry>,
    ) -> PortResult<()> {
        let mut back_off = BackOff::new(back_off::sleep);
        loop {
            let batch = self.client.send_message_batch().queue_url(url).set_entries(Some(entries.clone()));
            let refused = batch.send().await.map_err(failed(operation))?.failed;
            let Some(first) = refused.first() else { return Ok(()) };
            // SQS refuses parts of batches if it is overloaded, so wait before the next call.
            if refused.iter().any(BatchResultErrorEntry::sender_fault) || !back_off.wait().await {
                let error = RefusedEntries { count: refused.len(), code: first.code().to_owned() };
                return Err(failed(operation)(error));
            }
            entries.retain(|entry| refused.iter().any(|refusal| refusal.id() == entry.id()));
        }
    }
}

impl Queues for SqsQueues {
    async fn send_create(&self, message: &CreateMessage) -> PortResult<()> {
        let to = Fifo {
            operation: "send_create",
            url: self.urls.create("send_create")?,
            group: message.group_id(),
            deduplication: message.deduplication_id(),
        };
        self.send_fifo(to, message).await
    }

    async fn send_prepare(&self, message: &CreateMessage) -> PortResult<()> {
        let to = Fifo {
            operation: "send_prepare",
            url: self.urls.prepare("send_prepare")?,
            group: message.preparation_group_id(),
            deduplication: message.deduplication_id(),
        };
        self.send_fifo(to, message).await
    }

    async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()> {
        for queue in ChunkQueue::ALL {
            let own = messages.iter().filter(|message| message.queue() == queue);
            let own = own.map(|message| (&message.tenant, message));
            for batch in batches(own, delay_s).map_err(failed("send_chunks"))? {
                self.send_batch("send_chunks", self.urls.chunks(queue, "send_chunks")?, batch).await?;
            }
        }
        Ok(())
    }

    async fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> PortResult<()> {
        const SEND: &str = "send_webhooks";
        let messages = messages.iter().map(|message| (message.tenant(), message));
        for batch in batches(messages, delay_s).map_err(failed(SEND))? {
            self.send_batch(SEND, self.urls.webhooks(SEND)?, batch).await?;
        }
        Ok(())
    }

    async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()> {
        let to = Fifo {
            operation: "send_complete",
            url: self.urls.complete("send_complete")?,
            group: message.group_id(),
            deduplication: message.deduplication_id(),
        };
        self.send_fifo(to, message).await
    }
}

impl PingQueue for SqsQueues {
    /// SendMessage, without a message group.
    async fn send_ping(&self, message: &PingMessage) -> PortResult<()> {
        let url = self.urls.chunks(ChunkQueue::Handler, "send_ping")?;
        let body = body(message).map_err(failed("send_ping"))?;
        let send = self.client.send_message().queue_url(url).message_body(body);
        send.send().await.map(|_| ()).map_err(failed("send_ping"))
    }
}

impl QueueDepth for SqsQueues {
    /// GetQueueAttributes of the queue.
    async fn chunks(&self, queue: ChunkQueue) -> PortResult<u64> {
        use QueueAttributeName as Name;
        let kinds = [
            Name::ApproximateNumberOfMessages,
            Name::ApproximateNumberOfMessagesNotVisible,
            Name::ApproximateNumberOfMessagesDelayed,
        ];
        self.depth("chunks", self.urls.chunks(queue, "chunks")?, &kinds).await
    }

    /// GetQueueAttributes of the queue.
    async fn webhooks(&self) -> PortResult<u64> {
        use QueueAttributeName as Name;
        let kinds = [Name::ApproximateNumberOfMessages, Name::ApproximateNumberOfMessagesNotVisible];
        self.depth("webhooks", self.urls.webhooks("webhooks")?, &kinds).await
    }
}

impl SqsQueues {
    /// Returns the sum of these numbers of a queue.
    async fn depth(&self, operation: &'static str, url: &str, kinds: &[QueueAttributeName]) -> PortResult<u64> {
        let ask = self.client.get_queue_attributes().queue_url(url).set_attribute_names(Some(kinds.to_vec()));
        let answer = ask.send().await.map_err(failed(operation))?.attributes.unwrap_or_default();
        Ok(kinds.iter().filter_map(|kind| answer.get(kind)?.parse::<u64>().ok()).sum())
    }
}

impl Visibility for SqsQueues {
    /// ChangeMessageVisibility. The function's own source queue is one of the queues to which it sends, so its URL is
    /// known.
    async fn hide(&self, message: &InFlight<'_>, seconds: i32) -> PortResult<()> {
        let own = message.queue_arn.rsplit(':').next();
        let all =
            self.urls.chunks.values().chain(&self.urls.create).chain(&self.urls.complete).chain(&self.urls.webhooks);
        let url = all.into_iter().find(|url| url.rsplit('/').next() == own);
        let url = url.ok_or_else(|| NoQueueUrl(message.queue_arn.to_owned())).map_err(failed("hide"))?;
        let call = self.client.change_message_visibility().queue_url(url).receipt_handle(message.handle);
        call.visibility_timeout(seconds.min(sqs::VISIBILITY_SECONDS as i32))
            .send()
            .await
            .map(|_| ())
            .map_err(failed("hide"))
    }
}

impl RedriveToSource for SqsQueues {
    /// SendMessage. A chunk whose source queue is unknown goes to the queue of normal priority.
    async fn redrive_to_source(&self, dead_letter: &DeadLetterRecord, body: &str) -> PortResult<()> {
        let url = match dead_letter.queue {
            Queue::Create => self.urls.create("redrive_to_source")?,
            Queue::Complete => self.urls.complete("redrive_to_source")?,
            Queue::Chunk => {
                let is_source = |url: &&String| {
                    dead_letter.source.as_deref().is_some_and(|name| url.rsplit('/').next() == Some(name))
                };
                match self.urls.chunks.values().find(is_source) {
                    Some(url) => url,
                    None => self.urls.chunks(ChunkQueue::Priority(Priority::Normal), "redrive_to_source")?,
                }
            }
        };
        let mut send = self.client.send_message().queue_url(url).message_body(body);
        send = send.set_message_group_id(dead_letter.group_id.clone());
        if dead_letter.queue != Queue::Chunk {
            send = send
                .message_group_id(dead_letter.group_id.as_deref().unwrap_or(&dead_letter.id))
                .message_deduplication_id(&dead_letter.id);
        }
        send.send().await.map(|_| ()).map_err(failed("redrive_to_source"))
    }
}

/// Parameters of a send to a FIFO queue.
struct Fifo<'a> {
    operation: &'static str,
    url: &'a str,
    group: String,
    deduplication: String,
}

/// Packs messages of tenants in order into as few batches as SQS allows.
fn batches<'a>(
    messages: impl Iterator<Item = (&'a TenantId, impl Serialize)>,
    delay_s: i32,
) -> Result<Vec<Vec<SendMessageBatchRequestEntry>>, Box<dyn std::error::Error + Send + Sync>> {
    let (mut batches, mut bytes) = (vec![Vec::new()], 0);
    for (tenant, message) in messages {
        let body = body(&message)?;
        let open = batches.last().map_or(0, Vec::len);
        if open == BATCH_MESSAGES || (open > 0 && bytes + body.len() > BATCH_BYTES) {
            batches.push(Vec::new());
            bytes = 0;
        }
        bytes += body.len();
        if let Some(batch) = batches.last_mut() {
            let entry = SendMessageBatchRequestEntry::builder().id(batch.len().to_string()).message_body(body);
            batch.push(entry.message_group_id(tenant.as_str()).delay_seconds(delay_s).build()?);
        }
    }
    batches.retain(|batch| !batch.is_empty());
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::job::Job;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    fn message(chunk: u32, bytes: usize) -> ChunkMessage {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: bytes as u64, oversize: false, keys: None };
        ChunkMessage { inline: Some("x".repeat(bytes)), ..ChunkMessage::new(&job, ChunkId::new(0, chunk), &plan) }
    }

    #[test]
    fn batches_are_within_the_limits_of_sqs_and_in_order() {
        for (count, bytes, expected) in
            [(0, 10, vec![]), (25, 10, vec![10, 10, 5]), (4, 400_000, vec![2, 2]), (2, 1_040_000, vec![1, 1])]
        {
            let messages: Vec<_> = (0..count).map(|chunk| message(chunk, bytes)).collect();
            let entries = batches(messages.iter().map(|message| (&message.tenant, message)), 7).unwrap();
            assert_eq!(entries.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{count} of {bytes}");
            let bodies = entries.iter().flatten().map(|e| serde_json::from_str(e.message_body()).unwrap());
            assert_eq!(bodies.collect::<Vec<ChunkMessage>>(), messages);
        }
    }

    #[test]
    fn an_entry_has_the_delay_and_the_message_group_of_its_tenant() {
        let message = message(0, 1);
        let entries = batches([(&message.tenant, &message)].into_iter(), 900).unwrap();
        assert_eq!((entries[0][0].delay_seconds(), entries[0][0].message_group_id()), (Some(900), Some("t")));
    }
}
