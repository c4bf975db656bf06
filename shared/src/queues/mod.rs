//! What travels between the functions: control messages, chunks by priority, their backlog and their dead letters.
//!
//! Sending is the domain's port [`Queues`](longshore_domain::ports::Queues). What only the sweeper needs is here.

mod dead_letters;
mod memory;
mod sqs;

use std::future::Future;

use longshore_domain::job::Priority;
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::{PortError, PortResult};

pub use dead_letters::DeadLetterQueues;
pub use memory::{MemoryQueues, SentChunk};
pub use sqs::{QueueUrls, SqsQueues};

/// How much waits.
pub trait Backlog: Send + Sync {
    /// Chunk messages of this priority that are waiting, being worked, or delayed. Approximate, and some seconds old: zero twice in a
    /// row means that a chunk without progress has lost its message.
    fn chunks(&self, priority: Priority) -> impl Future<Output = PortResult<u64>> + Send;
}

/// A message that nobody could read.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("the dead letter {message_id} is unreadable: {reason}")]
pub struct Unreadable {
    /// The queue's id for it, to look it up.
    pub message_id: String,
    /// What is wrong with it.
    pub reason: String,
}

/// One message of a dead-letter queue, or why it cannot be read.
pub type DeadLetter<T> = Result<T, Unreadable>;

/// Messages that were received too often. They are read and never deleted: they stay to be looked at, replayed or
/// discarded. Those of completion need no reader: their jobs are unfinished, and so in the sweeper's sight. A call returns some of them, the same one perhaps twice; another sweep sees the others.
pub trait DeadLetters: Send + Sync {
    /// Jobs whose splitter fails again and again.
    fn creates(&self) -> impl Future<Output = PortResult<Vec<DeadLetter<CreateMessage>>>> + Send;
    /// Chunks whose worker dies again and again.
    fn chunks(&self) -> impl Future<Output = PortResult<Vec<DeadLetter<ChunkMessage>>>> + Send;
}

/// Names the failed operation in the port's words.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "queues", operation, source: source.into() }
}
