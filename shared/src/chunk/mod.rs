//! Works one chunk: reads its cursor, skips what is committed, asks the handler, commits.
//!
//! One piece of code for the worker that processes a chunk and for the sweeper that gives one up, so that the two
//! can never count differently. Delivered twice: the second finds the cursor moved and adds nothing. Dies anywhere:
//! the next delivery goes on from the last commit; the items after it are offered to the handler again, under the
//! same keys. Never deletes a message, never decides from a read after a write.

mod attempt;
mod chain;
mod concurrency;
mod ending;
mod items;
mod known;
mod reasons;
mod receipts;
mod remaining;
mod tally;

use longshore_domain::group::{CommitOutcome, Group};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{ChunkState, Files, PortError, Queues, Store};
use longshore_domain::retry;
use longshore_domain::time_stamp::Timestamp;
use longshore_domain::work_file::WorkFileError;

pub use chain::{CHAIN_READS, deferred_in, read_chain};
pub use concurrency::ConcurrencyLimiter;
pub use ending::{ask_for_completion, complete_if_done, roll_up, stop_job};
pub use items::{source_changed, source_missing};
pub use known::{KnownJob, KnownJobs};
pub use reasons::DEAD_LETTERED;
pub use receipts::Receipts;
pub use remaining::{Remaining, read_remaining};

use crate::handler::Registry;
use crate::ports::Ports;
use crate::telemetry;
use attempt::Attempt;

/// A round that is due within this time is begun at once: the queue's delay is in whole seconds.
const EARLY_MS: i64 = 2_000;

/// Deliveries of a chunk that may fail before it is given up in place of being held at its gate again: as many as its
/// queue makes of a message by default. The queue itself cannot count them across messages.
const FAILURES: u32 = 10;

/// Seconds after which a worker commits, sends its chunk to the end of the queue and leaves its place to whoever waits.
/// A fair queue delivers the messages of quiet tenants first, but ends no function that runs: this is what bounds their
/// wait (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>).
pub const TURN_S: i64 = 20;

/// What a worker needs beside the message.
pub struct Worker<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// The job types.
    pub registry: &'a Registry,
    /// Definitions that this process has read before.
    pub known: &'a KnownJobs,
    /// Base of the retry schedule, in seconds.
    pub retry_base_s: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// How items get their outcomes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Mode {
    /// By the handler.
    Work,
    /// All that are left fail with `dead_lettered`: nobody could work this chunk.
    GiveUp,
}

/// How far a delivery brought its chunk. All are the message's end.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ChunkEnd {
    /// Every item of the chunk has ended, now or before.
    Finished,
    /// Transient items wait for their next round.
    NextRound,
    /// The turn, or the function's time, is over: another message goes on.
    Continued,
    /// The round is not due yet: sent again with the rest of its delay.
    TooEarly,
    /// As many chunks of the type run as may: it waits at the gate, and is sent again when a slot is free.
    Parked,
    /// Another worker has moved the cursor.
    Lost,
    /// The job stops or has ended.
    NotLive,
    /// The message's tenant has no such job: it was deleted, or is another's.
    Absent,
}

/// Why a chunk could not be worked: the message goes back to its queue, and in the end to its dead-letter queue.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A work file that a commit vouches for is not there.
    #[error("work file {0} is missing")]
    WorkFileMissing(String),
    /// A work file is damaged.
    #[error("work file {key} cannot be read")]
    WorkFile {
        /// Its key.
        key: String,
        /// What is wrong with it.
        #[source]
        source: WorkFileError,
    },
    /// The job's definition cannot be used by this function: it was deployed with other job types.
    #[error("job type {job_type}: {reason}")]
    Definition {
        /// Its name.
        job_type: String,
        /// What is wrong.
        reason: String,
    },
    /// The chunk does not hold what its plan says.
    #[error("the chunk holds {found} items, its plan says {planned}")]
    Plan {
        /// Items found.
        found: usize,
        /// Items planned.
        planned: u32,
    },
    /// A handler answered no outcome at all, or more than there were items.
    #[error("the handler answered {outcomes} outcomes for {items} items")]
    Handler {
        /// Outcomes answered.
        outcomes: usize,
        /// Items offered.
        items: usize,
    },
}

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Works a chunk until it is finished, the job stops, its turn is over, or `deadline` is near.
    ///
    /// # Errors
    /// See [`ChunkError`]; what was committed before it stays committed.
    pub async fn work(&self, message: &ChunkMessage, mode: Mode, deadline: Timestamp) -> Result<ChunkEnd, ChunkError> {
        let state = self.ports.store.chunk_state(message.job_id, message.group).await?;
        // A plan is true of the job that it was made for: what names another tenant's job is about none.
        let Some(state) = state.filter(|state| state.job.tenant == message.tenant) else {
            return Ok(ChunkEnd::Absent);
        };
        let limit = self.registry.find(&state.job.job_type).and_then(|job_type| job_type.limits().chunks_at_once);
        let Some(limit) = limit.filter(|_| mode == Mode::Work) else {
            return match self.without_handler(message, &state, mode).await? {
                Some(end) => Ok(end),
                None => self.attempt(message, &state, mode, deadline).await,
            };
        };
        let (ports, job_type) = (self.ports, state.job.job_type.as_str());
        let limiter = ConcurrencyLimiter { ports, job_type, limit: limit.max(1), clock: self.clock };
        let end = self.work_behind(&limiter, message, &state, deadline).await;
        // Whatever came of it: whoever was called in and needs no slot must not keep others from it.
        if !matches!(end, Ok(ChunkEnd::Parked))
            && let Err(error) = limiter.wake().await
        {
            // The chunk's own end stands; the next who leaves calls in, or the sweeper.
            let error = telemetry::chain(&error);
            tracing::warn!(job.r#type = job_type, error, "nobody was called in");
        }
        end
    }

    /// Works a chunk of which only so many may run at once.
    async fn work_behind(
        &self,
        limiter: &ConcurrencyLimiter<'_, S, Q, F>,
        message: &ChunkMessage,
        state: &ChunkState,
        deadline: Timestamp,
    ) -> Result<ChunkEnd, ChunkError> {
        if let Some(end) = self.without_handler(message, state, Mode::Work).await? {
            return Ok(end);
        }
        let mut permit = limiter.acquire(deadline).await?;
        if permit.is_none() {
            if message.failures >= FAILURES {
                tracing::error!(job.id = %message.job_id, group = message.group, chunk = message.chunk, "a chunk failed too often to be held again; it is given up");
                return Box::pin(self.work(message, Mode::GiveUp, deadline)).await;
            }
            permit = limiter.park(&state.job, message, deadline).await?;
        }
        let Some(permit) = permit else { return Ok(ChunkEnd::Parked) };
        let end = self.attempt(message, state, Mode::Work, deadline).await;
        if let Err(error) = limiter.release(&permit).await {
            // It ends by itself.
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "a slot was not given back");
        }
        end
    }

    /// What ends a delivery before any item is offered.
    async fn without_handler(
        &self,
        message: &ChunkMessage,
        state: &ChunkState,
        mode: Mode,
    ) -> Result<Option<ChunkEnd>, ChunkError> {
        if let Some(end) = self.nothing_to_do(message, state).await? {
            return Ok(Some(end));
        }
        let early = mode == Mode::Work && self.send_again_if_early(message, &state.group).await?;
        Ok(early.then_some(ChunkEnd::TooEarly))
    }

    async fn attempt(
        &self,
        message: &ChunkMessage,
        state: &ChunkState,
        mode: Mode,
        deadline: Timestamp,
    ) -> Result<ChunkEnd, ChunkError> {
        let known = self.known.get(self.ports, self.registry, &state.job, mode).await?;
        let end = Attempt::new(self, message, state, &known, mode, deadline).run().await?;
        if end == ChunkEnd::NextRound && mode == Mode::GiveUp {
            // The items that earlier workers filed are a round of their own: take it at once.
            return Box::pin(self.work(message, mode, deadline)).await;
        }
        Ok(end)
    }

    async fn nothing_to_do(&self, message: &ChunkMessage, state: &ChunkState) -> Result<Option<ChunkEnd>, ChunkError> {
        // A late message of a generation that has passed finds its group closed, and the job perhaps live again.
        if !state.job.is_live() || !state.group.open || !state.job.owns(message.group) {
            return Ok(Some(ChunkEnd::NotLive));
        }
        if !state.group.cursors.get(&message.chunk).is_some_and(|c| c.finished) {
            return Ok(None);
        }
        if state.job.split.done_groups.contains(&message.group) {
            // Not said again: a dead letter comes with every sweep, and would make a job that stands still look alive.
            complete_if_done(self.ports, &state.job).await?;
        } else if state.group.is_done() {
            // Whoever finished the chunk may have died before it said so.
            roll_up(self.ports, message.job_id, message.group, (self.clock)()).await?;
        }
        Ok(Some(ChunkEnd::Finished))
    }

    async fn send_again_if_early(&self, message: &ChunkMessage, group: &Group) -> Result<bool, ChunkError> {
        let now = (self.clock)();
        let due = group.cursors.get(&message.chunk).and_then(|c| c.due);
        let Some(due) = due.filter(|due| due.millis_since(now) > EARLY_MS) else { return Ok(false) };
        if let Some(delay_s) = retry::queue_delay_s(now, due) {
            let message = ChunkMessage { failures: 0, ..message.clone() };
            self.ports.queues.send_chunks(&[message], delay_s).await?;
        }
        Ok(true)
    }
}

/// A commit's outcome as the end of an attempt, if it is one.
fn end_of(outcome: CommitOutcome) -> Result<Box<Group>, ChunkEnd> {
    match outcome {
        CommitOutcome::Committed(group) => Ok(group),
        CommitOutcome::Lost => Err(ChunkEnd::Lost),
        CommitOutcome::Closed => Err(ChunkEnd::NotLive),
        CommitOutcome::Absent => Err(ChunkEnd::Absent),
    }
}
