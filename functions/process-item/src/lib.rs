//! Processes one chunk, item by item.
//!
//! - **Trigger:** the queue of chunks, from the splitter, from the previous round, from a worker that ran out of time,
//!   and from the sweeper.
//! - **Records**, about every ten seconds, the sending time of the messages that it receives: from it the sweeper
//!   derives which messages cannot be waiting any more.
//! - **Reads and writes:** job and group in one read, and the chunk's range of the source unless it came in the
//!   message; a work file for the items that did not succeed, and one conditional update per commit.
//! - **Concurrency limit:** if the job type limits the number of its concurrent chunks, a chunk first takes a permit.
//!   Without a free permit it is parked and its message is acknowledged. A worker that releases a permit wakes the next
//!   parked chunk.
//! - **Delivered twice:** the second delivery finds that the cursor has moved and adds nothing; items after the last
//!   commit are given to the handler again, under the same keys.
//! - **If it fails:** the message is delivered again after seconds, then at growing intervals (after its visibility
//!   timeout if the worker died), and work continues from the last commit. After the last receive it reaches the
//!   dead-letter queue, and the sweeper accounts for its items.
//! - **Never:** counts without the condition; starts an item more than three seconds after it saw the job running.
//!
//! The processing itself is [`longshore::chunk`], which the sweeper shares.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::chunk::{KnownJobs, Receipts, Worker};
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

/// State of the function: services, job types, and the caches of this process.
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
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_runtime::Error> {
    let ports = Ports { store: aws.store()?, queues: aws.queues(), files: aws.files()? };
    let retry_base_s = config::retry_base_s()?;
    let (known, receipts) = (KnownJobs::default(), Receipts::default());
    let handler = ProcessItem { ports, registry, known, receipts, retry_base_s };
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s }).await
}
