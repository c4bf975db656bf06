//! Slots and chunks that wait for one.

use longshore::store::memory::MemoryStore;
use longshore_domain::gate::{Lease, Waiting};
use longshore_domain::ports::{PortResult, Slots, WaitingRoom};
use longshore_domain::time_stamp::Timestamp;

use super::{Unguarded, as_is, without};

impl Slots for Unguarded<MemoryStore> {
    as_is! {
        async fn leases(&self, job_type: &str) -> PortResult<Vec<Lease>>;
    }

    async fn take(&self, job_type: &str, lease: &Lease, now: Timestamp) -> PortResult<bool> {
        if without("slots-taken-when-free") {
            self.vacate(job_type, lease.slot).await?;
        }
        self.0.take(job_type, lease, now).await
    }

    async fn give_back(&self, job_type: &str, lease: &Lease) -> PortResult<()> {
        if without("slots-given-back-by-their-holder") {
            return self.vacate(job_type, lease.slot).await;
        }
        self.0.give_back(job_type, lease).await
    }
}

impl Unguarded<MemoryStore> {
    /// Gives a slot back, whoever holds it.
    async fn vacate(&self, job_type: &str, slot: u32) -> PortResult<()> {
        for held in self.0.leases(job_type).await?.into_iter().filter(|held| held.slot == slot) {
            self.0.give_back(job_type, &held).await?;
        }
        Ok(())
    }

    /// A chunk that waits, as it is noted now.
    async fn noted(&self, job_type: &str, waiting: &Waiting) -> PortResult<Waiting> {
        let all = self.0.waiting(job_type, usize::MAX).await?;
        Ok(all.into_iter().find(|noted| noted.name() == waiting.name()).unwrap_or_else(|| waiting.clone()))
    }
}

impl WaitingRoom for Unguarded<MemoryStore> {
    as_is! {
        async fn waiting(&self, job_type: &str, first: usize) -> PortResult<Vec<Waiting>>;
        async fn wait(&self, job_type: &str, waiting: &Waiting) -> PortResult<()>;
    }

    async fn call(&self, job_type: &str, waiting: &Waiting, now: Timestamp) -> PortResult<bool> {
        if without("called-by-one") {
            return self.0.call(job_type, &self.noted(job_type, waiting).await?, now).await;
        }
        self.0.call(job_type, waiting, now).await
    }

    async fn forget(&self, job_type: &str, waiting: &Waiting) -> PortResult<()> {
        if without("forgotten-as-it-was-read") {
            return self.0.forget(job_type, &self.noted(job_type, waiting).await?).await;
        }
        self.0.forget(job_type, waiting).await
    }
}
