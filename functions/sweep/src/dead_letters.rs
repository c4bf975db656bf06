//! Reads the dead-letter queues: records each message once, returns the open ones, and deletes those that an operator
//! has replayed or discarded.
//!
//! This is the only place that deletes messages from a queue: those whose record is resolved, and those that hide other
//! dead-letter messages of their message group. A crash between record and delete leaves a message that the next sweep
//! receives again. A message whose record cannot be read stays until it can.
//!
//! A FIFO queue returns no message of a message group while others of the group are in flight, so no sweep would ever
//! see the messages after the first ten
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! If a receive returns ten messages, the sweep deletes those that it no longer needs and that are recorded with their
//! bodies. The first one of each group stays, and with it the alarm.

use std::collections::BTreeSet;

use longshore::telemetry;
use longshore_domain::dead_letter::{self, DeadLetterMessage, KEPT_S, Queue};
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::{
    DeadLetter, DeadLetterQueues, DeadLetterRecords, DeadLetters, JobStore, PortResult, Received, Unreadable,
};
use longshore_domain::time_stamp::Timestamp;
use serde::de::DeserializeOwned;

use crate::decide::awaits_split;

/// Maximum bytes of a body that is kept with its record: one item of the table has room for it. Longshore's messages
/// have up to 64 KiB.
const BODY_BYTES: usize = 350 * 1024;

/// Size of a batch after which other messages of the same message groups may be hidden: the maximum of one receive.
const FULL_BATCH: usize = 10;

/// Receives from one queue in one sweep: up to a thousand messages, in about two seconds.
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
            // The rows are read from their source when the chunk is given up.
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
    let mut open = OpenDeadLetters::default();
    for queue in Queue::ALL {
        if let Err(error) = read_queue(store, queues, (queue, now, in_time), &mut open).await {
            let error = telemetry::chain(&error);
            tracing::error!(queue = queue.as_str(), error, "a dead-letter queue cannot be read");
        }
    }
    open
}

/// Reads one queue batch by batch. Bodies are held only for their batch. A received message stays hidden until the
/// queue is read, so that no later batch contains it again.
async fn read_queue<S, D>(
    store: &S,
    queues: &D,
    (queue, now, in_time): (Queue, Timestamp, &impl Fn() -> bool),
    open: &mut OpenDeadLetters,
) -> PortResult<()>
where
    S: DeadLetterRecords + JobStore,
    D: DeadLetterQueues,
{
    let mut stay = Vec::new();
    let read = read_batches(store, queues, (queue, now, in_time), (open, &mut stay)).await;
    // A message that cannot be made visible again reappears by itself. The open ones are accounted for in either case.
    if let Err(error) = queues.show(&stay.iter().collect::<Vec<_>>()).await {
        let error = telemetry::chain(&error);
        tracing::error!(queue = queue.as_str(), error, "dead letters are hidden for a while");
    }
    read
}

async fn read_batches<S, D>(
    store: &S,
    queues: &D,
    (queue, now, in_time): (Queue, Timestamp, &impl Fn() -> bool),
    (open, stay): (&mut OpenDeadLetters, &mut Vec<Received>),
) -> PortResult<()>
where
    S: DeadLetterRecords + JobStore,
    D: DeadLetterQueues,
{
    for _ in 0..RECEIVES {
        if !in_time() {
            break;
        }
        let batch = queues.receive(queue).await?;
        if batch.is_empty() {
            break;
        }
        let (hides_others, mut groups) = (queue != Queue::Chunk && batch.len() >= FULL_BATCH, BTreeSet::new());
        for dead_letter in batch {
            match is_open(store, &dead_letter, now).await {
                Ok(true) => {
                    open.add(&dead_letter);
                    let stays = !hides_others || groups.insert(dead_letter.group_id.clone());
                    if !stays && is_over(store, &dead_letter, now).await {
                        take_away(queues, &dead_letter).await;
                        continue;
                    }
                }
                Ok(false) => {
                    take_away(queues, &dead_letter).await;
                    continue;
                }
                Err(error) => {
                    let error = telemetry::chain(&error);
                    tracing::error!(message.id = dead_letter.message_id, error, "a dead letter cannot be noted");
                }
            }
            stay.push(Received { body: String::new(), ..dead_letter });
        }
    }
    Ok(())
}

async fn take_away<D: DeadLetterQueues>(queues: &D, dead_letter: &Received) {
    let (id, queue) = (&dead_letter.message_id, dead_letter.queue.as_str());
    match queues.delete(dead_letter).await {
        Ok(()) => tracing::info!(message.id = id, queue, "a dead letter is gone from its queue"),
        Err(error) => {
            let error = telemetry::chain(&error);
            tracing::error!(message.id = id, queue, error, "a dead letter cannot be deleted");
        }
    }
}

/// Returns true if a recorded message is no longer needed in its queue: its job does not wait for the sweep's decision
/// about it, and its body is kept for a replay, unless the job is gone. Returns false if that cannot be read.
async fn is_over<S: DeadLetterRecords + JobStore>(store: &S, dead_letter: &Received, now: Timestamp) -> bool {
    try_is_over(store, dead_letter, now).await.unwrap_or_else(|error| {
        let error = telemetry::chain(&error);
        tracing::error!(message.id = dead_letter.message_id, error, "a dead letter's job cannot be read");
        false
    })
}

async fn try_is_over<S: DeadLetterRecords + JobStore>(
    store: &S,
    dead_letter: &Received,
    now: Timestamp,
) -> PortResult<bool> {
    let note = record_of(dead_letter, now);
    if let Some(id) = note.message.job_id() {
        let Some(job) = store.job(id).await?.filter(|job| !job.is_deleted()) else { return Ok(true) };
        let create =
            (dead_letter.queue == Queue::Create).then(|| serde_json::from_str(&dead_letter.body).ok()).flatten();
        if create.is_some_and(|create| awaits_split(&job, &create)) {
            return Ok(false);
        }
    }
    Ok(store.body(&note).await?.is_some())
}

/// Returns true if a dead letter is not resolved. Records a new one.
async fn is_open<S: DeadLetterRecords + JobStore>(
    store: &S,
    dead_letter: &Received,
    now: Timestamp,
) -> PortResult<bool> {
    let note = record_of(dead_letter, now);
    if let Some(noted) = store.dead_letter(&note.id).await? {
        return Ok(noted.is_open());
    }
    let kept = match note.message.job_id() {
        // The body is removed with the job, so it is not kept if the job is gone.
        Some(id) => store.job(id).await?.is_some_and(|job| !job.is_deleted()),
        None => true,
    };
    let body = Some(dead_letter.body.as_str()).filter(|body| kept && body.len() <= BODY_BYTES);
    store.record(&note, body).await?;
    tracing::warn!(dead_letter.id = note.id, queue = note.queue.as_str(), "a dead letter");
    Ok(true)
}

fn record_of(dead_letter: &Received, now: Timestamp) -> dead_letter::DeadLetterRecord {
    dead_letter::DeadLetterRecord {
        id: dead_letter::DeadLetterRecord::id_of(dead_letter.sent_at, &dead_letter.message_id),
        queue: dead_letter.queue,
        message: DeadLetterMessage::read(dead_letter.queue, &dead_letter.body),
        sent_at: dead_letter.sent_at,
        seen_at: now,
        receives: dead_letter.receives,
        size_bytes: dead_letter.body.len() as u64,
        source: dead_letter.source.clone(),
        group_id: dead_letter.group_id.clone(),
        resolution: None,
        expires_at: now.plus_seconds(KEPT_S).seconds(),
    }
}

fn parse<T: DeserializeOwned>(dead_letter: &Received) -> DeadLetter<T> {
    serde_json::from_str(&dead_letter.body).map_err(|error| {
        let reason = format!("{:?} at line {}", error.classify(), error.line());
        Unreadable { message_id: dead_letter.message_id.clone(), reason }
    })
}

#[cfg(test)]
#[path = "dead_letters_tests.rs"]
mod tests;
