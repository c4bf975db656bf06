//! Splits a job's file into chunks and sends them to the workers.
//!
//! - **Trigger:** `create-job.fifo`, from the API, from this function's own continuations and from the sweeper.
//! - **Reads and writes:** the source, streamed once; one transaction per group (group, manifest, split cursor), then
//!   its chunk messages; at the end the job's final item count.
//! - **Delivered twice:** the split cursor is the guard. If two splitters race, one commits a group and the other
//!   stops.
//! - **Retries:** the remaining items of the previous generation are replanned into new groups; the old groups are not
//!   changed. A corrected file is read completely; it selects the failed items that run again, and their new contents.
//!   For replayed dead letters, the work files of their chunks select the items; they are read when their items come
//!   up.
//! - **If it fails:** the next delivery continues from the split cursor, after it has sent again every committed group
//!   that is not known to be sent. A duplicate chunk message is harmless.
//! - **If it fails again:** the second delivery puts a copy of the message into the copies lane and acknowledges the
//!   original, so that the tenant's other jobs do not wait behind it.
//! - **Fair:** a delivery lasts one turn of some seconds, and then sends a continuation to the end of its tenant's
//!   lane.
//! - **Never:** holds more than a block, a group of small chunks and a corrected file in memory; sends a chunk whose
//!   group is not committed.

mod chains;
mod corrected;
mod dead_letters;
mod group_builder;
mod inline_rows;
mod pass;
mod retry_planner;
mod retry_selection;
mod splitter;

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

pub use splitter::{SplitEnd, SplitError, Splitter, TURN_S};

/// State of the function: services and job types.
pub struct CreateJob<S, Q, F> {
    ports: Ports<S, Q, F>,
    registry: Registry,
}

impl<S: Store, Q: Queues, F: Files> MessageHandler for CreateJob<S, Q, F> {
    type Message = CreateMessage;
    const FUNCTION: &'static str = "create-job";

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
