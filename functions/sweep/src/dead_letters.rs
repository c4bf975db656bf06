//! Reads the dead-letter queues: records each message once, returns the open ones, and deletes those that an operator
//! has replayed or discarded.
//!
//! No other code deletes messages from a queue. Deleted are messages whose record is resolved, and messages that hide
//! other dead-letter messages of their message group. After a crash between record and delete, the next sweep receives
//! the message again. A message whose record cannot be read is kept.
//!
//! A FIFO queue returns no message of a message group while others of the group are in flight, so no sweep would ever
//! receive the messages after the first ten
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! If a receive returns ten messages, the sweep deletes those that are no longer needed and that are recorded with
//! their bodies. The first message of each group is kept, so that the alarm stays.

use std::collections::BTreeSet;

use longshore::telemetry;
use longshore_domain::dead_letter::{self, DeadLetterMessage, Queue, RETENTION_S};
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::{
    DeadLetter, DeadLetterQueues, DeadLetterRecords, DeadLetters, JobStore, PortResult, Received, UnreadableMessage,
};
use longshore_domain::timestamp::Timestamp;
use serde::de::DeserializeOwned;

use crate::decide::awaits_split;

/// Maximum bytes of a body that is stored with its record: it fits into one item of the table. Longshore's messages
/// have up to 64 KiB.
const BODY_BYTES: usize = 350 * 1024;

/// Size of a batch after which other messages of the same message groups may be hidden: the maximum of one receive.
const FULL_BATCH: usize = 10;

/// Maximum number of receives from one queue in one sweep: up to a thousand messages, in about two seconds.
const RECEIVES: usize = 100;

/// The open dead letters that a sweep has read, without rows, so that each stays small.
#[derive(Clone, Debug, Default)]
pub struct OpenDeadLetters {
    creates: Vec<DeadLetter<CreateMessage>>,
    chunks: Vec<DeadLetter<ChunkMessage>>,
}

impl OpenDeadLetters {
    fn add(&mut self, dead_letter: &Received) {
        match dead_letter.queue {
            Queue::Create => self.creates.push(parse(dead_letter)),
            // The rows are read from the source when the chunk is given up.
            Queue::Chunk => self.chunks.push(parse(dead_letter).map(|chunk| ChunkMessage { inline: None, ..chunk })),
            // The job is unfinished: the sweep requests its completion again.
            Queue::Complete => {}
        }
    }
}

impl DeadLetters for OpenDeadLetters {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(self.creates.clone())
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok(self.chunks.clone())
    }
}

/// Reads all dead-letter queues while `in_time` returns true. The remaining messages are left for the next sweep. A
/// queue that cannot be read does not affect the others.
pub async fn read_dead_letters<S, D>(
    store: &S,
    queues: &D,
    now: Timestamp,
    in_time: &impl Fn() -> bool,
) -> OpenDeadLetters
where
    S: DeadLetterRecords + JobStore,
    D: DeadLetterQueues,
{
    let mut reader = QueueReader { store, queues, now, in_time, open: OpenDeadLetters::default() };
    for queue in Queue::ALL {
        if let Err(error) = reader.read(queue).await {
            let error = telemetry::chain(&error);
            tracing::error!(queue = queue.as_str(), error, "cannot read a dead-letter queue");
        }
    }
    reader.open
}

/// A reader of dead-letter queues, with the open messages so far.
struct QueueReader<'a, S, D, T> {
    store: &'a S,
    queues: &'a D,
    now: Timestamp,
    in_time: &'a T,
    open: OpenDeadLetters,
}

impl<S: DeadLetterRecords + JobStore, D: DeadLetterQueues, T: Fn() -> bool> QueueReader<'_, S, D, T> {
    /// Reads one queue batch by batch. Bodies are held only for their batch. A received message stays hidden until the
    /// queue is read, so that no later batch contains it again.
    async fn read(&mut self, queue: Queue) -> PortResult<()> {
        let mut stay = Vec::new();
        let read = self.read_batches(queue, &mut stay).await;
        // A message that cannot be made visible again reappears after its visibility timeout. Open messages are
        // returned in either case.
        if let Err(error) = self.queues.make_visible(&stay.iter().collect::<Vec<_>>()).await {
            let error = telemetry::chain(&error);
            tracing::error!(
                queue = queue.as_str(),
                error,
                "cannot make dead letters visible again; they are hidden for some seconds"
            );
        }
        read
    }

    async fn read_batches(&mut self, queue: Queue, stay: &mut Vec<Received>) -> PortResult<()> {
        for _ in 0..RECEIVES {
            if !(self.in_time)() {
                break;
            }
            let batch = self.queues.receive(queue).await?;
            if batch.is_empty() {
                break;
            }
            let mut shown = (queue != Queue::Chunk && batch.len() >= FULL_BATCH).then(BTreeSet::new);
            for dead_letter in batch {
                if self.stays(&dead_letter, shown.as_mut()).await {
                    stay.push(Received { body: String::new(), ..dead_letter });
                } else {
                    delete(self.queues, &dead_letter).await;
                }
            }
        }
        Ok(())
    }

    /// Returns true if a received message stays in its queue, and records a new one. `shown` are the message groups of
    /// which an open message stays, if the batch may hide others of its groups.
    async fn stays(&mut self, dead_letter: &Received, shown: Option<&mut BTreeSet<Option<String>>>) -> bool {
        match is_open(self.store, dead_letter, self.now).await {
            Ok(false) => false,
            Ok(true) => {
                self.open.add(dead_letter);
                let is_first = shown.is_none_or(|groups| groups.insert(dead_letter.group_id.clone()));
                is_first || !is_unneeded(self.store, dead_letter, self.now).await
            }
            Err(error) => {
                let error = telemetry::chain(&error);
                tracing::error!(message.id = dead_letter.message_id, error, "cannot record a dead letter");
                true
            }
        }
    }
}

async fn delete<D: DeadLetterQueues>(queues: &D, dead_letter: &Received) {
    let (id, queue) = (&dead_letter.message_id, dead_letter.queue.as_str());
    match queues.delete(dead_letter).await {
        Ok(()) => tracing::info!(message.id = id, queue, "a dead letter was deleted from its queue"),
        Err(error) => {
            let error = telemetry::chain(&error);
            tracing::error!(message.id = id, queue, error, "cannot delete a dead letter from its queue");
        }
    }
}

/// Returns true if a recorded message is no longer needed in its queue: no decision of the sweep about its job depends
/// on it, and its body is stored for a replay, or its job no longer exists. Returns false if this cannot be read.
async fn is_unneeded<S: DeadLetterRecords + JobStore>(store: &S, dead_letter: &Received, now: Timestamp) -> bool {
    try_is_unneeded(store, dead_letter, now).await.unwrap_or_else(|error| {
        let error = telemetry::chain(&error);
        tracing::error!(message.id = dead_letter.message_id, error, "cannot read the job of a dead letter");
        false
    })
}

async fn try_is_unneeded<S: DeadLetterRecords + JobStore>(
    store: &S,
    dead_letter: &Received,
    now: Timestamp,
) -> PortResult<bool> {
    let record = record_of(dead_letter, now);
    if let Some(id) = record.message.job_id() {
        let Some(job) = store.job(id).await?.filter(|job| !job.is_deleted()) else { return Ok(true) };
        let create =
            (dead_letter.queue == Queue::Create).then(|| serde_json::from_str(&dead_letter.body).ok()).flatten();
        if create.is_some_and(|create| awaits_split(&job, &create)) {
            return Ok(false);
        }
    }
    Ok(store.body(&record).await?.is_some())
}

/// Returns true if a dead letter is not resolved. Records a new one.
async fn is_open<S: DeadLetterRecords + JobStore>(
    store: &S,
    dead_letter: &Received,
    now: Timestamp,
) -> PortResult<bool> {
    let record = record_of(dead_letter, now);
    if let Some(stored) = store.dead_letter(&record.id).await? {
        return Ok(stored.is_open());
    }
    let job_exists = match record.message.job_id() {
        // The body is removed with the job, so it is not stored if the job no longer exists.
        Some(id) => store.job(id).await?.is_some_and(|job| !job.is_deleted()),
        None => true,
    };
    let body = Some(dead_letter.body.as_str()).filter(|body| job_exists && body.len() <= BODY_BYTES);
    store.record(&record, body).await?;
    tracing::warn!(dead_letter.id = record.id, queue = record.queue.as_str(), "a dead letter was recorded");
    Ok(true)
}

fn record_of(dead_letter: &Received, now: Timestamp) -> dead_letter::DeadLetterRecord {
    dead_letter::DeadLetterRecord {
        id: dead_letter::DeadLetterRecord::record_id(dead_letter.sent_at, &dead_letter.message_id),
        queue: dead_letter.queue,
        message: DeadLetterMessage::read(dead_letter.queue, &dead_letter.body),
        sent_at: dead_letter.sent_at,
        seen_at: now,
        receives: dead_letter.receives,
        size_bytes: dead_letter.body.len() as u64,
        source: dead_letter.source.clone(),
        group_id: dead_letter.group_id.clone(),
        resolution: None,
        expires_at: now.plus_seconds(RETENTION_S).seconds(),
    }
}

fn parse<T: DeserializeOwned>(dead_letter: &Received) -> DeadLetter<T> {
    serde_json::from_str(&dead_letter.body).map_err(|error| {
        let reason = format!("{:?} at line {}", error.classify(), error.line());
        UnreadableMessage { message_id: dead_letter.message_id.clone(), reason }
    })
}

#[cfg(test)]
#[path = "dead_letters_tests.rs"]
mod tests;
