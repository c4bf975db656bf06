//! Ports of the statistics of all queues, work queues and dead-letter queues.

use std::collections::BTreeMap;
use std::future::Future;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::PortResult;

/// A queue of the stack.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StackQueue)]
pub enum StackQueue {
    /// Jobs that are to be split.
    Create,
    /// Jobs whose file is to be prepared before the split.
    Prepare,
    /// Chunks of jobs of high priority.
    ChunkHigh,
    /// Chunks of jobs of normal priority.
    ChunkNormal,
    /// Chunks of jobs of low priority.
    ChunkLow,
    /// Chunks of registered job types.
    ChunkHandler,
    /// Jobs that are to be completed.
    Complete,
    /// Deliveries of events to webhooks.
    Webhook,
    /// Dead letters of the splitter, and of the preparation.
    CreateDeadLetters,
    /// Dead letters of chunks.
    ChunkDeadLetters,
    /// Dead letters of completion.
    CompleteDeadLetters,
    /// Dead letters of the deliveries to webhooks.
    WebhookDeadLetters,
}

impl StackQueue {
    /// Every queue.
    pub const ALL: [Self; 12] = [
        Self::Create,
        Self::Prepare,
        Self::ChunkHigh,
        Self::ChunkNormal,
        Self::ChunkLow,
        Self::ChunkHandler,
        Self::Complete,
        Self::Webhook,
        Self::CreateDeadLetters,
        Self::ChunkDeadLetters,
        Self::CompleteDeadLetters,
        Self::WebhookDeadLetters,
    ];

    /// Returns true for a dead-letter queue.
    pub const fn is_for_dead_letters(self) -> bool {
        matches!(
            self,
            Self::CreateDeadLetters | Self::ChunkDeadLetters | Self::CompleteDeadLetters | Self::WebhookDeadLetters
        )
    }
}

/// Numbers of messages in a queue. Approximate, and some seconds old.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct MessageCounts {
    /// Messages that can be received.
    pub visible: u64,
    /// Messages that were received, and neither deleted nor returned yet.
    pub in_flight: u64,
    /// Messages that cannot be received before a time.
    pub delayed: u64,
}

/// Numbers of messages.
pub trait QueueCounts: Send + Sync {
    /// Counts the messages of a queue.
    fn message_counts(&self, queue: StackQueue) -> impl Future<Output = PortResult<MessageCounts>> + Send;
}

/// Ages of messages, which the queues themselves do not tell.
pub trait QueueAges: Send + Sync {
    /// Returns the age of the oldest message in seconds, of the queues that have one. Some minutes old.
    fn oldest_ages(&self) -> impl Future<Output = PortResult<BTreeMap<StackQueue, u64>>> + Send;
}
