//! The gates in memory.

use std::collections::BTreeMap;

use longshore_domain::gate::{Lease, Waiting};
use longshore_domain::ports::{PortResult, Slots, WaitingRoom};
use longshore_domain::time_stamp::Timestamp;

use super::MemoryStore;

/// The gate of one job type.
#[derive(Debug, Default)]
pub(super) struct GateRecords {
    leases: BTreeMap<u32, Lease>,
    /// By name, and so by turn.
    waiting: BTreeMap<String, Waiting>,
}

impl MemoryStore {
    fn gate<T>(&self, job_type: &str, then: impl FnOnce(&mut GateRecords) -> T) -> T {
        then(self.records().gates.entry(job_type.to_owned()).or_default())
    }
}

impl Slots for MemoryStore {
    async fn leases(&self, job_type: &str) -> PortResult<Vec<Lease>> {
        Ok(self.gate(job_type, |gate| gate.leases.values().cloned().collect()))
    }

    async fn take(&self, job_type: &str, lease: &Lease, now: Timestamp) -> PortResult<bool> {
        Ok(self.gate(job_type, |gate| {
            let taken = lease.may_replace(gate.leases.get(&lease.slot), now);
            if taken {
                gate.leases.insert(lease.slot, lease.clone());
            }
            taken
        }))
    }

    async fn give_back(&self, job_type: &str, lease: &Lease) -> PortResult<()> {
        self.gate(job_type, |gate| {
            gate.leases.retain(|_, held| held.holder != lease.holder || held.slot != lease.slot)
        });
        Ok(())
    }
}

impl WaitingRoom for MemoryStore {
    async fn waiting(&self, job_type: &str, first: usize) -> PortResult<Vec<Waiting>> {
        Ok(self.gate(job_type, |gate| gate.waiting.values().take(first).cloned().collect()))
    }

    async fn wait(&self, job_type: &str, waiting: &Waiting) -> PortResult<()> {
        let waiting = Waiting { called_at: None, ..waiting.clone() };
        self.gate(job_type, |gate| gate.waiting.insert(waiting.name(), waiting));
        Ok(())
    }

    async fn call(&self, job_type: &str, waiting: &Waiting, now: Timestamp) -> PortResult<bool> {
        Ok(self.gate(job_type, |gate| {
            let stored = gate.waiting.get_mut(&waiting.name());
            let stored = stored.filter(|stored| [waiting.called_at, Some(now)].contains(&stored.called_at));
            stored.map(|stored| stored.called_at = Some(now)).is_some()
        }))
    }

    async fn forget(&self, job_type: &str, waiting: &Waiting) -> PortResult<()> {
        self.gate(job_type, |gate| {
            let name = waiting.name();
            if gate.waiting.get(&name).is_some_and(|stored| stored.called_at == waiting.called_at) {
                gate.waiting.remove(&name);
            }
        });
        Ok(())
    }
}
