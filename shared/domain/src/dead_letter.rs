//! A dead letter: a message that was received too often, as the sweeper has noted it.
//!
//! The message itself lies in a dead-letter queue, which can only be received from. So that letters can be listed, read
//! and answered for, each is noted in the table under an id that every sweep finds again. Of a letter that was replayed or
//! discarded the note says so, and the sweeper takes the message out of its queue.

mod replay;

use serde::{Deserialize, Serialize};

use crate::ids::JobId;
use crate::job::ChunkId;
use crate::message::{ChunkMessage, CompleteMessage, CreateMessage};
use crate::time_stamp::Timestamp;

pub use replay::{Nothing, Replay, replay};

/// Seconds for which a dead letter is kept: as long as its queue keeps it at most, 14 days.
pub const KEPT_S: i64 = 14 * 86_400;

/// The queue in which a message died.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// Of create messages: a splitter failed again and again.
    Create,
    /// Of chunks, whatever their priority: a worker died or failed again and again.
    Chunk,
    /// Of complete messages: completion failed again and again.
    Complete,
}

impl Queue {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Create, Self::Chunk, Self::Complete];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Chunk => "chunk",
            Self::Complete => "complete",
        }
    }

    /// The queue of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|queue| queue.as_str() == word)
    }
}

/// What a dead letter says.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeadLetterMessage {
    /// Split this job.
    Create(CreateMessage),
    /// Work this chunk. Without its rows: they are in the source.
    Chunk(ChunkMessage),
    /// End this job.
    Complete(CompleteMessage),
    /// Nobody knows: it is no message of its queue.
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
}

impl DeadLetterMessage {
    /// Reads the body of a message that died in this queue.
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

    /// The job that it is about; none if it is unreadable.
    pub fn job_id(&self) -> Option<JobId> {
        match self {
            Self::Create(message) => Some(message.job_id),
            Self::Chunk(message) => Some(message.job_id),
            Self::Complete(message) => Some(message.job_id),
            Self::Unreadable { .. } => None,
        }
    }

    /// The chunk that it is about, if it is about one.
    pub fn place(&self) -> Option<ChunkId> {
        match self {
            Self::Chunk(message) => Some(ChunkId { group: message.group, chunk: message.chunk }),
            Self::Create(_) | Self::Complete(_) | Self::Unreadable { .. } => None,
        }
    }
}

/// What is wrong, and where, without what stands there: it may be rows.
fn describe(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "it is JSON of another shape",
        serde_json::error::Category::Eof => "its JSON ends too early",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is no JSON",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}

/// A dead letter as it is noted.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterRecord {
    /// When its message was sent and what the queue calls it: the same at every reading, and later ones sort behind.
    pub id: String,
    /// Where it died.
    pub queue: Queue,
    /// What it says.
    #[serde(rename = "letter")]
    pub message: DeadLetterMessage,
    /// When its message was sent.
    pub sent_at: Timestamp,
    /// When the sweeper first saw it.
    pub seen_at: Timestamp,
    /// How often it had been received then.
    pub receives: u32,
    /// Bytes of its body.
    pub size_bytes: u64,
    /// Name of the queue that it came from, if the dead-letter queue tells.
    pub source: Option<String>,
    /// Its message group, if it has one.
    pub group_id: Option<String>,
    /// What an operator has done about it.
    #[serde(default, rename = "settled")]
    pub resolution: Option<Resolution>,
    /// When it is forgotten, in seconds.
    pub expires_at: i64,
}

impl DeadLetterRecord {
    /// The id of a message that was sent then.
    pub fn id_of(sent_at: Timestamp, message_id: &str) -> String {
        format!("{:013}-{message_id}", sent_at.0)
    }

    /// Nobody has replayed or discarded it.
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }
}

/// What an operator has done about a letter.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Settlement {
    /// Its message was sent again, or its job opened again for it.
    Replayed,
    /// Nothing; it is not wanted any more.
    Discarded,
}

/// What was done about a letter, by whom and when. It stays: the first one counts.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Resolution {
    /// What.
    pub how: Settlement,
    /// The operator, by the claim `sub` of the token.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_is_read_as_a_message_of_its_queue_and_keeps_no_rows() {
        let job = JobId::generate();
        let chunk = format!(
            r#"{{"jobId":"{job}","tenant":"t","group":4,"chunk":2,"plan":{{"first":1,"items":2,"start":3,"end":4}},"inline":"secret"}}"#
        );
        let dead_letter = DeadLetterMessage::read(Queue::Chunk, &chunk);
        assert_eq!((dead_letter.job_id(), dead_letter.place()), (Some(job), Some(ChunkId { group: 4, chunk: 2 })));
        assert!(!format!("{dead_letter:?}").contains("secret"));
        for (queue, body) in [(Queue::Create, chunk.as_str()), (Queue::Complete, "{}"), (Queue::Chunk, "rows, rows")] {
            let dead_letter = DeadLetterMessage::read(queue, body);
            assert!(matches!(dead_letter, DeadLetterMessage::Unreadable { .. }), "{dead_letter:?}");
        }
    }

    #[test]
    fn ids_sort_by_the_time_of_sending() {
        let ids = [(999, "b"), (1_700_000_000_000, "a"), (1_700_000_000_001, "a")];
        assert!(ids.map(|(at, id)| DeadLetterRecord::id_of(Timestamp(at), id)).is_sorted());
    }
}
