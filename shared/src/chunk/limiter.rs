//! The concurrency limiter of a job type: acquires a permit or parks a chunk, and wakes the next chunks.
//!
//! A worker without a permit parks its chunk, then tries again to acquire a permit. A worker that ends releases its
//! permit, then reads the parked chunks. One of the two always sees the other's write, so no chunk stays parked while a
//! permit is free. A worker that dies in between leaves a permit that expires, or a chunk that is woken again. The
//! sweeper also wakes parked chunks every minute.

use std::collections::BTreeMap;

use longshore_domain::concurrency::{ParkedChunk, Permit, free_permits};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Acquisition, Ledger, ParkedChunks, Permits, PortResult, Queues, WakeMark};
use longshore_domain::random::{fraction, nonce};
use longshore_domain::timestamp::Timestamp;

use crate::ports::Ports;

/// Maximum number of parked chunks that are read for one wake-up: less than a page of a query.
const MAX_READ: usize = 1_000;

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

    /// Parks a chunk. Returns a permit if one was released before the releasing worker could see the chunk. The chunk
    /// then stays parked, because another delivery of it without a permit may rely on that. It is woken once more, and
    /// a duplicate message is harmless.
    pub(super) async fn park(
        &self,
        job: &Job,
        message: &ChunkMessage,
        deadline: Timestamp,
    ) -> PortResult<Option<Permit>> {
        let parked = ParkedChunk::new(job, message, self.limit);
        self.ports.store.park(self.job_type, &parked).await?;
        self.acquire(job.job_id, deadline).await
    }

    /// Releases a permit.
    pub(super) async fn release(&self, permit: &Permit) -> PortResult<()> {
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
        if parked.len() == first {
            // Chunks that are parked for a while, and those of a large job, hide the chunks behind them.
            parked = store.parked(self.job_type, MAX_READ).await?;
        }
        let mut woken = Vec::new();
        let due = parked.into_iter().filter(can_be_woken).collect();
        for parked in in_turns_of_tenants(due).into_iter().take(free) {
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
