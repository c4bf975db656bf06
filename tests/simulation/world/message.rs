//! Messages in their queues.

use longshore_domain::dead_letter::Queue;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};

/// A message of one of the queues.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Create(CreateMessage),
    Chunk(ChunkMessage),
    Complete(CompleteMessage),
}

impl Message {
    /// The job and the chunk of a chunk message.
    pub(super) fn chunk(&self) -> Option<(JobId, ChunkId)> {
        match self {
            Self::Chunk(message) => Some((message.job_id, message.id())),
            _ => None,
        }
    }

    /// The message group in a FIFO queue.
    pub(super) fn group(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Create(message) => Some(("create", message.group_id())),
            Self::Complete(message) => Some(("complete", message.group_id())),
            Self::Chunk(_) => None,
        }
    }

    /// Returns the queue of the message, and its body.
    pub(super) fn dead(&self) -> (Queue, serde_json::Result<String>) {
        match self {
            Self::Create(message) => (Queue::Create, serde_json::to_string(message)),
            Self::Chunk(message) => (Queue::Chunk, serde_json::to_string(message)),
            Self::Complete(message) => (Queue::Complete, serde_json::to_string(message)),
        }
    }

    /// Index of the function that the message invokes in [`Hops`].
    pub(super) fn function(&self) -> usize {
        match self {
            Self::Create(_) => 0,
            Self::Chunk(_) => 1,
            Self::Complete(_) => 2,
        }
    }
}

/// Invocations of splitter, worker and completion in a chain of messages.
pub(super) type Hops = [u32; 3];

/// A message in its queue.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) message: Message,
    pub(super) receives: u32,
    pub(super) sent_at: i64,
    pub(super) visible_at: i64,
    /// Invocations in the chain that led to the message, including its own.
    pub(super) hops: Hops,
}
