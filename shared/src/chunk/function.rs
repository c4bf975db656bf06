//! The state of a function that processes chunk messages.

use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use super::definition_cache::DefinitionCache;
use super::delivery::{ChunkEnd, ChunkError};
use super::delivery_recorder::DeliveryRecorder;
use super::worker::{CostMeter, Worker};
use crate::batch::Delivery;
use crate::handler::Registry;
use crate::pause_cache::PauseCache;
use crate::ports::Ports;

/// State of a function that processes chunk messages: services, job types, and the caches of this process.
pub struct ChunkFunction<S, Q, F> {
    /// The services.
    pub ports: Ports<S, Q, F>,
    /// The job types.
    pub registry: Registry,
    definitions: DefinitionCache,
    pauses: PauseCache,
    delivery_recorder: DeliveryRecorder,
    retry_base_s: i64,
    meter: CostMeter,
}

impl<S: Store, Q: Queues, F: Files> ChunkFunction<S, Q, F> {
    /// Creates the state, with the base of the retry schedule in seconds.
    pub fn new(ports: Ports<S, Q, F>, registry: Registry, retry_base_s: i64) -> Self {
        let (definitions, pauses, delivery_recorder) = Default::default();
        Self { ports, registry, definitions, pauses, delivery_recorder, retry_base_s, meter: CostMeter::default() }
    }

    /// Sets the meter of billed units.
    #[must_use]
    pub fn metered(self, meter: CostMeter) -> Self {
        Self { meter, ..self }
    }

    /// Processes a message as delivered by its queue.
    ///
    /// # Errors
    /// See [`Worker::work`].
    pub async fn deliver(&self, message: ChunkMessage, delivery: Delivery) -> Result<ChunkEnd, ChunkError> {
        let worker = Worker {
            ports: &self.ports,
            registry: &self.registry,
            definitions: &self.definitions,
            pauses: &self.pauses,
            retry_base_s: self.retry_base_s,
            clock: Timestamp::now,
            meter: self.meter,
        };
        worker.deliver(&self.delivery_recorder, message, delivery).await
    }
}
