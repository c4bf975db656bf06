//! Shared states of registered job types in memory.

use longshore_domain::ports::{HandlerStates, PortResult, Replaced};
use longshore_domain::remote::{HandlerState, ReadState};

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
            let read = ReadState { state: state.clone(), version: read + 1 };
            *stored = WrittenState { read, writer: writer.to_owned() };
        } else if stored.writer != writer {
            return Ok(Replaced::Changed(stored.read.clone()));
        }
        Ok(Replaced::Replaced)
    }
}
