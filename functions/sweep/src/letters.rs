//! Reads the dead-letter queues: notes each letter once, hands over those that are open, and takes away those that an
//! operator has replayed or discarded.
//!
//! This is the only place that deletes messages from a queue: those that their note says are settled, and those that
//! hide other dead-letter messages of their message group. A crash between note and delete leaves a message that the
//! next sweep receives again. A message whose note cannot be read stays until it can.
//!
//! A FIFO queue returns no message of a message group while others of the group are in flight, so no sweep would ever
//! see what is behind the first ten
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! If a receive returns ten messages, the sweep deletes those that it no longer needs and that are noted with their
//! bodies. The first one of each group stays, and with it the alarm.

use std::collections::BTreeSet;

use longshore::queues::{DeadLetter, DeadLetterQueues, DeadLetters, Received, Unreadable};
use longshore::telemetry;
use longshore_domain::dead_letter::{self, KEPT_S, Letter, Queue};
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::{DeadLetterNotes, JobStore, PortResult};
use longshore_domain::time_stamp::Timestamp;
use serde::de::DeserializeOwned;

use crate::decide::awaits_split;

/// Bytes of a body that is kept with its note: what one item of the table has room for. Messages of ours have 64 KiB.
const BODY_BYTES: usize = 350 * 1024;

/// Number of messages in a batch behind which others of their message groups may be hidden: the maximum of one receive.
const FULL_BATCH: usize = 10;

/// Receives from one queue in one sweep: up to a thousand letters, in some two seconds.
const RECEIVES: usize = 100;

/// The open letters that a sweep has read, without rows: each stays as small as its place.
#[derive(Clone, Debug, Default)]
pub struct OpenLetters {
    creates: Vec<DeadLetter<CreateMessage>>,
    chunks: Vec<DeadLetter<ChunkMessage>>,
}

impl OpenLetters {
    fn add(&mut self, letter: &Received) {
        match letter.queue {
            Queue::Create => self.creates.push(parse(letter)),
            // The rows are read from their source when the chunk is given up.
            Queue::Chunk => self.chunks.push(parse(letter).map(|chunk| ChunkMessage { inline: None, ..chunk })),
            // Its job is unfinished: the sweep asks for completion again.
            Queue::Complete => {}
        }
    }
}

impl DeadLetters for OpenLetters {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(self.creates.clone())
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok(self.chunks.clone())
    }
}

/// Reads all dead-letter queues for as long as `in_time` allows. The rest is left for the next sweep. A queue that
/// cannot be read does not affect the others.
pub async fn read_letters<S, D>(store: &S, queues: &D, now: Timestamp, in_time: &impl Fn() -> bool) -> OpenLetters
where
    S: DeadLetterNotes + JobStore,
    D: DeadLetterQueues,
{
    let mut open = OpenLetters::default();
    for queue in Queue::ALL {
        if let Err(error) = read_queue(store, queues, (queue, now, in_time), &mut open).await {
            let error = telemetry::chain(&error);
            tracing::error!(queue = queue.as_str(), error, "a dead-letter queue cannot be read");
        }
    }
    open
}

/// Reads one queue batch by batch. A body is held for its batch only. A received message stays hidden until the queue
/// is read, so that no later batch has it again.
async fn read_queue<S, D>(
    store: &S,
    queues: &D,
    (queue, now, in_time): (Queue, Timestamp, &impl Fn() -> bool),
    open: &mut OpenLetters,
) -> PortResult<()>
where
    S: DeadLetterNotes + JobStore,
    D: DeadLetterQueues,
{
    let mut stay = Vec::new();
    let read = read_batches(store, queues, (queue, now, in_time), (open, &mut stay)).await;
    // What is not shown comes back by itself. Either way those that are open are accounted for.
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
    (open, stay): (&mut OpenLetters, &mut Vec<Received>),
) -> PortResult<()>
where
    S: DeadLetterNotes + JobStore,
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
        for letter in batch {
            match is_open(store, &letter, now).await {
                Ok(true) => {
                    open.add(&letter);
                    let stays = !hides_others || groups.insert(letter.group_id.clone());
                    if !stays && is_over(store, &letter, now).await {
                        take_away(queues, &letter).await;
                        continue;
                    }
                }
                Ok(false) => {
                    take_away(queues, &letter).await;
                    continue;
                }
                Err(error) => {
                    let error = telemetry::chain(&error);
                    tracing::error!(message.id = letter.message_id, error, "a dead letter cannot be noted");
                }
            }
            stay.push(Received { body: String::new(), ..letter });
        }
    }
    Ok(())
}

async fn take_away<D: DeadLetterQueues>(queues: &D, letter: &Received) {
    let (id, queue) = (&letter.message_id, letter.queue.as_str());
    match queues.delete(letter).await {
        Ok(()) => tracing::info!(message.id = id, queue, "a dead letter is gone from its queue"),
        Err(error) => {
            let error = telemetry::chain(&error);
            tracing::error!(message.id = id, queue, error, "a dead letter cannot be deleted");
        }
    }
}

/// True if a noted letter is no longer needed in its queue: its job does not wait for what the sweep decides about it,
/// and its body is kept for a replay, unless the job is gone. False if that cannot be read.
async fn is_over<S: DeadLetterNotes + JobStore>(store: &S, letter: &Received, now: Timestamp) -> bool {
    try_is_over(store, letter, now).await.unwrap_or_else(|error| {
        let error = telemetry::chain(&error);
        tracing::error!(message.id = letter.message_id, error, "a dead letter's job cannot be read");
        false
    })
}

async fn try_is_over<S: DeadLetterNotes + JobStore>(store: &S, letter: &Received, now: Timestamp) -> PortResult<bool> {
    let note = note_of(letter, now);
    if let Some(id) = note.letter.job_id() {
        let Some(job) = store.job(id).await?.filter(|job| !job.is_deleted()) else { return Ok(true) };
        let create = (letter.queue == Queue::Create).then(|| serde_json::from_str(&letter.body).ok()).flatten();
        if create.is_some_and(|create| awaits_split(&job, &create)) {
            return Ok(false);
        }
    }
    Ok(store.body(&note).await?.is_some())
}

/// Whether nobody is done with a letter. One that is new is noted.
async fn is_open<S: DeadLetterNotes + JobStore>(store: &S, letter: &Received, now: Timestamp) -> PortResult<bool> {
    let note = note_of(letter, now);
    if let Some(noted) = store.letter(&note.id).await? {
        return Ok(noted.is_open());
    }
    let kept = match note.letter.job_id() {
        // The body goes with the job; there is nothing for it to go with if that is gone.
        Some(id) => store.job(id).await?.is_some_and(|job| !job.is_deleted()),
        None => true,
    };
    let body = Some(letter.body.as_str()).filter(|body| kept && body.len() <= BODY_BYTES);
    store.note(&note, body).await?;
    tracing::warn!(letter.id = note.id, queue = note.queue.as_str(), "a dead letter");
    Ok(true)
}

fn note_of(letter: &Received, now: Timestamp) -> dead_letter::DeadLetter {
    dead_letter::DeadLetter {
        id: dead_letter::DeadLetter::id_of(letter.sent_at, &letter.message_id),
        queue: letter.queue,
        letter: Letter::read(letter.queue, &letter.body),
        sent_at: letter.sent_at,
        seen_at: now,
        receives: letter.receives,
        size_bytes: letter.body.len() as u64,
        source: letter.source.clone(),
        group_id: letter.group_id.clone(),
        settled: None,
        expires_at: now.plus_seconds(KEPT_S).seconds(),
    }
}

fn parse<T: DeserializeOwned>(letter: &Received) -> DeadLetter<T> {
    serde_json::from_str(&letter.body).map_err(|error| {
        let reason = format!("{:?} at line {}", error.classify(), error.line());
        Unreadable { message_id: letter.message_id.clone(), reason }
    })
}

#[cfg(test)]
#[path = "letters_tests.rs"]
mod tests;
