//! The function on Lambda: one chunk message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::chunk::{DefinitionCache, DeliveryRecorder, Worker};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::timestamp::Timestamp;

/// State of the function: services, job types, and the caches of this process.
pub struct ProcessItem<S, Q, F> {
    ports: Ports<S, Q, F>,
    registry: Registry,
    definitions: DefinitionCache,
    delivery_recorder: DeliveryRecorder,
    retry_base_s: i64,
}

impl<S: Store, Q: Queues, F: Files> MessageHandler for ProcessItem<S, Q, F> {
    type Message = ChunkMessage;
    const FUNCTION: &'static str = "process-item";

    async fn handle(&self, message: ChunkMessage, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let worker = Worker {
            ports: &self.ports,
            registry: &self.registry,
            definitions: &self.definitions,
            retry_base_s: self.retry_base_s,
            clock: Timestamp::now,
        };
        let end = worker.deliver(&self.delivery_recorder, message, delivery).await?;
        Ok(format!("{end:?}"))
    }
}

/// Runs the function with these job types, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let retry_base_s = config::retry_base_s()?;
    let (definitions, delivery_recorder) = (DefinitionCache::default(), DeliveryRecorder::default());
    let handler = ProcessItem { ports, registry, definitions, delivery_recorder, retry_base_s };
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s }).await
}
