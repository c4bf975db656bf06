//! A worker at the gate of its job type: it takes a slot, or puts its chunk down to wait, and calls in the next ones.
//!
//! A worker that finds no slot puts its chunk down and looks again; one that leaves gives its slot back and then looks
//! who waits. So of the two one sees the other, and none waits for a slot that is free. Whoever dies in between leaves a
//! lease that ends, or a chunk that is called again; the sweeper looks every minute, too.

use longshore_domain::concurrency::{ParkedChunk, Permit, free_permits};
use longshore_domain::ids::{fraction, nonce};
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Ledger, ParkedChunks, Permits, PortResult, Queues};
use longshore_domain::time_stamp::Timestamp;

use crate::ports::Ports;

/// The gate of one job type.
pub struct ConcurrencyLimiter<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Name of the job type.
    pub job_type: &'a str,
    /// How many of its chunks may run at once.
    pub limit: u32,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Ledger + Permits + ParkedChunks, Q: Queues, F> ConcurrencyLimiter<'_, S, Q, F> {
    /// A slot, if one is free, for an attempt that stops by itself at `deadline`.
    pub(super) async fn acquire(&self, deadline: Timestamp) -> PortResult<Option<Permit>> {
        let now = (self.clock)();
        let mut free = free_permits(&self.ports.store.permits(self.job_type).await?, self.limit, now);
        // Workers that come together do not all try the same slot first.
        let count = free.len();
        free.rotate_left(((fraction() * count as f64) as usize).min(count));
        let holder = nonce();
        for number in free {
            let permit = Permit::new(number, &holder, deadline);
            if self.ports.store.acquire(self.job_type, &permit, now).await? {
                return Ok(Some(permit));
            }
        }
        Ok(None)
    }

    /// Puts a chunk down to wait; a slot all the same, if one was left before its leaver could see the chunk. Then the chunk
    /// stays down, for another delivery of it may have found no slot and rely on that: it is called in once more, and a
    /// message that comes twice is harmless.
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

    /// Gives a slot back.
    pub(super) async fn release(&self, permit: &Permit) -> PortResult<()> {
        self.ports.store.release(self.job_type, permit).await
    }

    /// Calls in as many chunks as there are free slots; how many that were. Each is noted as called, then sent, then
    /// forgotten: whoever dies before the last step leaves it to be called again, and a message that comes twice is
    /// harmless.
    ///
    /// # Errors
    /// If a service fails; whoever leaves next calls again, or the sweeper.
    pub async fn wake(&self) -> PortResult<usize> {
        let store = &self.ports.store;
        // Some of the first may just be called by others.
        let parked = store.parked(self.job_type, 2 * self.limit as usize).await?;
        if parked.is_empty() {
            return Ok(0);
        }
        let now = (self.clock)();
        let free = free_permits(&store.permits(self.job_type).await?, self.limit, now).len();
        let mut woken = Vec::new();
        for parked in parked.into_iter().filter(|parked| parked.may_be_woken(now)).take(free) {
            if store.mark_woken(self.job_type, &parked, now).await? {
                woken.push(ParkedChunk { woken_at: Some(now), ..parked });
            }
        }
        for ParkedChunk { message, .. } in &woken {
            store.chunk_woken(message.job_id, message.group, now).await?;
        }
        let messages: Vec<_> = woken.iter().map(|parked| parked.message.clone()).collect();
        self.ports.queues.send_chunks(&messages, 0).await?;
        for parked in &woken {
            store.forget(self.job_type, parked).await?;
        }
        Ok(woken.len())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::JobId;

    use super::*;
    use crate::files::MemoryFiles;
    use crate::queues::MemoryQueues;
    use crate::store::memory::MemoryStore;

    /// One delivery has found no slot, and its message is deleted. The other finds one after all.
    #[test]
    fn of_two_deliveries_of_a_chunk_one_that_finds_a_permit_does_not_take_up_the_other() {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store, queues, files };
        let limiter = ConcurrencyLimiter { ports: &ports, job_type: "limited", limit: 1, clock: || Timestamp(0) };
        let job = Job::waiting(JobId::generate(), "t", "limited", Timestamp(0));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
        let message = ChunkMessage::new(&job, (0, 0), &plan);
        let park = || limiter.park(&job, &message, Timestamp(9_000)).now_or_never().unwrap().unwrap();
        let first = park();
        assert!(first.is_some() && park().is_none(), "there is one slot");
        limiter.release(&first.unwrap()).now_or_never().unwrap().unwrap();
        let second = park().unwrap();
        limiter.release(&second).now_or_never().unwrap().unwrap();
        assert_eq!(limiter.wake().now_or_never().unwrap().unwrap(), 1, "the one without a slot is called in");
    }
}
