//! Permits and parked chunks without conditions.

use longshore::store::memory::MemoryStore;
use longshore_domain::concurrency::{ParkedChunk, Permit};
use longshore_domain::ports::{ParkedChunks, Permits, PortResult};
use longshore_domain::time_stamp::Timestamp;

use super::{Unguarded, as_is, without};

impl Permits for Unguarded<MemoryStore> {
    as_is! {
        async fn permits(&self, job_type: &str) -> PortResult<Vec<Permit>>;
    }

    async fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp) -> PortResult<bool> {
        if without("permits-acquired-when-free") {
            self.vacate(job_type, permit.number).await?;
        }
        self.0.acquire(job_type, permit, now).await
    }

    async fn release(&self, job_type: &str, permit: &Permit) -> PortResult<()> {
        if without("permits-released-by-their-holder") {
            return self.vacate(job_type, permit.number).await;
        }
        self.0.release(job_type, permit).await
    }
}

impl Unguarded<MemoryStore> {
    /// Releases a permit regardless of its holder.
    async fn vacate(&self, job_type: &str, number: u32) -> PortResult<()> {
        for held in self.0.permits(job_type).await?.into_iter().filter(|held| held.number == number) {
            self.0.release(job_type, &held).await?;
        }
        Ok(())
    }

    /// The current record of a parked chunk.
    async fn noted(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<ParkedChunk> {
        let all = self.0.parked(job_type, usize::MAX).await?;
        Ok(all.into_iter().find(|noted| noted.name() == parked.name()).unwrap_or_else(|| parked.clone()))
    }
}

impl ParkedChunks for Unguarded<MemoryStore> {
    as_is! {
        async fn parked(&self, job_type: &str, first: usize) -> PortResult<Vec<ParkedChunk>>;
        async fn park(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()>;
    }

    async fn mark_woken(&self, job_type: &str, parked: &ParkedChunk, now: Timestamp) -> PortResult<bool> {
        if without("called-by-one") {
            return self.0.mark_woken(job_type, &self.noted(job_type, parked).await?, now).await;
        }
        self.0.mark_woken(job_type, parked, now).await
    }

    async fn forget(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        if without("forgotten-as-it-was-read") {
            return self.0.forget(job_type, &self.noted(job_type, parked).await?).await;
        }
        self.0.forget(job_type, parked).await
    }
}
