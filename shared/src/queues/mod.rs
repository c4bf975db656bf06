//! What travels between the functions: control messages, chunks by priority, their backlog and their dead letters.
//!
//! Sending is the domain's port [`Queues`](longshore_domain::ports::Queues). What only the sweeper needs is here.

mod body;
mod dead_letters;
mod memory;
mod sqs;

use std::future::Future;

use longshore_domain::dead_letter::{self, Queue};
use longshore_domain::job::Priority;
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::{PortError, PortResult};
use longshore_domain::time_stamp::Timestamp;

pub use dead_letters::SqsDeadLetters;
pub use memory::{MemoryQueues, SentChunk};
pub use sqs::{QueueUrls, SqsQueues};

/// How much waits.
pub trait QueueDepth: Send + Sync {
    /// Chunk messages of this priority that are waiting, being worked, or delayed. Approximate, and some seconds old: zero twice in a
    /// row means that a chunk without progress has lost its message.
    fn chunks(&self, priority: Priority) -> impl Future<Output = PortResult<u64>> + Send;
}

/// A message that a function has received and not yet answered.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct InFlight<'a> {
    /// The queue that it came from.
    pub queue_arn: &'a str,
    /// The name of this receive.
    pub handle: &'a str,
}

/// The visibility of messages that are being worked.
pub trait Visibility: Send + Sync {
    /// Hides a message for so many seconds from now. Harmless twice: the last call counts.
    fn hide(&self, message: &InFlight<'_>, seconds: i32) -> impl Future<Output = PortResult<()>> + Send;
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
pub type DeadLetterRecord<T> = Result<T, Unreadable>;

/// Messages that were received too often, as a sweep accounts for them. They stay to be looked at, replayed or discarded. Those of
/// completion need no account: their jobs are unfinished, and so in the sweeper's sight. A call returns some of them, the same one
/// perhaps twice; another sweep sees the others.
pub trait DeadLetters: Send + Sync {
    /// Jobs whose splitter fails again and again.
    fn creates(&self) -> impl Future<Output = PortResult<Vec<DeadLetterRecord<CreateMessage>>>> + Send;
    /// Chunks whose worker dies again and again.
    fn chunks(&self) -> impl Future<Output = PortResult<Vec<DeadLetterRecord<ChunkMessage>>>> + Send;
}

/// A message of a dead-letter queue, as it was received.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Received {
    /// The queue in which it died.
    pub queue: Queue,
    /// The queue's id for it.
    pub message_id: String,
    /// What it says.
    pub body: String,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// How often it was received, this time included.
    pub receives: u32,
    /// Name of the queue that it came from, if that is known.
    pub source: Option<String>,
    /// Its message group, if it has one.
    pub group_id: Option<String>,
    /// What this receive is called when it is deleted or shown again.
    pub handle: String,
}

/// The dead-letter queues as they are.
pub trait DeadLetterQueues: Send + Sync {
    /// Receives up to ten messages, none if there are no more to be seen; the same one perhaps twice, for it is hidden for seconds
    /// unless it is shown again.
    fn receive(&self, queue: Queue) -> impl Future<Output = PortResult<Vec<Received>>> + Send;
    /// Takes a message out for good.
    fn delete(&self, dead_letter: &Received) -> impl Future<Output = PortResult<()>> + Send;
    /// Shows messages of one queue again to whoever looks; of them only queue and handle are read.
    fn show(&self, dead_letters: &[&Received]) -> impl Future<Output = PortResult<()>> + Send;
}

/// Messages that nobody can read, back to where they came from.
pub trait RedriveToSource: Send + Sync {
    /// Sends a letter's body as it is to the queue that it came from. Sent twice it arrives twice.
    fn redrive_to_source(
        &self,
        dead_letter: &dead_letter::DeadLetterRecord,
        body: &str,
    ) -> impl Future<Output = PortResult<()>> + Send;
}

/// Names the failed operation in the port's words.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "queues", operation, source: source.into() }
}
