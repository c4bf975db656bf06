//! The work on a delivered chunk: nothing, an attempt, or an attempt with a permit of the concurrency limiter.
//!
//! The limiter of a job type acquires a permit or parks a chunk, and wakes the next chunks. A worker without a permit
//! parks its chunk, then tries again to acquire a permit. A worker that ends releases its permit, then reads the parked
//! chunks. One of the two always sees the other's write, so no chunk stays parked while a permit is free. A worker that
//! dies in between leaves a permit that expires, or a chunk that is woken again. The sweeper also wakes parked chunks
//! every minute.

use longshore_domain::concurrency::{ParkedChunk, Permit, free_permits};
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{
    Acquisition, ChunkState, Files, Ledger, ParkedChunks, Permits, PortResult, Queues, Store, WakeMark,
};
use longshore_domain::random::{fraction, nonce};
use longshore_domain::retry;
use longshore_domain::timestamp::Timestamp;

use super::attempt::Attempt;
use super::delivery::{ChunkDelivery, ChunkEnd, ChunkError, Mode};
use super::ending::{complete_if_done, roll_up};
use super::worker::Worker;
use crate::ports::Ports;
use crate::telemetry;

/// Time before a round is due within which it starts immediately: the queue's delay is in whole seconds.
const EARLY_MS: i64 = 2_000;

/// Failed deliveries after which a chunk is given up instead of parked again: the queue's default maximum. The queue
/// cannot count them itself, because each wake sends a new message.
const MAX_FAILURES: u32 = 10;

/// Maximum number of parked chunks that are read for one wake-up: less than a page of a query.
const MAX_READ: usize = 1_000;

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk until it is finished, the job stops, its turn has ended, or `deadline` is near.
    ///
    /// # Errors
    /// See [`ChunkError`]; earlier commits are kept.
    pub async fn work(&self, message: &ChunkMessage, mode: Mode, deadline: Timestamp) -> Result<ChunkEnd, ChunkError> {
        let state = self.ports.store.chunk_state(message.job_id, message.group).await?;
        // The message and the job must have the same tenant: another tenant's job counts as absent.
        let Some(state) = state.filter(|state| state.job.tenant == message.tenant) else {
            return Ok(ChunkEnd::Absent);
        };
        let delivery = ChunkDelivery { message, mode, deadline };
        let Some(limit) = self.concurrency_limit(&state.job, mode).await? else {
            return match self.without_handler(delivery, &state).await? {
                Some(end) => Ok(end),
                None => self.attempt(delivery, &state).await,
            };
        };
        let (ports, job_type) = (self.ports, state.job.job_type.as_str());
        let limiter = ConcurrencyLimiter { ports, job_type, limit: limit.max(1), clock: self.clock };
        let end = self.work_limited(&limiter, delivery, &state).await;
        // Also after an error, and without a permit: a chunk that was woken but needs no permit must not block others.
        // Not after a pause: the handler can take no other chunk either, and the sweeper wakes some every minute.
        if !matches!(end, Ok(ChunkEnd::Parked | ChunkEnd::Paused))
            && let Err(error) = limiter.wake().await
        {
            // Not an error of this chunk: the next worker that ends, or the sweeper, wakes the others.
            let error = telemetry::chain(&error);
            tracing::warn!(job.r#type = job_type, error, "cannot wake parked chunks");
        }
        end
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
        let Some(limit) = definition.limits().chunks_at_once else { return Ok(None) };
        let limit = self.registry.handlers().map_or(limit, |handlers| limit.min(handlers.max_concurrency()));
        let read = self.ports.store.handler_state(&job.job_type).await?;
        Ok(Some(read.state.concurrency.now(limit, (self.clock)())))
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
        let mut permit = limiter.acquire(message.job_id, deadline).await?;
        if permit.is_none() {
            if message.failures >= MAX_FAILURES {
                let (group, chunk) = (message.group, message.chunk);
                let text = "a chunk failed too often to be parked again; its remaining items fail";
                tracing::error!(job.id = %message.job_id, group, chunk, "{text}");
                return Box::pin(self.work(message, Mode::GiveUp, deadline)).await;
            }
            permit = limiter.park(&state.job, message, deadline).await?;
        }
        let Some(permit) = permit else { return Ok(ChunkEnd::Parked) };
        if message.parked_until.is_some() {
            // Woken by its own delayed message: nobody else is to wake it while it runs.
            let parked = ParkedChunk::new(&state.job, message, limiter.limit);
            if let Err(error) = self.wake_itself(&state.job.job_type, &parked).await {
                // Somebody wakes it once more, and a duplicate message is harmless. The permit must be released.
                let error = telemetry::chain(&error);
                tracing::warn!(job.id = %message.job_id, error, "cannot remove a parked chunk");
            }
        }
        let end = self.attempt(delivery, state).await;
        if let Err(error) = limiter.release(&permit).await {
            // The permit expires by itself.
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "cannot release a permit");
        }
        end
    }

    /// Counts the wake-up by a chunk's own delayed message as progress, as every other, and removes the parked chunk.
    async fn wake_itself(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        let (message, store) = (&parked.message, &self.ports.store);
        store.chunk_woken(message.job_id, message.group, (self.clock)()).await?;
        store.unpark(job_type, parked).await
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
        let early = delivery.mode == Mode::Work && self.send_again_if_early(delivery.message, &state.group).await?;
        Ok(early.then_some(ChunkEnd::TooEarly))
    }

    async fn attempt(&self, delivery: ChunkDelivery<'_>, state: &ChunkState) -> Result<ChunkEnd, ChunkError> {
        let ChunkDelivery { message, mode, deadline } = delivery;
        let definition = self.definitions.get(self.ports, self.registry, &state.job, mode).await?;
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

/// The concurrency limiter of one job type.
pub struct ConcurrencyLimiter<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Name of the job type.
    pub job_type: &'a str,
    /// Maximum number of its chunks that run at once.
    pub limit: u32,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Ledger + Permits + ParkedChunks, Q: Queues, F> ConcurrencyLimiter<'_, S, Q, F> {
    /// Acquires a permit, if one is free, for an attempt that stops by itself at `deadline`.
    async fn acquire(&self, job_id: JobId, deadline: Timestamp) -> PortResult<Option<Permit>> {
        let now = (self.clock)();
        let mut free = free_permits(&self.ports.store.permits(self.job_type).await?, self.limit, now);
        // A random start, so that concurrent workers do not all try the same permit first.
        let count = free.len();
        free.rotate_left(((fraction() * count as f64) as usize).min(count));
        let holder = Permit::holder_of(job_id, &nonce());
        for number in free {
            let permit = Permit::new(number, &holder, deadline);
            if self.ports.store.acquire(self.job_type, &permit, now).await? == Acquisition::Acquired {
                return Ok(Some(permit));
            }
        }
        Ok(None)
    }

    /// Parks a chunk. Returns a permit if one was released before the releasing worker could see the chunk. The chunk
    /// then stays parked, because another delivery of it without a permit may rely on that. It is woken once more, and
    /// a duplicate message is harmless.
    async fn park(&self, job: &Job, message: &ChunkMessage, deadline: Timestamp) -> PortResult<Option<Permit>> {
        let parked = ParkedChunk::new(job, message, self.limit);
        self.ports.store.park(self.job_type, &parked).await?;
        self.acquire(job.job_id, deadline).await
    }

    /// Releases a permit.
    async fn release(&self, permit: &Permit) -> PortResult<()> {
        self.ports.store.release(self.job_type, permit).await
    }

    /// Wakes as many chunks as there are free permits, and returns their number. Each chunk is recorded as woken, then
    /// sent, then removed. If the process dies before the last step, the chunk is woken again. A duplicate message is
    /// harmless.
    ///
    /// # Errors
    /// If a service fails; the next worker that ends, or the sweeper, wakes the chunks.
    pub async fn wake(&self) -> PortResult<usize> {
        let store = &self.ports.store;
        // Twice the limit, because other processes may be waking the first chunks at the same time.
        let first = 2 * self.limit as usize;
        let mut parked = store.parked(self.job_type, first).await?;
        if parked.is_empty() {
            return Ok(0);
        }
        let now = (self.clock)();
        let free = free_permits(&store.permits(self.job_type).await?, self.limit, now).len();
        let can_be_woken = |parked: &ParkedChunk| parked.may_be_woken(now);
        if parked.len() == first && parked.iter().filter(|parked| can_be_woken(parked)).count() < free {
            // Chunks that are parked for a while hide those behind them.
            parked = store.parked(self.job_type, MAX_READ).await?;
        }
        let mut woken = Vec::new();
        for parked in parked.into_iter().filter(can_be_woken).take(free) {
            if store.mark_woken(self.job_type, &parked, now).await? == WakeMark::Marked {
                woken.push(ParkedChunk { woken_at: Some(now), ..parked });
            }
        }
        for ParkedChunk { message, .. } in &woken {
            store.chunk_woken(message.job_id, message.group, now).await?;
        }
        let messages: Vec<_> = woken.iter().map(|parked| parked.message.clone()).collect();
        self.ports.queues.send_chunks(&messages, 0).await?;
        for parked in &woken {
            store.unpark(self.job_type, parked).await?;
        }
        Ok(woken.len())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::tenant::TenantId;
    use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

    use super::*;

    /// One delivery gets no permit, and its message is deleted. The other delivery gets a permit.
    #[test]
    fn a_chunk_stays_parked_if_another_delivery_of_it_gets_a_permit() {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store, queues, files };
        let limiter = ConcurrencyLimiter { ports: &ports, job_type: "limited", limit: 1, clock: || Timestamp(0) };
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "limited", Timestamp(0));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
        let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
        let park = || limiter.park(&job, &message, Timestamp(9_000)).now_or_never().unwrap().unwrap();
        let first = park();
        assert!(first.is_some() && park().is_none(), "only one permit is free");
        limiter.release(&first.unwrap()).now_or_never().unwrap().unwrap();
        let second = park().unwrap();
        limiter.release(&second).now_or_never().unwrap().unwrap();
        assert_eq!(limiter.wake().now_or_never().unwrap().unwrap(), 1, "the delivery without a permit is woken");
    }
}
