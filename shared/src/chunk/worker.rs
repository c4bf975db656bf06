//! The worker of a function: its services, its job types, and its cached definitions.

use longshore_domain::cost::Units;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use super::definition_cache::DefinitionCache;
use super::delivery::{ChunkDelivery, ChunkEnd, ChunkError, Mode};
use super::delivery_recorder::DeliveryRecorder;
use crate::batch::Delivery;
use crate::handler::Registry;
use crate::pause_cache::PauseCache;
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
    /// Pauses that this process has cached.
    pub pauses: &'a PauseCache,
    /// Base of the retry schedule, in seconds.
    pub retry_base_s: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
    /// The meter of billed units.
    pub meter: CostMeter,
}

/// Cost settings of a worker.
#[derive(Copy, Clone, Debug)]
pub struct CostMeter {
    /// Units of the process's calls so far.
    pub read: fn() -> Units,
    /// Memory of the function in MB.
    pub memory_mb: u32,
    /// Maximum number of chunks that are processed at once.
    pub chunks_at_once: u32,
}

impl Default for CostMeter {
    /// Returns a meter that counts no calls, of a function with the default memory.
    fn default() -> Self {
        Self { read: || Units::NONE, memory_mb: 512, chunks_at_once: 100 }
    }
}

impl CostMeter {
    /// Returns the memory of the function in GB.
    pub(super) fn gb(&self) -> f64 {
        f64::from(self.memory_mb) / 1_024.0
    }
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
        let units = (self.meter.read)();
        if let Some(sent_at) = delivery.sent_at {
            delivery_recorder.record(&self.ports.store, &message, sent_at, (self.clock)()).await;
        }
        let Delivery { deadline, failures, sent_at } = delivery;
        let message = ChunkMessage { failures: message.failures + failures, ..message };
        let sent_at = sent_at.filter(|_| message.failures == 0);
        let mode = Mode::Work;
        self.process(ChunkDelivery { message: &message, mode, deadline, sent_at, failures, units }).await
    }

    /// Returns the concurrency limit of a registered type: the registered one, or the share of one type.
    pub(super) fn concurrency_of_type(&self, registered: u32) -> u32 {
        self.registry.handlers().map_or(registered, |handlers| registered.min(handlers.max_concurrency()))
    }
}
