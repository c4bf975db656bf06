//! Messages in their queues, and the functions, invoked by a message, a client or the schedule.

use std::error::Error;
use std::fmt::Debug;
use std::pin::Pin;
use std::rc::Rc;

use complete_job::Completer;
use create_job::Splitter;
use longshore::batch::Delivery;
use longshore::chunk::{CostMeter, DeliveryRecorder, Worker};
use longshore::pause_cache::PauseCache;
use longshore_domain::dead_letter::Queue;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::timestamp::Timestamp;
use prepare::{Preparer, Waits};
use sweep::{Sweep, read_dead_letters};

use super::acts::{Act, Shared, act};
use crate::clock::clock;

/// A message of one of the queues.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Create(CreateMessage),
    Chunk(ChunkMessage),
    Complete(CompleteMessage),
    /// A message to the function that prepares files.
    Prepare(CreateMessage),
}

impl Message {
    /// The job and the chunk of a chunk message.
    pub(super) fn chunk(&self) -> Option<(JobId, ChunkId)> {
        match self {
            Self::Chunk(message) => Some((message.job_id, message.id())),
            _ => None,
        }
    }

    /// The message group in a FIFO queue.
    pub(super) fn group(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Create(message) => Some(("create", message.group_id())),
            Self::Complete(message) => Some(("complete", message.group_id())),
            Self::Prepare(message) => Some(("prepare", message.preparation_group_id())),
            Self::Chunk(_) => None,
        }
    }

    /// Returns the queue of the message, and its body.
    pub(super) fn dead(&self) -> (Queue, serde_json::Result<String>) {
        match self {
            Self::Create(message) | Self::Prepare(message) => (Queue::Create, serde_json::to_string(message)),
            Self::Chunk(message) => (Queue::Chunk, serde_json::to_string(message)),
            Self::Complete(message) => (Queue::Complete, serde_json::to_string(message)),
        }
    }

    /// Index of the function that the message invokes in [`Hops`].
    pub(super) fn function(&self) -> usize {
        match self {
            Self::Create(_) => 0,
            Self::Chunk(_) => 1,
            Self::Complete(_) => 2,
            Self::Prepare(_) => 3,
        }
    }
}

/// Invocations of splitter, worker, completion and preparation in a chain of messages.
pub(super) type Hops = [u32; 4];

/// A message in its queue.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) message: Message,
    pub(super) receives: u32,
    pub(super) sent_at: i64,
    pub(super) visible_at: i64,
    /// Invocations in the chain that led to the message, including its own.
    pub(super) hops: Hops,
}

/// Time limit of a function, in seconds.
pub(super) const PATIENCE_S: i64 = 20;
/// Size of a part of a report's file in bytes. It is small, so that most reports have parts.
const PART_BYTES: usize = 64;
/// Time in seconds after which a sweep is killed: less than a minute, so that sweeps seldom overlap.
pub(super) const SWEEP_S: i64 = 55;

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
            Self::Message(Message::Prepare(_), ..) => "prepare",
            Self::Client(..) => "client",
            Self::Sweep => "sweep",
        }
    }

    /// Describes the trigger in a line of the trace.
    pub(super) fn describe(&self) -> String {
        // The first digits of the id identify a job.
        let job = |id: &JobId| id.to_string().chars().take(4).collect::<String>();
        match self {
            Self::Message(Message::Create(m) | Message::Prepare(m), ..) => {
                format!("job {} generation {} resend {}", job(&m.job_id), m.generation, m.resend)
            }
            Self::Message(Message::Chunk(m), failures, _) => {
                format!(
                    "job {} chunk {}-{}, {} earlier failures",
                    job(&m.job_id),
                    m.group,
                    m.chunk,
                    m.failures + failures
                )
            }
            Self::Message(Message::Complete(m), ..) => {
                format!("job {} generation {} resend {}", job(&m.job_id), m.generation, m.resend)
            }
            Self::Client(id, act) => format!("job {} {act:?}", job(id)),
            Self::Sweep => "every minute".into(),
        }
    }
}

/// A running function.
pub(super) struct Task {
    pub(super) number: u64,
    pub(super) work: Work,
    /// Number of the message that it processes, if that message still exists.
    pub(super) message: Option<u64>,
    /// Number of invocations of each function in the chain of messages that led here.
    pub(super) hops: Hops,
    /// Error of its clock, in milliseconds.
    pub(super) skew_ms: i64,
    /// True if the function is slow: others take many steps between two of its steps.
    pub(super) slow: bool,
    /// Time at which the function is killed, which is after its own time limit.
    pub(super) killed_at: i64,
    /// Number of its calls that have failed.
    pub(super) errors: u32,
    pub(super) steps: u32,
    pub(super) future: Pin<Box<dyn Future<Output = FunctionEnd>>>,
}

/// End of a function.
pub(super) enum FunctionEnd {
    Done(String),
    Failed(String),
}

pub(super) fn function(shared: Rc<Shared>, work: Work) -> Pin<Box<dyn Future<Output = FunctionEnd>>> {
    Box::pin(async move {
        let Shared { ports, registry, definitions, pauses, retry_base_s, .. } = &*shared;
        let own_pauses = PauseCache::default();
        let deadline = clock().plus_seconds(PATIENCE_S);
        match work {
            Work::Message(Message::Create(message), failures, sent_at) => {
                let splitter = Splitter { ports, registry, clock };
                let delivery = Delivery { deadline, failures, sent_at: Some(sent_at) };
                function_end(splitter.deliver(&message, delivery).await)
            }
            Work::Message(Message::Chunk(message), failures, sent_at) => {
                let worker = Worker {
                    ports,
                    registry,
                    definitions,
                    pauses: pauses.as_ref().unwrap_or(&own_pauses),
                    retry_base_s: *retry_base_s,
                    clock,
                    // The time of a run is random, so it costs nothing.
                    meter: CostMeter { memory_mb: 0, ..CostMeter::default() },
                };
                let delivery = Delivery { deadline, failures, sent_at: Some(sent_at) };
                // Each worker is its own process, so every delivery is recorded.
                function_end(worker.deliver(&DeliveryRecorder::default(), message, delivery).await)
            }
            Work::Message(Message::Complete(message), failures, _) => {
                let completer = Completer { ports, stop_grace_ms: 0, deadline, part_bytes: PART_BYTES, clock };
                function_end(completer.deliver(&message, failures).await)
            }
            Work::Message(Message::Prepare(message), failures, sent_at) => {
                let preparer = Preparer { ports, waits: Waits::Blocking, max_file_bytes: 1 << 30, clock };
                let delivery = Delivery { deadline, failures, sent_at: Some(sent_at) };
                function_end(preparer.deliver(&message, delivery).await)
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
    let sweep = Sweep { ports: shared.ports.clone(), dead_letters, stall_s: shared.stall_s, retention_days: 14, clock };
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
