//! The queues of control messages and chunks, their depth, and the visibility of their messages.

use std::future::Future;

use super::PortResult;
use crate::job::ChunkQueue;
use crate::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage, WebhookMessage};

/// The queues.
pub trait Queues: Send + Sync {
    /// Sends a create message: a request to split.
    fn send_create(&self, message: &CreateMessage) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends a create message to the queue of jobs whose file must be prepared before the split.
    fn send_prepare(&self, message: &CreateMessage) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends chunk messages, delivered no sooner than `delay_s` (0 to 900) from now.
    fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends a complete message: a request to end a job.
    fn send_complete(&self, message: &CompleteMessage) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends messages about webhooks, delivered no sooner than `delay_s` (0 to 900) from now.
    fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> impl Future<Output = PortResult<()>> + Send;
}

/// The queue of pings to handlers.
pub trait PingQueue: Send + Sync {
    /// Sends a request to ping the candidate of a job type. A message that arrives twice or late is harmless: its
    /// result counts only for the version that it names.
    fn send_ping(&self, message: &PingMessage) -> impl Future<Output = PortResult<()>> + Send;
}

/// Depths of queues.
pub trait QueueDepth: Send + Sync {
    /// Returns the number of messages of this queue that are waiting, in flight, or delayed. Approximate, and some
    /// seconds old: zero twice in a row means that a chunk without progress has lost its message.
    fn chunks(&self, queue: ChunkQueue) -> impl Future<Output = PortResult<u64>> + Send;
    /// Returns the number of messages about webhooks that are waiting or in flight, without delayed ones. Approximate,
    /// and some seconds old.
    fn webhooks(&self) -> impl Future<Output = PortResult<u64>> + Send;
}

/// A received message that is not yet deleted or returned.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct InFlight<'a> {
    /// The source queue.
    pub queue_arn: &'a str,
    /// Receipt handle of this receive.
    pub handle: &'a str,
}

/// The visibility of messages that are being processed.
pub trait Visibility: Send + Sync {
    /// Hides a message for a number of seconds from now. Idempotent: the last call counts.
    fn hide(&self, message: &InFlight<'_>, seconds: i32) -> impl Future<Output = PortResult<()>> + Send;
}
