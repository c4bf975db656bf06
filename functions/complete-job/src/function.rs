//! The function on Lambda: one complete message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::config::{self, Aws};
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use crate::completer::Completer;

/// Initial size of the parts of a report's file, in bytes, and so about the maximum that is held of each.
const PART_BYTES: usize = 8 << 20;

/// State of the function: services and the grace period of a stop.
pub struct CompleteJob<S, Q, F> {
    ports: Ports<S, Q, F>,
    stop_grace_ms: i64,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> MessageHandler for CompleteJob<S, Q, F> {
    type Message = CompleteMessage;
    const FUNCTION: &'static str = "complete-job";

    fn job_id(message: &CompleteMessage) -> Option<JobId> {
        Some(message.job_id)
    }

    async fn handle(
        &self,
        message: CompleteMessage,
        delivery: Delivery,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let (ports, stop_grace_ms, deadline) = (&self.ports, self.stop_grace_ms, delivery.deadline);
        let completer = Completer { ports, stop_grace_ms, deadline, part_bytes: PART_BYTES, clock: Timestamp::now };
        Ok(format!("{:?}", completer.deliver(&message, delivery.failures).await?))
    }
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let handler = CompleteJob { ports, stop_grace_ms: config::stop_grace_s()? * 1000 };
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s: config::retry_base_s()? }).await
}
