//! The functions themselves, as a message, a client or the schedule invokes them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::pin::Pin;
use std::rc::Rc;

use complete_job::Completer;
use create_job::Splitter;
use longshore::batch::Delivery;
use longshore::chunk::{KnownJobs, Receipts, Worker};
use longshore::handler::Registry;
use longshore::queues::MemoryQueues;
use longshore_domain::ids::JobId;
use longshore_domain::time_stamp::Timestamp;
use sweep::{Sweep, read_dead_letters};

use super::acts::{Act, act};
use super::dead_letters::Message;
use super::{PART_BYTES, PATIENCE_S, SWEEP_S, Services, clock};
use crate::stepwise::Stepwise;

/// Trigger of a function.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// A message, the number of its earlier deliveries, and the time it was sent.
    Message(Message, u32, Timestamp),
    Client(JobId, Act),
    Sweep,
}

impl Work {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Message(Message::Create(_), ..) => "split",
            Self::Message(Message::Chunk(_), ..) => "work",
            Self::Message(Message::Complete(_), ..) => "complete",
            Self::Client(..) => "client",
            Self::Sweep => "sweep",
        }
    }

    /// The trigger in a line of the trace.
    pub(super) fn described(&self) -> String {
        // The first digits of the id are enough to identify a job.
        let job = |id: &JobId| id.to_string().chars().take(4).collect::<String>();
        match self {
            Self::Message(Message::Create(m), ..) => {
                format!("job {} generation {} resend {}", job(&m.job_id), m.generation, m.resend)
            }
            Self::Message(Message::Chunk(m), before, _) => {
                format!("job {} chunk {}-{}, {} failures before", job(&m.job_id), m.group, m.chunk, m.failures + before)
            }
            Self::Message(Message::Complete(m), ..) => {
                format!("job {} generation {} resend {}", job(&m.job_id), m.generation, m.resend)
            }
            Self::Client(id, act) => format!("job {} {act:?}", job(id)),
            Self::Sweep => "every minute".into(),
        }
    }
}

/// End of a function.
pub(super) enum FunctionEnd {
    Done(String),
    Failed(String),
}

/// Services and state that all functions of a world share.
pub(super) struct Shared {
    pub(super) ports: Services,
    pub(super) dead_letters: Stepwise<MemoryQueues>,
    pub(super) registry: Registry,
    pub(super) known: KnownJobs,
    pub(super) retry_base_s: i64,
    /// Seconds without progress that count as healthy.
    pub(super) stall_s: i64,
    /// Generations of jobs that clients have stopped.
    pub(super) canceled: RefCell<BTreeSet<(JobId, u32)>>,
}

pub(super) fn function(shared: Rc<Shared>, work: Work) -> Pin<Box<dyn Future<Output = FunctionEnd>>> {
    Box::pin(async move {
        let Shared { ports, registry, known, retry_base_s, .. } = &*shared;
        // Waiting uses up a function's time: the function commits and sends a continuation.
        let late = clock().plus_seconds(PATIENCE_S);
        match work {
            Work::Message(Message::Create(message), failures, sent_at) => {
                let splitter = Splitter { ports, registry, clock };
                let delivery = Delivery { deadline: late, failures, sent_at: Some(sent_at) };
                function_end(splitter.deliver(&message, delivery).await)
            }
            Work::Message(Message::Chunk(message), failures, sent_at) => {
                let worker = Worker { ports, registry, known, retry_base_s: *retry_base_s, clock };
                let delivery = Delivery { deadline: late, failures, sent_at: Some(sent_at) };
                // Each worker is a process of its own, so every receipt is stored.
                function_end(worker.deliver(&Receipts::default(), message, delivery).await)
            }
            Work::Message(Message::Complete(message), failures, _) => {
                let completer = Completer { ports, stop_grace_ms: 0, deadline: late, part_bytes: PART_BYTES, clock };
                function_end(completer.deliver(&message, failures).await)
            }
            Work::Client(id, request) => function_end(act(&shared, id, request).await),
            Work::Sweep => sweep(&shared, clock().plus_seconds(SWEEP_S - 5)).await,
        }
    })
}

async fn sweep(shared: &Shared, deadline: Timestamp) -> FunctionEnd {
    let (now, left_ms) = (clock(), deadline.millis_since(clock()));
    let in_time = || clock().millis_since(now) < left_ms / 4;
    let dead_letters = read_dead_letters(&shared.ports.store, &shared.dead_letters, now, &in_time).await;
    let sweep = Sweep { ports: shared.ports.clone(), dead_letters, stall_s: shared.stall_s, clock };
    let swept = sweep.run(deadline).await;
    if swept.failures == 0 {
        FunctionEnd::Done(format!("{swept:?}"))
    } else {
        FunctionEnd::Failed(format!("{swept:?}"))
    }
}

fn function_end<T: Debug, E: Error>(result: Result<T, E>) -> FunctionEnd {
    match result {
        Ok(end) => FunctionEnd::Done(format!("{end:?}")),
        Err(error) => FunctionEnd::Failed(longshore::telemetry::chain(&error)),
    }
}
