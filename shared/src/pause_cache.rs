//! Cache of the pauses of a process: a busy process makes one small query every two seconds, whatever the number of
//! chunks or polls. All pauses are in one partition; if it cannot be read for a moment, work goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longshore_domain::job::Job;
use longshore_domain::pause::{Pause, is_type_paused, pause_of};
use longshore_domain::ports::{Pauses, PortResult};
use longshore_domain::timestamp::Timestamp;

use crate::telemetry;

/// Time after a read, or a failed one, until the next read, in milliseconds.
const FRESH_MS: i64 = 2_000;

/// Maximum age of pauses that are used because they cannot be read again, in milliseconds.
const STALE_MS: i64 = 60_000;

/// The pauses as they were read last.
#[derive(Clone)]
struct LastRead {
    at: Timestamp,
    /// Time of the last read, or failed one.
    tried_at: Timestamp,
    pauses: Arc<[Pause]>,
}

impl LastRead {
    fn is_fresh(&self, now: Timestamp) -> bool {
        (0..FRESH_MS).contains(&now.millis_since(self.tried_at)) && self.is_usable(now)
    }

    fn is_usable(&self, now: Timestamp) -> bool {
        (0..STALE_MS).contains(&now.millis_since(self.at))
    }
}

/// A cache of the pauses. It is either a worker's or for display, because their reads differ in consistency.
#[derive(Default)]
pub struct PauseCache(Mutex<Option<LastRead>>);

impl PauseCache {
    /// Returns the pauses for what is only shown: they may lag behind by some seconds. If they cannot be read, and were
    /// not in the last minute, logs a warning and returns none: a call that shows them does not depend on them.
    pub async fn for_display(&self, store: &impl Pauses, now: Timestamp) -> Arc<[Pause]> {
        self.cached(now, store.recent_pauses()).await.unwrap_or_else(|error| {
            tracing::warn!(error = telemetry::chain(&error), "cannot read the pauses; none are shown");
            [].into()
        })
    }

    /// Returns true if an operator has paused the job type or the tenant.
    pub(crate) async fn is_paused(&self, store: &impl Pauses, job: &Job, now: Timestamp) -> PortResult<bool> {
        Ok(pause_of(&self.cached(now, store.pauses()).await?, job, now).is_some())
    }

    /// Returns true if an operator has paused the job type.
    pub(crate) async fn is_type_paused(&self, store: &impl Pauses, job_type: &str, now: Timestamp) -> PortResult<bool> {
        Ok(is_type_paused(&self.cached(now, store.pauses()).await?, job_type, now))
    }

    async fn cached(
        &self,
        now: Timestamp,
        read: impl Future<Output = PortResult<Vec<Pause>>>,
    ) -> PortResult<Arc<[Pause]>> {
        let last = self.lock().clone();
        if let Some(last) = last.as_ref().filter(|last| last.is_fresh(now)) {
            return Ok(Arc::clone(&last.pauses));
        }
        match (read.await, last.filter(|last| last.is_usable(now))) {
            (Ok(pauses), _) => {
                let pauses: Arc<[Pause]> = pauses.into();
                *self.lock() = Some(LastRead { at: now, tried_at: now, pauses: Arc::clone(&pauses) });
                Ok(pauses)
            }
            (Err(error), Some(last)) => {
                let (error, age_ms) = (telemetry::chain(&error), now.millis_since(last.at));
                tracing::warn!(error, age_ms, "cannot read the pauses; the last ones are used, for up to a minute");
                if let Some(stored) = self.lock().as_mut() {
                    stored.tried_at = now;
                }
                Ok(last.pauses)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastRead>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "pause_cache_tests.rs"]
mod tests;
