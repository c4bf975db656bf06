//! Ports of dead letters: their records, and the queues that hold them.

use std::future::Future;

use super::{Page, PortResult};
use crate::dead_letter::{DeadLetterRecord, Queue, Resolution};
use crate::message::{ChunkMessage, CreateMessage};
use crate::timestamp::Timestamp;

/// Dead-letter records of all tenants.
pub trait DeadLetterRecords: Send + Sync {
    /// Records a dead letter, with its body if that is to be kept. Idempotent: the first record stays.
    fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>)
    -> impl Future<Output = PortResult<()>> + Send;
    /// Reads a record, consistently.
    fn dead_letter(&self, id: &str) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
    /// Reads a dead letter's body; `None` if it was not kept, or was removed with its job.
    fn body(&self, dead_letter: &DeadLetterRecord) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Lists up to `limit` records, resolved ones included, newest first, after the one with this id.
    fn dead_letters(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Page<DeadLetterRecord>>> + Send;
    /// Records the resolution unless one exists. Returns the stored record, or `None` if the id is unknown.
    fn resolve(
        &self,
        id: &str,
        resolution: &Resolution,
    ) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
}

/// An unreadable message.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("the dead letter {message_id} is unreadable: {reason}")]
pub struct UnreadableMessage {
    /// The queue's message id, for looking it up.
    pub message_id: String,
    /// The error.
    pub reason: String,
}

/// One message of a dead-letter queue, or the reason why it cannot be read.
pub type DeadLetter<T> = Result<T, UnreadableMessage>;

/// Messages that were received too often, as a sweep accounts for them. They stay in the queue to be inspected,
/// replayed or discarded. Dead letters of completion need no account: their jobs are unfinished, so the sweeper sees
/// them anyway. A call returns some of the messages, and may return one twice; a later sweep sees the others.
pub trait DeadLetters: Send + Sync {
    /// Reads the create messages of jobs whose splitter fails repeatedly.
    fn creates(&self) -> impl Future<Output = PortResult<Vec<DeadLetter<CreateMessage>>>> + Send;
    /// Reads the messages of chunks whose worker dies repeatedly.
    fn chunks(&self) -> impl Future<Output = PortResult<Vec<DeadLetter<ChunkMessage>>>> + Send;
}

/// A message of a dead-letter queue, as received.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Received {
    /// The dead-letter queue, by function.
    pub queue: Queue,
    /// The queue's message id.
    pub message_id: String,
    /// Body of the message.
    pub body: String,
    /// Time of sending.
    pub sent_at: Timestamp,
    /// Number of receives, including this one.
    pub receives: u32,
    /// Name of the source queue, if known.
    pub source: Option<String>,
    /// Message group, if it has one.
    pub group_id: Option<String>,
    /// Receipt handle of this receive, for deleting the message or making it visible.
    pub handle: String,
}

/// Direct access to the dead-letter queues.
pub trait DeadLetterQueues: Send + Sync {
    /// Receives up to ten messages, none if no more are visible. May return the same one twice, because it is hidden
    /// only for seconds, and less if it is made visible again.
    fn receive(&self, queue: Queue) -> impl Future<Output = PortResult<Vec<Received>>> + Send;
    /// Deletes a message permanently.
    fn delete(&self, dead_letter: &Received) -> impl Future<Output = PortResult<()>> + Send;
    /// Makes messages of one queue visible again; only their queue and handle are read.
    fn make_visible(&self, dead_letters: &[&Received]) -> impl Future<Output = PortResult<()>> + Send;
}

/// Redrives unreadable messages to their source queue.
pub trait RedriveToSource: Send + Sync {
    /// Sends a dead letter's body unchanged to its source queue. Not idempotent: if sent twice, it arrives twice.
    fn redrive_to_source(
        &self,
        dead_letter: &DeadLetterRecord,
        body: &str,
    ) -> impl Future<Output = PortResult<()>> + Send;
}
