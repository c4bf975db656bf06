//! The concurrency limiter of a job type: acquires a permit or parks a chunk, and wakes the next chunks.
//!
//! A worker without a permit parks its chunk, then tries again to acquire a permit. A worker that ends releases its
//! permit, then reads the parked chunks. One of the two always sees the other's write, so no chunk stays parked while a
//! permit is free. A worker that dies in between leaves a permit that expires, or a chunk that is woken again. The
//! sweeper also wakes parked chunks every minute.

use std::collections::BTreeMap;

use longshore_domain::concurrency::{ParkedChunk, Permit, Wake, free_permits};
use longshore_domain::ids::JobId;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Acquisition, Ledger, ParkedChunks, Permits, PortResult, Queues, WakeMark};
use longshore_domain::random::{fraction, nonce};
use longshore_domain::timestamp::Timestamp;

use super::delivery::{ChunkEnd, ChunkError};
use crate::ports::Ports;
use crate::telemetry;

/// Maximum number of parked chunks that are read for one wake-up: less than a page of a query.
const MAX_READ: usize = 1_000;

/// The outcome of a claim of a parked chunk.
#[derive(Debug)]
pub(super) enum Claim {
    /// The chunk is claimed, and its record is as here.
    Made(Box<ParkedChunk>),
    /// Another worker wakes the chunk, or has woken it.
    Woken,
    /// Not known, or there was nothing to claim: the chunk may be woken while it runs.
    Unknown,
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
    pub(super) async fn acquire(&self, job_id: JobId, deadline: Timestamp) -> PortResult<Option<Permit>> {
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

    /// Parks a chunk. Returns a permit if one was released before the releasing worker could see the chunk.
    pub(super) async fn park(&self, parked: &ParkedChunk, deadline: Timestamp) -> PortResult<Option<Permit>> {
        self.ports.store.park(self.job_type, parked).await?;
        self.acquire(parked.message.job_id, deadline).await
    }

    /// Claims a parked chunk for this worker: nobody wakes it before `deadline`, so that its items are not passed to the
    /// handler twice. It stays parked, because another delivery of it may rely on the record.
    pub(super) async fn claim(&self, parked: ParkedChunk, deadline: Timestamp) -> Claim {
        let (store, message) = (&self.ports.store, &parked.message);
        let wake = Wake { at: deadline, by: nonce() };
        let marked = store.mark_woken(self.job_type, &parked, &wake).await;
        // The wait counts as progress.
        let woken = store.chunk_woken(message.job_id, message.group, (self.clock)()).await;
        for error in [marked.as_ref().err(), woken.as_ref().err()].into_iter().flatten() {
            let error = telemetry::chain(error);
            tracing::warn!(job.id = %message.job_id, error, "cannot claim a parked chunk");
        }
        match marked {
            Ok(WakeMark::Marked) => Claim::Made(Box::new(ParkedChunk { woken: Some(wake), ..parked })),
            Ok(WakeMark::Changed) => Claim::Woken,
            Err(_) => Claim::Unknown,
        }
    }

    /// Removes a claimed chunk at the end of its worker's turn, unless it was parked again meanwhile. A worker that has lost
    /// parks it again: the worker that has moved the cursor may have ended, and its next message may rely on the record.
    pub(super) async fn end_claim(&self, claimed: &ParkedChunk, end: &Result<ChunkEnd, ChunkError>) {
        let store = &self.ports.store;
        let ended = match end {
            Ok(ChunkEnd::Lost) => store.park(self.job_type, claimed).await,
            Ok(ChunkEnd::Parked | ChunkEnd::HandlerWait | ChunkEnd::TooEarly) => Ok(()),
            // After an error, the worker's own message comes again.
            Ok(
                ChunkEnd::Finished
                | ChunkEnd::NextRound
                | ChunkEnd::Continued
                | ChunkEnd::Paused
                | ChunkEnd::NotLive
                | ChunkEnd::Absent,
            )
            | Err(_) => store.unpark(self.job_type, claimed).await,
        };
        if let Err(error) = ended {
            // It is woken once more, and a duplicate message changes no outcome.
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %claimed.message.job_id, error, "cannot end the claim of a parked chunk");
        }
    }

    /// Releases a permit. If that fails, the permit expires by itself.
    pub(super) async fn release(&self, permit: &Permit) {
        if let Err(error) = self.ports.store.release(self.job_type, permit).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.r#type = self.job_type, error, "cannot release a permit");
        }
    }

    /// Wakes chunks as [`Self::wake`] does. If that fails, the next worker that ends, or the sweeper, wakes them.
    pub(super) async fn wake_others(&self) {
        if let Err(error) = self.wake().await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.r#type = self.job_type, error, "cannot wake parked chunks");
        }
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
        if parked.len() == first {
            // Chunks that are parked for a while, and those of a large job, hide the chunks behind them.
            parked = store.parked(self.job_type, MAX_READ).await?;
        }
        let (wake, mut woken) = (Wake { at: now, by: nonce() }, Vec::new());
        let due = parked.into_iter().filter(can_be_woken).collect();
        for parked in in_turns_of_tenants(due).into_iter().take(free) {
            if store.mark_woken(self.job_type, &parked, &wake).await? == WakeMark::Marked {
                woken.push(ParkedChunk { woken: Some(wake.clone()), ..parked });
            }
        }
        for ParkedChunk { message, .. } in &woken {
            store.chunk_woken(message.job_id, message.group, now).await?;
        }
        // It is no longer the chunk's own delayed message, which would claim the record.
        let message = |parked: &ParkedChunk| ChunkMessage { parked_until: None, ..parked.message.clone() };
        let messages: Vec<_> = woken.iter().map(message).collect();
        self.ports.queues.send_chunks(&messages, 0).await?;
        for parked in &woken {
            store.unpark(self.job_type, parked).await?;
        }
        Ok(woken.len())
    }
}

/// Orders chunks so that the tenants take turns, each with its earliest chunks first: a large job of one tenant does not
/// keep those of the others waiting.
fn in_turns_of_tenants(chunks: Vec<ParkedChunk>) -> Vec<ParkedChunk> {
    let mut counts = BTreeMap::new();
    let mut ranked: Vec<_> = chunks
        .into_iter()
        .map(|chunk| {
            let rank: &mut u32 = counts.entry(chunk.message.tenant.clone()).or_default();
            *rank += 1;
            (*rank, chunk)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, chunk)| chunk).collect()
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
