//! Shared states of registered job types in memory.

use longshore_domain::ports::{HandlerStates, PortResult, Replaced, Reserved};
use longshore_domain::remote::{HandlerState, RateRequest, ReadState, ReservedUntil};

use super::MemoryStore;

/// A state with the name of its last write.
#[derive(Debug, Default)]
pub(super) struct WrittenState {
    read: ReadState,
    writer: String,
}

impl HandlerStates for MemoryStore {
    async fn handler_state(&self, job_type: &str) -> PortResult<ReadState> {
        Ok(self.records().handler_states.get(job_type).map(|stored| stored.read.clone()).unwrap_or_default())
    }

    async fn replace_handler_state(
        &self,
        job_type: &str,
        read: u64,
        state: &HandlerState,
        writer: &str,
    ) -> PortResult<Replaced> {
        let mut records = self.records();
        let stored = records.handler_states.entry(job_type.to_owned()).or_default();
        if stored.read.version == read {
            let read = ReadState { state: state.clone(), version: read + 1, reserved: stored.read.reserved };
            *stored = WrittenState { read, writer: writer.to_owned() };
        } else if stored.writer != writer {
            return Ok(Replaced::Changed(stored.read.clone()));
        }
        Ok(Replaced::Replaced)
    }

    async fn reserve_items(&self, job_type: &str, request: &RateRequest) -> PortResult<Reserved> {
        let mut records = self.records();
        let read = &mut records.handler_states.entry(job_type.to_owned()).or_default().read;
        let Some(reserved) = request.after(read.reserved) else { return Ok(Reserved::TooLate(read.clone())) };
        read.reserved = reserved;
        Ok(Reserved::Reserved(read.clone()))
    }
}

impl MemoryStore {
    /// Sets the reserved time of a job type without any condition: tests use it to show the effect of a missing one.
    /// Returns the state after it.
    pub fn amend_reserved(&self, job_type: &str, reserved: ReservedUntil) -> ReadState {
        let mut records = self.records();
        let read = &mut records.handler_states.entry(job_type.to_owned()).or_default().read;
        read.reserved = reserved;
        read.clone()
    }
}
