//! The record of a dead letter: its message, its queue and its resolution.

use serde::{Deserialize, Serialize};

use crate::ids::{ChunkId, JobId};
use crate::message::{ChunkMessage, CompleteMessage, CreateMessage};
use crate::timestamp::Timestamp;

/// Retention of a dead-letter record in seconds: 14 days, the longest retention of its queue.
pub const RETENTION_S: i64 = 14 * 86_400;

/// The queue in which a message was dead-lettered.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// Create messages: a splitter failed repeatedly.
    Create,
    /// Chunk messages of every priority: a worker died or failed repeatedly.
    Chunk,
    /// Complete messages: completion failed repeatedly.
    Complete,
}

impl Queue {
    /// All queues.
    pub const ALL: [Self; 3] = [Self::Create, Self::Chunk, Self::Complete];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Chunk => "chunk",
            Self::Complete => "complete",
        }
    }

    /// Parses the name on the wire.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|queue| queue.as_str() == word)
    }
}

/// The message of a dead letter.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeadLetterMessage {
    /// A request to split a job.
    Create(CreateMessage),
    /// A request to process a chunk, without its rows: they are in the source.
    Chunk(ChunkMessage),
    /// A request to complete a job.
    Complete(CompleteMessage),
    /// A body that is not a message of its queue.
    Unreadable {
        /// Description of the parse error, without contents of the message.
        reason: String,
    },
}

impl DeadLetterMessage {
    /// Parses the body of a message from the dead-letter queue of this queue.
    pub fn read(queue: Queue, body: &str) -> Self {
        let read = match queue {
            Queue::Create => serde_json::from_str(body).map(Self::Create),
            Queue::Chunk => serde_json::from_str(body).map(|message| Self::chunk(&message)),
            Queue::Complete => serde_json::from_str(body).map(Self::Complete),
        };
        read.unwrap_or_else(|error| Self::Unreadable { reason: describe(&error) })
    }

    fn chunk(message: &ChunkMessage) -> Self {
        Self::Chunk(ChunkMessage { inline: None, ..message.clone() })
    }

    /// Returns the message's job; `None` if it is unreadable.
    pub fn job_id(&self) -> Option<JobId> {
        match self {
            Self::Create(message) => Some(message.job_id),
            Self::Chunk(message) => Some(message.job_id),
            Self::Complete(message) => Some(message.job_id),
            Self::Unreadable { .. } => None,
        }
    }

    /// Returns the chunk of the message; `None` unless it is a chunk message.
    pub fn chunk_id(&self) -> Option<ChunkId> {
        match self {
            Self::Chunk(message) => Some(ChunkId { group: message.group, chunk: message.chunk }),
            Self::Create(_) | Self::Complete(_) | Self::Unreadable { .. } => None,
        }
    }
}

/// Describes a parse error and its position, without the contents: they may be rows.
fn describe(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "it is JSON with unexpected fields",
        serde_json::error::Category::Eof => "its JSON is incomplete",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is not JSON",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}

/// A dead letter as recorded in the table.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterRecord {
    /// Sending time and message id: the same at every receive, and sorted by sending time.
    pub id: String,
    /// The queue in which the message was dead-lettered.
    pub queue: Queue,
    /// The message.
    #[serde(rename = "letter")]
    pub message: DeadLetterMessage,
    /// Time at which the message was sent.
    pub sent_at: Timestamp,
    /// Time at which the sweeper first received it.
    pub seen_at: Timestamp,
    /// Receive count at that time.
    pub receives: u32,
    /// Size of the body in bytes.
    pub size_bytes: u64,
    /// Name of the source queue, if the dead-letter queue reports it.
    pub source: Option<String>,
    /// The SQS message group, if there is one.
    pub group_id: Option<String>,
    /// The resolution by an operator; `None` while the dead letter is open.
    #[serde(default, rename = "settled")]
    pub resolution: Option<Resolution>,
    /// Time of expiry of the record, in seconds.
    pub expires_at: i64,
}

impl DeadLetterRecord {
    /// Returns the id for a message with this sending time and message id.
    pub fn record_id(sent_at: Timestamp, message_id: &str) -> String {
        format!("{:013}-{message_id}", sent_at.0)
    }

    /// Returns true if the dead letter was neither replayed nor discarded.
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }
}

/// An operator's decision on a dead letter.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResolutionKind {
    /// The message was sent again, or the job was reopened for it.
    Replayed,
    /// The dead letter was dropped, without a replay.
    Discarded,
}

/// The resolution of a dead letter. The first one counts and never changes.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Resolution {
    /// The decision.
    #[serde(rename = "how")]
    pub kind: ResolutionKind,
    /// The operator, by the token's `sub` claim.
    pub by: String,
    /// Time of the resolution.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_is_read_as_a_message_of_its_queue_without_rows() {
        let job = JobId::generate();
        let chunk = format!(
            r#"{{"jobId":"{job}","tenant":"t","group":4,"chunk":2,"plan":{{"first":1,"items":2,"start":3,"end":4}},"inline":"secret"}}"#
        );
        let dead_letter = DeadLetterMessage::read(Queue::Chunk, &chunk);
        assert_eq!((dead_letter.job_id(), dead_letter.chunk_id()), (Some(job), Some(ChunkId { group: 4, chunk: 2 })));
        assert!(!format!("{dead_letter:?}").contains("secret"));
        for (queue, body) in [(Queue::Create, chunk.as_str()), (Queue::Complete, "{}"), (Queue::Chunk, "rows, rows")] {
            let dead_letter = DeadLetterMessage::read(queue, body);
            assert!(matches!(dead_letter, DeadLetterMessage::Unreadable { .. }), "{dead_letter:?}");
        }
    }

    #[test]
    fn ids_sort_by_the_time_of_sending() {
        let ids = [(999, "b"), (1_700_000_000_000, "a"), (1_700_000_000_001, "a")];
        assert!(ids.map(|(at, id)| DeadLetterRecord::record_id(Timestamp(at), id)).is_sorted());
    }
}
