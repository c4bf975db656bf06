//! Pauses in memory.

use longshore_domain::pause::Pause;
use longshore_domain::ports::{PauseOutcome, PauseRecords, Pauses, PortResult};

use super::MemoryStore;

impl Pauses for MemoryStore {
    async fn pauses(&self) -> PortResult<Vec<Pause>> {
        Ok(self.records().pauses.values().cloned().collect())
    }
}

impl PauseRecords for MemoryStore {
    async fn put_pause(&self, pause: &Pause) -> PortResult<PauseOutcome> {
        let mut records = self.records();
        let stored = records.pauses.get(&pause.scope);
        if let Some(stored) = stored.filter(|stored| stored.id != pause.id && stored.is_in_force(pause.since)) {
            return Ok(PauseOutcome::InForce(stored.clone()));
        }
        records.pauses.insert(pause.scope.clone(), pause.clone());
        Ok(PauseOutcome::Made)
    }

    async fn end_pause(&self, pause: &Pause) -> PortResult<()> {
        let mut records = self.records();
        if records.pauses.get(&pause.scope).is_some_and(|stored| stored.id == pause.id) {
            records.pauses.remove(&pause.scope);
        }
        Ok(())
    }
}
