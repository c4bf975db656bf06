//! The queues in memory, for tests: they keep sent messages until a test takes and delivers them as it likes: once,
//! twice, late, or not at all. They refuse messages that SQS refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longshore_domain::dead_letter::{self, Queue};
use longshore_domain::job::ChunkQueue;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage, WebhookMessage};
use longshore_domain::ports::{
    DeadLetterQueues, MessageCounts, PingQueue, PortError, PortResult, QueueAges, QueueCounts, QueueDepth, Queues,
    Received, RedriveToSource, StackQueue,
};

use serde::Serialize;

use longshore::aws_limits::sqs::{Sent, check_message};
use longshore::queues::body;

/// Queues in memory; clones share their messages.
#[derive(Clone, Debug, Default)]
pub struct MemoryQueues(Arc<Mutex<Messages>>);

#[derive(Debug, Default)]
struct Messages {
    creates: Vec<CreateMessage>,
    prepares: Vec<CreateMessage>,
    chunks: Vec<SentChunk>,
    completes: Vec<CompleteMessage>,
    pings: Vec<PingMessage>,
    webhooks: Vec<SentWebhook>,
    deduplication_ids: BTreeSet<String>,
    dead: Vec<Received>,
    hidden: BTreeSet<String>,
    redrive_to_source: Vec<(Queue, String)>,
    counts: BTreeMap<StackQueue, MessageCounts>,
    ages: Option<BTreeMap<StackQueue, u64>>,
}

/// A chunk message as it was sent.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct SentChunk {
    /// The message.
    pub message: ChunkMessage,
    /// Delay in seconds.
    pub delay_s: i32,
}

/// A message about webhooks as it was sent.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct SentWebhook {
    /// The message.
    pub message: WebhookMessage,
    /// Delay in seconds.
    pub delay_s: i32,
}

impl MemoryQueues {
    /// Takes all messages about webhooks.
    pub fn take_webhooks(&self) -> Vec<SentWebhook> {
        std::mem::take(&mut self.messages().webhooks)
    }

    /// Takes all create messages.
    pub fn take_creates(&self) -> Vec<CreateMessage> {
        std::mem::take(&mut self.messages().creates)
    }

    /// Takes all requests to prepare a file.
    pub fn take_prepares(&self) -> Vec<CreateMessage> {
        std::mem::take(&mut self.messages().prepares)
    }

    /// Takes all chunk messages.
    pub fn take_chunks(&self) -> Vec<SentChunk> {
        std::mem::take(&mut self.messages().chunks)
    }

    /// Takes all complete messages.
    pub fn take_completes(&self) -> Vec<CompleteMessage> {
        std::mem::take(&mut self.messages().completes)
    }

    /// Takes all requests to ping a handler.
    pub fn take_pings(&self) -> Vec<PingMessage> {
        std::mem::take(&mut self.messages().pings)
    }

    /// Simulates the passing of five minutes: forgets all deduplication ids.
    pub fn forget_deduplication(&self) {
        self.messages().deduplication_ids.clear();
    }

    /// Adds a message that was received too often, as in its dead-letter queue.
    pub fn add_dead_letter(&self, dead_letter: Received) {
        self.messages().dead.push(dead_letter);
    }

    /// Ends the visibility timeout of all received dead-letter messages.
    pub fn make_all_visible(&self) {
        self.messages().hidden.clear();
    }

    /// Returns the ids of the messages in the dead-letter queues.
    pub fn dead_letters_left(&self) -> Vec<String> {
        self.messages().dead.iter().map(|dead_letter| dead_letter.message_id.clone()).collect()
    }

    /// Takes all bodies that were redriven to their source queue, each with its dead-letter queue.
    pub fn take_redriven(&self) -> Vec<(Queue, String)> {
        std::mem::take(&mut self.messages().redrive_to_source)
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryQueues {
    /// Sets the numbers of messages of a queue, and the age of its oldest message. Without ages, CloudWatch does not
    /// answer.
    pub fn set_statistics(&self, queue: StackQueue, counts: MessageCounts, oldest_seconds: Option<u64>) {
        let mut messages = self.messages();
        messages.counts.insert(queue, counts);
        if let Some(seconds) = oldest_seconds {
            messages.ages.get_or_insert_default().insert(queue, seconds);
        }
    }
}

impl QueueCounts for MemoryQueues {
    async fn message_counts(&self, queue: StackQueue) -> PortResult<MessageCounts> {
        Ok(self.messages().counts.get(&queue).copied().unwrap_or_default())
    }
}

impl QueueAges for MemoryQueues {
    async fn oldest_ages(&self) -> PortResult<BTreeMap<StackQueue, u64>> {
        let unanswered = || PortError { service: "cloudwatch", operation: "oldest_ages", source: "no answer".into() };
        self.messages().ages.clone().ok_or_else(unanswered)
    }
}

impl Queues for MemoryQueues {
    async fn send_create(&self, message: &CreateMessage) -> PortResult<()> {
        let ids = [message.group_id(), message.deduplication_id()];
        check_control("send_create", message, &ids)?;
        let mut messages = self.messages();
        if messages.deduplication_ids.insert(format!("create {} {}", message.group_id(), message.deduplication_id())) {
            messages.creates.push(message.clone());
        }
        Ok(())
    }

    async fn send_prepare(&self, message: &CreateMessage) -> PortResult<()> {
        let ids = [message.preparation_group_id(), message.deduplication_id()];
        check_control("send_prepare", message, &ids)?;
        let mut messages = self.messages();
        if messages.deduplication_ids.insert(format!(
            "prepare {} {}",
            message.preparation_group_id(),
            message.deduplication_id()
        )) {
            messages.prepares.push(message.clone());
        }
        Ok(())
    }

    async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()> {
        // As in a batch of SQS: a refused message does not hold back the others.
        let mut refused = None;
        for message in messages {
            match check_chunk(message, delay_s) {
                Ok(()) => self.messages().chunks.push(SentChunk { message: message.clone(), delay_s }),
                Err(refusal) => refused = Some(refusal),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()> {
        let ids = [message.group_id(), message.deduplication_id()];
        check_control("send_complete", message, &ids)?;
        let mut messages = self.messages();
        if messages.deduplication_ids.insert(format!("complete {} {}", message.group_id(), message.deduplication_id()))
        {
            messages.completes.push(message.clone());
        }
        Ok(())
    }

    async fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> PortResult<()> {
        const SEND: &str = "send_webhooks";
        for message in messages {
            let (body, group_id) = (body(message).map_err(failed(SEND))?, Some(message.tenant().as_str()));
            let sent = Sent { body: &body, group_id, delay_s: i64::from(delay_s), ..Sent::default() };
            check_message(&sent).map_err(failed(SEND))?;
            self.messages().webhooks.push(SentWebhook { message: message.clone(), delay_s });
        }
        Ok(())
    }
}

impl PingQueue for MemoryQueues {
    async fn send_ping(&self, message: &PingMessage) -> PortResult<()> {
        let body = body(message).map_err(failed("send_ping"))?;
        check_message(&Sent { body: &body, ..Sent::default() }).map_err(failed("send_ping"))?;
        self.messages().pings.push(message.clone());
        Ok(())
    }
}

impl QueueDepth for MemoryQueues {
    async fn chunks(&self, queue: ChunkQueue) -> PortResult<u64> {
        Ok(self.messages().chunks.iter().filter(|sent| sent.message.queue() == queue).count() as u64)
    }

    async fn webhooks(&self) -> PortResult<u64> {
        Ok(self.messages().webhooks.iter().filter(|sent| sent.delay_s == 0).count() as u64)
    }
}

impl DeadLetterQueues for MemoryQueues {
    async fn receive(&self, queue: Queue) -> PortResult<Vec<Received>> {
        let mut messages = self.messages();
        let is_hidden = |dead_letter: &&Received| messages.hidden.contains(&dead_letter.message_id);
        // FIFO queues: one call returns several messages of a group, and the next one none while these are in flight.
        let in_flight = messages.dead.iter().filter(|dead_letter| dead_letter.queue == queue && queue != Queue::Chunk);
        let in_flight: BTreeSet<_> =
            in_flight.filter(is_hidden).filter_map(|dead_letter| dead_letter.group_id.clone()).collect();
        let is_next =
            |dead_letter: &&Received| dead_letter.group_id.as_ref().is_none_or(|group| !in_flight.contains(group));
        let visible =
            |dead_letter: &&Received| dead_letter.queue == queue && !is_hidden(dead_letter) && is_next(dead_letter);
        let received: Vec<_> = messages.dead.iter().filter(visible).take(10).cloned().collect();
        messages.hidden.extend(received.iter().map(|dead_letter| dead_letter.message_id.clone()));
        Ok(received)
    }

    async fn delete(&self, dead_letter: &Received) -> PortResult<()> {
        self.messages().dead.retain(|other| other.message_id != dead_letter.message_id);
        Ok(())
    }

    async fn make_visible(&self, dead_letters: &[&Received]) -> PortResult<()> {
        let mut messages = self.messages();
        for dead_letter in dead_letters {
            messages.hidden.remove(&dead_letter.message_id);
        }
        Ok(())
    }
}

impl RedriveToSource for MemoryQueues {
    async fn redrive_to_source(&self, dead_letter: &dead_letter::DeadLetterRecord, body: &str) -> PortResult<()> {
        let sent = Sent { body, group_id: dead_letter.group_id.as_deref(), ..Sent::default() };
        check_message(&sent).map_err(failed("redrive_to_source"))?;
        self.messages().redrive_to_source.push((dead_letter.queue, body.to_owned()));
        Ok(())
    }
}

fn check_control(
    operation: &'static str,
    message: &impl Serialize,
    [group, deduplication]: &[String; 2],
) -> PortResult<()> {
    let body = body(message).map_err(failed(operation))?;
    let sent = Sent { body: &body, group_id: Some(group), deduplication_id: Some(deduplication), delay_s: 0 };
    check_message(&sent).map_err(failed(operation))
}

fn check_chunk(message: &ChunkMessage, delay_s: i32) -> PortResult<()> {
    let body = body(message).map_err(failed("send_chunks"))?;
    let delay_s = i64::from(delay_s);
    let sent = Sent { body: &body, group_id: Some(message.tenant.as_str()), delay_s, ..Sent::default() };
    check_message(&sent).map_err(failed("send_chunks"))
}

/// Names the failed operation as the port does.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "queues", operation, source: source.into() }
}
