//! Records whose writes have no condition, or none that is taken out.

use longshore::store::memory::MemoryStore;
use longshore_domain::dead_letter::{DeadLetter, Settled};
use longshore_domain::deliveries::Deliveries;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::Priority;
use longshore_domain::ports::{
    DeadLetterNotes, Delivered, DeliveryNotes, JobPosition, Page, PortResult, Removal, Sweeps,
};

use super::{Unguarded, as_is};

impl Sweeps for Unguarded<MemoryStore> {
    as_is! {
        async fn sweep_position(&self) -> PortResult<Option<JobPosition>>;
        async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()>;
    }
}

impl DeliveryNotes for Unguarded<MemoryStore> {
    as_is! {
        async fn note_delivery(&self, delivered: &Delivered<'_>) -> PortResult<()>;
        async fn deliveries(&self, tenant: &str, priority: Priority) -> PortResult<Deliveries>;
    }
}

impl Removal for Unguarded<MemoryStore> {
    as_is! {
        async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<bool>;
        async fn remove(&self, id: JobId) -> PortResult<()>;
    }
}

impl DeadLetterNotes for Unguarded<MemoryStore> {
    as_is! {
        async fn note(&self, letter: &DeadLetter, body: Option<&str>) -> PortResult<()>;
        async fn letter(&self, id: &str) -> PortResult<Option<DeadLetter>>;
        async fn body(&self, letter: &DeadLetter) -> PortResult<Option<String>>;
        async fn letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetter>>;
        async fn settle(&self, id: &str, settled: &Settled) -> PortResult<Option<DeadLetter>>;
    }
}
