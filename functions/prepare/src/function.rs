//! The function on Lambda: one message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::config::{self, Aws};
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use crate::preparer::{Preparer, Waits};

/// State of the function: its services.
pub struct Prepare<S, Q, F> {
    ports: Ports<S, Q, F>,
    max_file_bytes: u64,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> MessageHandler for Prepare<S, Q, F> {
    type Message = CreateMessage;
    const FUNCTION: &'static str = "prepare";

    fn job_id(message: &CreateMessage) -> Option<JobId> {
        Some(message.job_id)
    }

    async fn handle(&self, message: CreateMessage, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let Self { ports, max_file_bytes } = self;
        let waits = Waits::Asynchronously;
        let preparer = Preparer { ports, waits, max_file_bytes: *max_file_bytes, clock: Timestamp::now };
        Ok(format!("{:?}", preparer.deliver(&message, delivery).await?))
    }
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let (queue, retry_base_s) = (aws.queues(), config::retry_base_s()?);
    batch::serve(Server { handler: Prepare { ports, max_file_bytes: config::max_file_bytes()? }, queue, retry_base_s })
        .await
}
