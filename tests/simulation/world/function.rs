//! The functions themselves, as one message sets them going.

use std::pin::Pin;
use std::rc::Rc;

use complete_job::Completer;
use create_job::Splitter;
use longshore::chunk::{KnownJobs, Mode, Worker, stop_job};
use longshore::handler::Registry;
use longshore_domain::ids::JobId;
use longshore_domain::job::Stop;
use longshore_domain::ports::JobStore;
use longshore_domain::time_stamp::Timestamp;

use super::{Message, PATIENCE_S, Services, clock};

pub(super) fn function(
    ports: Rc<Services>,
    registry: Rc<Registry>,
    message: Message,
    id: JobId,
) -> Pin<Box<dyn Future<Output = bool>>> {
    Box::pin(async move {
        // Waiting makes a function's time run out: it commits and sends a continuation.
        let late = clock().plus_seconds(PATIENCE_S);
        match message {
            Message::Create(message) => {
                let splitter = Splitter { ports: &ports, registry: &registry, clock };
                told(splitter.split(&message, late).await)
            }
            Message::Chunk(message) => {
                let known = KnownJobs::default();
                let worker = Worker { ports: &ports, registry: &registry, known: &known, retry_base_s: 0, clock };
                told(worker.work(&message, Mode::Work, late).await)
            }
            Message::Complete(message) => {
                let completer = Completer { ports: &ports, stop_grace_ms: 0, deadline: Timestamp(i64::MAX), clock };
                told(completer.complete(&message).await)
            }
            Message::Cancel => {
                let job = ports.store.job(id).await.unwrap().unwrap();
                told(stop_job(&ports, &job, &Stop::canceled(clock())).await)
            }
        }
    })
}

/// In-memory services never fail, so an error is the code's.
fn told<T, E: std::error::Error>(result: Result<T, E>) -> bool {
    if let Err(error) = &result {
        panic!("a function failed over healthy services: {}", longshore::telemetry::chain(error));
    }
    result.is_ok()
}
