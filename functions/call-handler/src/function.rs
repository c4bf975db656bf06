//! The function on Lambda: one message per invocation, of a chunk or of a registration's ping.

use std::error::Error;
use std::sync::Arc;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::chunk::{ChunkFunction, CostMeter};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::remote::CallHandlers;
use longshore_domain::ids::JobId;
use longshore_domain::message::{ChunkMessage, PingMessage};
use longshore_domain::ports::{Files, JobTypes, Queues, Store};
use longshore_domain::timestamp::Timestamp;
use serde::Deserialize;

use super::handlers::Handlers;
use super::registration_ping::ping_registration;

/// A message of the function's queue.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum HandlerMessage {
    /// A chunk to process.
    Chunk(Box<ChunkMessage>),
    /// A registration whose handler is to be pinged.
    Ping(PingMessage),
}

/// The function, with its state.
pub struct CallHandler<S, Q, F> {
    chunks: ChunkFunction<S, Q, F>,
    handlers: Arc<dyn CallHandlers>,
}

impl<S: Store, Q: Queues, F: Files> CallHandler<S, Q, F> {
    /// Creates the function. The registry has the records that jobs over a dataset read.
    pub fn new(ports: Ports<S, Q, F>, registry: Registry, handlers: Arc<dyn CallHandlers>, retry_base_s: i64) -> Self {
        let registry = registry.with_handlers(Arc::clone(&handlers));
        Self { chunks: ChunkFunction::new(ports, registry, retry_base_s), handlers }
    }

    /// Sets the meter of billed units.
    #[must_use]
    pub fn metered(self, meter: CostMeter) -> Self {
        Self { chunks: self.chunks.metered(meter), ..self }
    }
}

impl<S: Store + JobTypes, Q: Queues, F: Files> MessageHandler for CallHandler<S, Q, F> {
    type Message = HandlerMessage;
    const FUNCTION: &'static str = "call-handler";

    fn job_id(message: &HandlerMessage) -> Option<JobId> {
        match message {
            HandlerMessage::Chunk(message) => Some(message.job_id),
            HandlerMessage::Ping(_) => None,
        }
    }

    async fn handle(
        &self,
        message: HandlerMessage,
        delivery: Delivery,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        Ok(match message {
            HandlerMessage::Chunk(message) => format!("{:?}", self.chunks.deliver(*message, delivery).await?),
            HandlerMessage::Ping(message) => {
                let (store, handlers) = (&self.chunks.ports.store, self.handlers.as_ref());
                let end = ping_registration(store, handlers, &message, delivery.failures, Timestamp::now).await?;
                tracing::info!(job_type = %message.name, version = %message.version, ?end, "a registration was pinged");
                format!("{end:?}")
            }
        })
    }
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let registry = Registry::default().with_records(Arc::new(aws.records()?));
    let retry_base_s = config::retry_base_s()?;
    let handler = CallHandler::new(ports, registry, Arc::new(Handlers::from_env(aws)?), retry_base_s);
    let handler = handler.metered(config::cost_meter()?);
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s }).await
}
