//! The concurrency limiter of a job type: acquires a permit or parks a chunk, and wakes the next chunks.
//!
//! A worker without a permit parks its chunk, then tries again to acquire a permit. A worker that ends releases its
//! permit, then reads the parked chunks. One of the two always sees the other's write, so no chunk stays parked while a
//! permit is free. A worker that dies in between leaves a permit that expires, or a chunk that is woken again. The
//! sweeper also wakes parked chunks every minute.

use longshore_domain::concurrency::{ParkedChunk, Permit, free_permits};
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Acquisition, Ledger, ParkedChunks, Permits, PortResult, Queues, WakeMark};
use longshore_domain::random::{fraction, nonce};
use longshore_domain::timestamp::Timestamp;

use crate::ports::Ports;

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
    pub(super) async fn acquire(&self, deadline: Timestamp) -> PortResult<Option<Permit>> {
        let now = (self.clock)();
        let mut free = free_permits(&self.ports.store.permits(self.job_type).await?, self.limit, now);
        // A random start, so that concurrent workers do not all try the same permit first.
        let count = free.len();
        free.rotate_left(((fraction() * count as f64) as usize).min(count));
        let holder = nonce();
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
        self.acquire(deadline).await
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
        let parked = store.parked(self.job_type, 2 * self.limit as usize).await?;
        if parked.is_empty() {
            return Ok(0);
        }
        let now = (self.clock)();
        let free = free_permits(&store.permits(self.job_type).await?, self.limit, now).len();
        let mut woken = Vec::new();
        for parked in parked.into_iter().filter(|parked| parked.may_be_woken(now)).take(free) {
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

    use super::*;
    use longshore_domain::tenant::TenantId;
    use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

    /// One delivery gets no permit, and its message is deleted. The other delivery gets a permit.
    #[test]
    fn a_chunk_stays_parked_if_another_delivery_of_it_gets_a_permit() {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store, queues, files };
        let limiter = ConcurrencyLimiter { ports: &ports, job_type: "limited", limit: 1, clock: || Timestamp(0) };
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "limited", Timestamp(0));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
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
