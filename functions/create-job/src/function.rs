//! The function on Lambda: one create message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use crate::splitter::Splitter;

/// State of the function: services and job types.
pub struct CreateJob<S, Q, F> {
    ports: Ports<S, Q, F>,
    registry: Registry,
}

impl<S: Store, Q: Queues, F: Files> MessageHandler for CreateJob<S, Q, F> {
    type Message = CreateMessage;
    const FUNCTION: &'static str = "create-job";

    fn job_id(message: &CreateMessage) -> Option<JobId> {
        Some(message.job_id)
    }

    async fn handle(&self, message: CreateMessage, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock: Timestamp::now };
        Ok(format!("{:?}", splitter.deliver(&message, delivery).await?))
    }
}

/// Runs the function with these job types, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let (queue, retry_base_s) = (aws.queues(), config::retry_base_s()?);
    batch::serve(Server { handler: CreateJob { ports, registry }, queue, retry_base_s }).await
}
