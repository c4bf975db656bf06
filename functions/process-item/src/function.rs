//! The function on Lambda: one chunk message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::chunk::ChunkFunction;
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};

/// The function, with its state.
pub struct ProcessItem<S, Q, F>(ChunkFunction<S, Q, F>);

impl<S: Store, Q: Queues, F: Files> MessageHandler for ProcessItem<S, Q, F> {
    type Message = ChunkMessage;
    const FUNCTION: &'static str = "process-item";

    fn job_id(message: &ChunkMessage) -> Option<JobId> {
        Some(message.job_id)
    }

    async fn handle(&self, message: ChunkMessage, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let end = self.0.deliver(message, delivery).await?;
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
    let handler = ProcessItem(ChunkFunction::new(ports, registry, retry_base_s).metered(config::cost_meter()?));
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s }).await
}
