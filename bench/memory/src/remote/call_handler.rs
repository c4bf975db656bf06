//! A process of call-handler: the function's own code for each message of a chunk.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use call_handler::handlers::Handlers;
use call_handler::{CallHandler, HandlerMessage};
use longshore::batch::{Delivery, MessageHandler};
use longshore::handler::Registry;
use longshore::remote::CallHandlers;
use longshore_domain::timestamp::Timestamp;
use tokio::runtime::Runtime;

use super::target::Target;
use crate::job::{Chunks, Services, deadline};

/// Base of the retry schedule, in seconds, as deployed.
const RETRY_BASE_S: i64 = 30;

/// A warm process, which has one invocation at a time.
pub(super) struct Process {
    runtime: Runtime,
    handlers: Arc<Handlers>,
}

impl Process {
    pub(super) fn new(target: &Target) -> Result<Self> {
        Ok(Self { runtime: super::measure::runtime()?, handlers: Arc::new(target.handlers()?) })
    }

    /// Processes messages until none is left, each in an invocation of its own.
    pub(super) fn work(&self, ports: &Services, chunks: &Chunks<'_>) -> Result<()> {
        let handlers: Arc<dyn CallHandlers> = Arc::<Handlers>::clone(&self.handlers);
        let function = CallHandler::new(ports.clone(), Registry::default(), handlers, RETRY_BASE_S);
        while let Some(message) = chunks.take() {
            let delivery = Delivery { deadline: deadline(), failures: 0, sent_at: Some(Timestamp::now()) };
            let handled = function.handle(HandlerMessage::Chunk(Box::new(message)), delivery);
            self.runtime.block_on(handled).map_err(|error| anyhow!("a chunk failed: {error}"))?;
        }
        Ok(())
    }
}
