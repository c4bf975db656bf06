//! Works one chunk, item by item.
//!
//! - **Trigger:** the queue of chunks, from the splitter, from the round before, from a worker that ran out of time,
//!   and from the sweeper.
//! - **Notes**, every ten seconds or so, when the message was sent that it has received: the sweeper sees by it which
//!   messages cannot be waiting any more.
//! - **Reads and writes:** job and group in one read, the chunk's range of the source unless it came inside the
//!   message; a work file for what did not succeed, and one conditional update per commit.
//! - **At a gate:** of a job type that limits how many of its chunks run at once, a chunk takes a slot first, or is put
//!   down to wait and its message is done with; whoever ends calls in the next.
//! - **Delivered twice:** the second finds the cursor moved and adds nothing; items after the last commit are offered
//!   to the handler again, under the same keys.
//! - **If it fails:** the message is delivered again after seconds, then at growing intervals (after its visibility
//!   timeout if the worker died), and work continues from the last commit. After the last receive it reaches the
//!   dead-letter queue, and the sweeper accounts for its items.
//! - **Never:** counts without the condition, starts an item more than three seconds after it saw the job running.
//!
//! The work itself is [`longshore::chunk`], which the sweeper shares.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::chunk::{KnownJobs, Receipts, Worker};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

/// The function: services, job types, and what this process remembers.
pub struct ProcessItem<S, Q, F> {
    ports: Ports<S, Q, F>,
    registry: Registry,
    known: KnownJobs,
    receipts: Receipts,
    retry_base_s: i64,
}

impl<S: Store, Q: Queues, F: Files> MessageHandler for ProcessItem<S, Q, F> {
    type Message = ChunkMessage;
    const FUNCTION: &'static str = "process-item";

    async fn handle(&self, message: ChunkMessage, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let worker = Worker {
            ports: &self.ports,
            registry: &self.registry,
            known: &self.known,
            retry_base_s: self.retry_base_s,
            clock: Timestamp::now,
        };
        let end = worker.deliver(&self.receipts, message, delivery).await?;
        Ok(format!("{end:?}"))
    }
}

/// Runs the function with these job types, configured from the environment.
///
/// # Errors
/// If the environment lacks something, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let retry_base_s = config::retry_base_s()?;
    let (known, receipts) = (KnownJobs::default(), Receipts::default());
    let handler = ProcessItem { ports, registry, known, receipts, retry_base_s };
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s }).await
}
