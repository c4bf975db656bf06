//! A process of call-handler: the function's own code for each message of a chunk.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use call_handler::handlers::Handlers;
use call_handler::{CallHandler, HandlerMessage};
use longshore::batch::{Delivery, MessageHandler};
use longshore::handler::Registry;
use longshore::remote::{CallHandlers, Calling, RemoteCall};
use longshore_domain::timestamp::Timestamp;
use tokio::runtime::Runtime;

use super::target::Target;
use crate::job::{Chunks, Services, deadline};

/// Base of the retry schedule, in seconds, as deployed.
const RETRY_BASE_S: i64 = 30;

/// A warm process, which has one invocation at a time.
pub(super) struct Process {
    runtime: Runtime,
    handlers: Arc<Timed>,
}

impl Process {
    pub(super) fn new(target: &Target) -> Result<Self> {
        let timed = Timed { handlers: target.handlers()?, in_calls: AtomicU64::default() };
        Ok(Self { runtime: super::measure::runtime()?, handlers: Arc::new(timed) })
    }

    /// Processes messages until none is left, each in an invocation of its own.
    pub(super) fn work(&self, ports: &Services, chunks: &Chunks<'_>) -> Result<()> {
        let handlers: Arc<dyn CallHandlers> = Arc::<Timed>::clone(&self.handlers);
        let function = CallHandler::new(ports.clone(), Registry::default(), handlers, RETRY_BASE_S);
        while let Some(message) = chunks.take() {
            let delivery = Delivery { deadline: deadline(), failures: 0, sent_at: Some(Timestamp::now()) };
            let handled = function.handle(HandlerMessage::Chunk(Box::new(message)), delivery);
            self.runtime.block_on(handled).map_err(|error| anyhow!("a chunk failed: {error}"))?;
        }
        Ok(())
    }

    /// Takes the seconds that calls of the handler have taken.
    pub(super) fn take_in_calls_s(&self) -> f64 {
        self.handlers.in_calls.swap(0, Ordering::Relaxed) as f64 / 1e9
    }
}

/// The calls of call-handler, with their time.
struct Timed {
    handlers: Handlers,
    /// Nanoseconds.
    in_calls: AtomicU64,
}

impl CallHandlers for Timed {
    fn stack(&self) -> &str {
        self.handlers.stack()
    }

    fn max_concurrency(&self) -> u32 {
        self.handlers.max_concurrency()
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        Box::pin(async move {
            let began = Instant::now();
            let reply = self.handlers.call(call).await;
            let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.in_calls.fetch_add(nanos, Ordering::Relaxed);
            reply
        })
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.handlers.sleep(until)
    }
}
