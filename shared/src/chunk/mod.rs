//! Processes one chunk: reads its cursor, skips what is committed, calls the handler, commits.
//!
//! The worker that processes a chunk and the sweeper that gives one up share this code, so that they cannot
//! count differently. If a chunk is delivered twice, the second delivery finds the cursor moved and adds
//! nothing. If a worker dies at any point, the next delivery continues from the last commit and offers the
//! items after it to the handler again, under the same keys. This code never deletes a message, and never
//! decides from a read after a write.

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

/// Time within which a round that is almost due starts at once: the queue's delay is in whole seconds.
const EARLY_MS: i64 = 2_000;

/// Failed deliveries before a parked chunk is dead-lettered instead of parked again: the queue's default
/// maximum. The queue itself cannot count them across messages.
const FAILURES: u32 = 10;

/// Seconds after which a worker commits, sends its chunk to the end of the queue and makes room for another.
/// A fair queue delivers the messages of quiet tenants first, but stops no running function. This turn is
/// what bounds their wait
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>).
pub const TURN_S: i64 = 20;

/// The dependencies of a worker, other than the message.
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

/// Source of the items' outcomes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Mode {
    /// The handler decides.
    Work,
    /// All remaining items fail with `dead_lettered`: no worker could process this chunk.
    GiveUp,
}

/// Result of a delivery. In every case the message is done.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ChunkEnd {
    /// Every item of the chunk has ended, now or before.
    Finished,
    /// Transient items wait for their next round.
    NextRound,
    /// The turn, or the function's time, has ended: another message continues.
    Continued,
    /// The round is not due yet: the message is sent again with the remaining delay.
    TooEarly,
    /// The type's concurrency limit is reached: the chunk is parked, and sent again when a permit is free.
    Parked,
    /// Another worker has moved the cursor.
    Lost,
    /// The job is stopping or has ended.
    NotLive,
    /// The message's tenant has no such job: it was deleted, or belongs to another tenant.
    Absent,
}

/// Error of processing a chunk: the message returns to its queue, and in the end goes to its dead-letter
/// queue.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A work file that a commit refers to is missing.
    #[error("work file {0} is missing")]
    WorkFileMissing(String),
    /// A work file is damaged.
    #[error("work file {key} cannot be read")]
    WorkFile {
        /// Key of the file.
        key: String,
        /// The cause.
        #[source]
        source: WorkFileError,
    },
    /// The job's definition cannot be used by this function: it was deployed with other job types.
    #[error("job type {job_type}: {reason}")]
    Definition {
        /// Name of the job type.
        job_type: String,
        /// The reason.
        reason: String,
    },
    /// The chunk does not match its plan.
    #[error("the chunk holds {found} items, its plan says {planned}")]
    Plan {
        /// Items found.
        found: usize,
        /// Items planned.
        planned: u32,
    },
    /// A handler returned no outcome at all, or more outcomes than items.
    #[error("the handler answered {outcomes} outcomes for {items} items")]
    Handler {
        /// Outcomes returned.
        outcomes: usize,
        /// Items offered.
        items: usize,
    },
}

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk until it is finished, the job stops, its turn has ended, or `deadline` is near.
    ///
    /// # Errors
    /// See [`ChunkError`]; earlier commits stay.
    pub async fn work(&self, message: &ChunkMessage, mode: Mode, deadline: Timestamp) -> Result<ChunkEnd, ChunkError> {
        let state = self.ports.store.chunk_state(message.job_id, message.group).await?;
        // A plan is valid only for the job that it was made for: another tenant's job counts as absent.
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
        // In every case: a chunk that was woken and needs no permit must not keep others from it.
        if !matches!(end, Ok(ChunkEnd::Parked))
            && let Err(error) = limiter.wake().await
        {
            // The chunk's own result counts; the next worker that leaves, or the sweeper, wakes the others.
            let error = telemetry::chain(&error);
            tracing::warn!(job.r#type = job_type, error, "nobody was called in");
        }
        end
    }

    /// Processes a chunk whose job type has a concurrency limit.
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
            // The permit expires by itself.
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "a permit was not released");
        }
        end
    }

    /// Returns the end of a delivery that offers no item to a handler.
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
            // The items that earlier workers deferred are a round of their own: process it at once.
            return Box::pin(self.work(message, mode, deadline)).await;
        }
        Ok(end)
    }

    async fn nothing_to_do(&self, message: &ChunkMessage, state: &ChunkState) -> Result<Option<ChunkEnd>, ChunkError> {
        // A late message of a previous generation finds its group closed, although the job may be live again.
        if !state.job.is_live() || !state.group.open || !state.job.owns(message.group) {
            return Ok(Some(ChunkEnd::NotLive));
        }
        if !state.group.cursors.get(&message.chunk).is_some_and(|c| c.finished) {
            return Ok(None);
        }
        if state.job.split.done_groups.contains(&message.group) {
            // Not recorded again: a dead letter returns with every sweep, and would make a stalled job look
            // alive.
            complete_if_done(self.ports, &state.job).await?;
        } else if state.group.is_done() {
            // The worker that finished the chunk may have died before it recorded that.
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

/// Splits a commit's outcome into the group to continue with, or the end of the attempt.
fn end_of(outcome: CommitOutcome) -> Result<Box<Group>, ChunkEnd> {
    match outcome {
        CommitOutcome::Committed(group) => Ok(group),
        CommitOutcome::Lost => Err(ChunkEnd::Lost),
        CommitOutcome::Closed => Err(ChunkEnd::NotLive),
        CommitOutcome::Absent => Err(ChunkEnd::Absent),
    }
}
