//! The work on a delivered chunk: nothing, an attempt, or an attempt with a permit of the concurrency limiter.

use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::group::Group;
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{ChunkState, Files, PortResult, Queues, Store};
use longshore_domain::retry;
use longshore_domain::timestamp::Timestamp;

use super::attempt::Attempt;
use super::delivery::{ChunkDelivery, ChunkEnd, ChunkError, Mode};
use super::ending::{complete_if_done, roll_up};
use super::limiter::{Claim, ConcurrencyLimiter};
use super::worker::Worker;
use crate::metrics::{self, Metric};
use crate::telemetry;

/// Time before a round is due within which it starts immediately: the queue's delay is in whole seconds.
const EARLY_MS: i64 = 2_000;

/// Failed deliveries after which a chunk is given up instead of parked again: the queue's default maximum. The queue
/// cannot count them itself, because each wake sends a new message.
const MAX_FAILURES: u32 = 10;

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk until it is finished, the job stops, its turn has ended, or `deadline` is near.
    ///
    /// # Errors
    /// See [`ChunkError`]; earlier commits are kept.
    pub async fn work(&self, message: &ChunkMessage, mode: Mode, deadline: Timestamp) -> Result<ChunkEnd, ChunkError> {
        let units = (self.meter.read)();
        self.process(ChunkDelivery { message, mode, deadline, sent_at: None, failures: 0, units }).await
    }

    pub(super) async fn process(&self, delivery: ChunkDelivery<'_>) -> Result<ChunkEnd, ChunkError> {
        let message = delivery.message;
        let state = self.ports.store.chunk_state(message.job_id, message.group).await?;
        // The message and the job must have the same tenant: another tenant's job counts as absent.
        let Some(state) = state.filter(|state| state.job.tenant == message.tenant) else {
            return Ok(ChunkEnd::Absent);
        };
        telemetry::record_job(&state.job);
        let end = self.process_chunk(delivery, &state).await?;
        if end == ChunkEnd::Paused && state.group.resends > 0 {
            // The message that the sweeper has sent has arrived: pauses alone must not use up its pushes.
            self.ports.store.reset_group_resends(message.job_id, message.group).await?;
        }
        Ok(end)
    }

    async fn process_chunk(&self, delivery: ChunkDelivery<'_>, state: &ChunkState) -> Result<ChunkEnd, ChunkError> {
        let Some(limit) = self.concurrency_limit(&state.job, delivery.mode).await? else {
            return match self.without_handler(delivery, state).await? {
                Some(end) => Ok(end),
                None => self.attempt(delivery, state).await,
            };
        };
        let (ports, job_type) = (self.ports, state.job.job_type.as_str());
        let limiter = ConcurrencyLimiter { ports, job_type, limit: limit.max(1), clock: self.clock };
        let end = self.work_limited(&limiter, delivery, state).await;
        // Also after an error, and without a permit: a chunk that was woken but needs no permit must not block others.
        // Not if no call can be made: the handler can take no other chunk either, and the sweeper wakes some every minute.
        let can_others_run = match end {
            Ok(ChunkEnd::Parked | ChunkEnd::HandlerWait) => false,
            Ok(ChunkEnd::Paused) => !self.is_type_paused(&state.job).await,
            _ => true,
        };
        if can_others_run {
            limiter.wake_others().await;
        }
        end
    }

    /// Returns true if an operator has paused the job type, and not only the tenant; false if the pauses cannot be
    /// read: at worst, chunks are woken in vain.
    async fn is_type_paused(&self, job: &Job) -> bool {
        self.pauses.is_type_paused(&self.ports.store, &job.job_type, (self.clock)()).await.unwrap_or(false)
    }

    /// Returns the concurrency limit of a job's type, if it has one. That of a registered type is in the definition of
    /// the job, and is lower while the handler asks for fewer calls.
    async fn concurrency_limit(&self, job: &Job, mode: Mode) -> Result<Option<u32>, ChunkError> {
        if mode == Mode::GiveUp {
            return Ok(None);
        }
        if let Some(job_type) = self.registry.find(&job.job_type) {
            return Ok(job_type.limits().chunks_at_once);
        }
        let definition = self.definitions.get(self.ports, self.registry, job, mode).await?;
        // Without one, the job has ended, and the chunk needs no permit.
        let Some(definition) = definition else { return Ok(None) };
        let Some(limit) = definition.limits().chunks_at_once else { return Ok(None) };
        let read = self.ports.store.handler_state(&job.job_type).await?;
        Ok(Some(read.state.concurrency.now(self.concurrency_of_type(limit), (self.clock)())))
    }

    /// Processes a chunk whose job type has a concurrency limit.
    async fn work_limited(
        &self,
        limiter: &ConcurrencyLimiter<'_, S, Q, F>,
        delivery: ChunkDelivery<'_>,
        state: &ChunkState,
    ) -> Result<ChunkEnd, ChunkError> {
        if let Some(end) = self.without_handler(delivery, state).await? {
            return Ok(end);
        }
        let ChunkDelivery { message, deadline, .. } = delivery;
        let acquired = limiter.acquire(message.job_id, deadline).await?;
        let (permit, claimed) = match acquired {
            Some(permit) => {
                // Its own delayed message has come. A waker that was faster has sent another one: then both run, as after
                // every message that comes twice.
                let parked = message.parked_until.map(|_| ParkedChunk::new(&state.job, message, limiter.limit));
                let claimed = match parked {
                    Some(parked) => limiter.claim(parked, deadline).await,
                    None => Claim::Unknown,
                };
                (permit, claimed)
            }
            None => {
                if message.failures >= MAX_FAILURES {
                    let (group, chunk) = (message.group, message.chunk);
                    let text = "a chunk failed too often to be parked again; its remaining items fail";
                    tracing::error!(job.id = %message.job_id, group, chunk, "{text}");
                    return Box::pin(self.work(message, Mode::GiveUp, deadline)).await;
                }
                // It waits for a permit from now on: its own delayed message, if it had one, has come.
                let waiting = ChunkMessage { parked_until: None, ..message.clone() };
                let waiting = ParkedChunk::new(&state.job, &waiting, limiter.limit);
                let Some(permit) = limiter.park(&waiting, deadline).await? else { return Ok(ChunkEnd::Parked) };
                let claimed = limiter.claim(waiting, deadline).await;
                if matches!(claimed, Claim::Woken) {
                    // The message that another worker sends needs a permit, and so may chunks that were parked meanwhile.
                    limiter.release(&permit).await;
                    limiter.wake_others().await;
                    return Ok(ChunkEnd::Parked);
                }
                (permit, claimed)
            }
        };
        let end = self.attempt(delivery, state).await;
        if let Claim::Made(claimed) = claimed {
            limiter.end_claim(&claimed, &end).await;
        }
        limiter.release(&permit).await;
        end
    }

    /// Returns the end of a delivery that passes no item to a handler.
    async fn without_handler(
        &self,
        delivery: ChunkDelivery<'_>,
        state: &ChunkState,
    ) -> Result<Option<ChunkEnd>, ChunkError> {
        if let Some(end) = self.nothing_to_do(delivery.message, state).await? {
            return Ok(Some(end));
        }
        if delivery.mode == Mode::GiveUp {
            return Ok(None);
        }
        // No record is written: the sweeper sends chunks again that make no progress, and pushes none during the pause.
        if self.is_paused(&state.job, delivery.mode).await? {
            return Ok(Some(ChunkEnd::Paused));
        }
        let early = self.send_again_if_early(delivery.message, &state.group).await?;
        Ok(early.then_some(ChunkEnd::TooEarly))
    }

    /// Returns true if an operator has paused the job type or the tenant. A chunk that is given up needs no handler.
    pub(super) async fn is_paused(&self, job: &Job, mode: Mode) -> PortResult<bool> {
        Ok(mode == Mode::Work && self.pauses.is_paused(&self.ports.store, job, (self.clock)()).await?)
    }

    async fn attempt(&self, delivery: ChunkDelivery<'_>, state: &ChunkState) -> Result<ChunkEnd, ChunkError> {
        let ChunkDelivery { message, mode, deadline, sent_at, .. } = delivery;
        if let Some(sent_at) = sent_at.filter(|_| !state.group.cursors.contains_key(&message.chunk)) {
            let wait_ms = (self.clock)().millis_since(sent_at);
            metrics::time(Metric::ChunkWait, &[state.job.chunk_queue().as_str()], wait_ms);
        }
        let definition = self.definitions.get(self.ports, self.registry, &state.job, mode).await?;
        let definition = definition.ok_or_else(|| ChunkError::Definition {
            job_type: state.job.job_type.clone(),
            reason: "the job's definition is missing".to_owned(),
        })?;
        let end = Attempt::new(self, delivery, state, &definition).run().await?;
        if end == ChunkEnd::NextRound && mode == Mode::GiveUp {
            // The items that earlier workers deferred are another round, which is processed immediately.
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
            // Not recorded again: a dead letter is processed in every sweep, and would update a job without progress.
            complete_if_done(self.ports, &state.job).await?;
        } else if state.group.is_done() {
            // The worker that finished the chunk may have died before it recorded the group's end.
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
