//! Concurrency limits in memory.

use longshore_domain::concurrency::{ParkedChunk, Permit, Wake};
use longshore_domain::ports::{Acquisition, ParkedChunks, Permits, PortResult, WakeMark};
use longshore_domain::timestamp::Timestamp;

use super::MemoryStore;
use super::records::ConcurrencyRecords;

impl MemoryStore {
    fn limiter<T>(&self, job_type: &str, then: impl FnOnce(&mut ConcurrencyRecords) -> T) -> T {
        then(self.records().limiters.entry(job_type.to_owned()).or_default())
    }
}

impl Permits for MemoryStore {
    async fn permits(&self, job_type: &str) -> PortResult<Vec<Permit>> {
        Ok(self.limiter(job_type, |limiter| limiter.permits.values().cloned().collect()))
    }

    async fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp) -> PortResult<Acquisition> {
        Ok(self.limiter(job_type, |limiter| {
            if !permit.may_replace(limiter.permits.get(&permit.number), now) {
                return Acquisition::Unavailable;
            }
            limiter.permits.insert(permit.number, permit.clone());
            Acquisition::Acquired
        }))
    }

    async fn release(&self, job_type: &str, permit: &Permit) -> PortResult<()> {
        self.limiter(job_type, |limiter| {
            limiter.permits.retain(|_, held| held.holder != permit.holder || held.number != permit.number)
        });
        Ok(())
    }
}

impl ParkedChunks for MemoryStore {
    async fn parked(&self, job_type: &str, limit: usize) -> PortResult<Vec<ParkedChunk>> {
        Ok(self.limiter(job_type, |limiter| limiter.parked.values().take(limit).cloned().collect()))
    }

    async fn park(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        let parked = ParkedChunk { woken: None, ..parked.clone() };
        self.limiter(job_type, |limiter| limiter.parked.insert(parked.name(), parked));
        Ok(())
    }

    async fn mark_woken(&self, job_type: &str, parked: &ParkedChunk, wake: &Wake) -> PortResult<WakeMark> {
        Ok(self.limiter(job_type, |limiter| {
            let stored = limiter.parked.get_mut(&parked.name());
            let stored = stored.filter(|stored| [parked.woken.as_ref(), Some(wake)].contains(&stored.woken.as_ref()));
            let Some(stored) = stored else { return WakeMark::Changed };
            stored.woken = Some(wake.clone());
            WakeMark::Marked
        }))
    }

    async fn unpark(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        self.limiter(job_type, |limiter| {
            let name = parked.name();
            if limiter.parked.get(&name).is_some_and(|stored| stored.woken == parked.woken) {
                limiter.parked.remove(&name);
            }
        });
        Ok(())
    }
}
