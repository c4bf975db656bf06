//! The worker of a function: its services, its job types, and its cached definitions.

use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use super::definition_cache::DefinitionCache;
use super::delivery::{ChunkDelivery, ChunkEnd, ChunkError, Mode};
use super::delivery_recorder::DeliveryRecorder;
use crate::batch::Delivery;
use crate::handler::Registry;
use crate::ports::Ports;

/// Seconds after which a worker commits and sends its chunk to the end of the queue. A fair queue delivers the messages
/// of quiet tenants first, but does not stop a running function. The turn bounds their wait
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>).
pub const TURN_S: i64 = 20;

/// The dependencies of a worker, other than the message.
pub struct Worker<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// The job types.
    pub registry: &'a Registry,
    /// Definitions that this process has cached.
    pub definitions: &'a DefinitionCache,
    /// Base of the retry schedule, in seconds.
    pub retry_base_s: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk message as delivered by its queue: records the delivery, and counts the earlier
    /// deliveries as failures.
    ///
    /// # Errors
    /// See [`Worker::work`].
    pub async fn deliver(
        &self,
        delivery_recorder: &DeliveryRecorder,
        message: ChunkMessage,
        delivery: Delivery,
    ) -> Result<ChunkEnd, ChunkError> {
        if let Some(sent_at) = delivery.sent_at {
            delivery_recorder.record(&self.ports.store, &message, sent_at, (self.clock)()).await;
        }
        let message = ChunkMessage { failures: message.failures + delivery.failures, ..message };
        let sent_at = delivery.sent_at.filter(|_| message.failures == 0);
        let delivery = ChunkDelivery { message: &message, mode: Mode::Work, deadline: delivery.deadline, sent_at };
        self.process(delivery).await
    }

    /// Returns the concurrency limit of a registered type: the registered one, or the share of one type.
    pub(super) fn concurrency_of_type(&self, registered: u32) -> u32 {
        self.registry.handlers().map_or(registered, |handlers| registered.min(handlers.max_concurrency()))
    }
}
