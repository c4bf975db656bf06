//! A worker at the gate of its job type: it takes a slot, or puts its chunk down to wait, and calls in the next ones.
//!
//! A worker that finds no slot puts its chunk down and looks again; one that leaves gives its slot back and then looks
//! who waits. So of the two one sees the other, and none waits for a slot that is free. Whoever dies in between leaves a
//! lease that ends, or a chunk that is called again; the sweeper looks every minute, too.

use longshore_domain::gate::{Lease, Waiting, free_slots};
use longshore_domain::ids::{fraction, nonce};
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Ledger, PortResult, Queues, Slots, WaitingRoom};
use longshore_domain::time_stamp::Timestamp;

use crate::ports::Ports;

/// The gate of one job type.
pub struct Gate<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Name of the job type.
    pub job_type: &'a str,
    /// How many of its chunks may run at once.
    pub limit: u32,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Ledger + Slots + WaitingRoom, Q: Queues, F> Gate<'_, S, Q, F> {
    /// A slot, if one is free, for an attempt that stops by itself at `deadline`.
    pub(super) async fn take(&self, deadline: Timestamp) -> PortResult<Option<Lease>> {
        let now = (self.clock)();
        let mut free = free_slots(&self.ports.store.leases(self.job_type).await?, self.limit, now);
        // Workers that come together do not all try the same slot first.
        let count = free.len();
        free.rotate_left(((fraction() * count as f64) as usize).min(count));
        let holder = nonce();
        for slot in free {
            let lease = Lease::of(slot, &holder, deadline);
            if self.ports.store.take(self.job_type, &lease, now).await? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// Puts a chunk down to wait; a slot all the same, if one was left before its leaver could see the chunk. Then the chunk
    /// stays down, for another delivery of it may have found no slot and rely on that: it is called in once more, and a
    /// message that comes twice is harmless.
    pub(super) async fn wait(
        &self,
        job: &Job,
        message: &ChunkMessage,
        deadline: Timestamp,
    ) -> PortResult<Option<Lease>> {
        let waiting = Waiting::of(job, message, self.limit);
        self.ports.store.wait(self.job_type, &waiting).await?;
        self.take(deadline).await
    }

    /// Gives a slot back.
    pub(super) async fn leave(&self, lease: &Lease) -> PortResult<()> {
        self.ports.store.give_back(self.job_type, lease).await
    }

    /// Calls in as many chunks as there are free slots; how many that were. Each is noted as called, then sent, then
    /// forgotten: whoever dies before the last step leaves it to be called again, and a message that comes twice is
    /// harmless.
    ///
    /// # Errors
    /// If a service fails; whoever leaves next calls again, or the sweeper.
    pub async fn call_in(&self) -> PortResult<usize> {
        let store = &self.ports.store;
        // Some of the first may just be called by others.
        let waiting = store.waiting(self.job_type, 2 * self.limit as usize).await?;
        if waiting.is_empty() {
            return Ok(0);
        }
        let now = (self.clock)();
        let free = free_slots(&store.leases(self.job_type).await?, self.limit, now).len();
        let mut called = Vec::new();
        for waiting in waiting.into_iter().filter(|waiting| waiting.may_be_called(now)).take(free) {
            if store.call(self.job_type, &waiting, now).await? {
                called.push(Waiting { called_at: Some(now), ..waiting });
            }
        }
        for Waiting { message, .. } in &called {
            store.called(message.job_id, message.group, now).await?;
        }
        let messages: Vec<_> = called.iter().map(|waiting| waiting.message.clone()).collect();
        self.ports.queues.send_chunks(&messages, 0).await?;
        for waiting in &called {
            store.forget(self.job_type, waiting).await?;
        }
        Ok(called.len())
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
    fn of_two_deliveries_of_a_chunk_one_that_finds_a_slot_does_not_take_up_the_other() {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store, queues, files };
        let gate = Gate { ports: &ports, job_type: "limited", limit: 1, clock: || Timestamp(0) };
        let job = Job::waiting(JobId::generate(), "t", "limited", Timestamp(0));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
        let message = ChunkMessage::of(&job, (0, 0), &plan);
        let wait = || gate.wait(&job, &message, Timestamp(9_000)).now_or_never().unwrap().unwrap();
        let first = wait();
        assert!(first.is_some() && wait().is_none(), "there is one slot");
        gate.leave(&first.unwrap()).now_or_never().unwrap().unwrap();
        let second = wait().unwrap();
        gate.leave(&second).now_or_never().unwrap().unwrap();
        assert_eq!(gate.call_in().now_or_never().unwrap().unwrap(), 1, "the one without a slot is called in");
    }
}
