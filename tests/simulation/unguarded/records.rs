//! Records whose writes have no condition that can be removed, or none at all.

use longshore::store::memory::MemoryStore;
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution};
use longshore_domain::deliveries::Deliveries;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::Priority;
use longshore_domain::ports::{
    DeadLetterRecords, Delivered, DeliveryRecords, JobPosition, Page, PortResult, Removal, Sweeps,
};

use super::{Unguarded, as_is};

impl Sweeps for Unguarded<MemoryStore> {
    as_is! {
        async fn sweep_position(&self) -> PortResult<Option<JobPosition>>;
        async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()>;
    }
}

impl DeliveryRecords for Unguarded<MemoryStore> {
    as_is! {
        async fn record_delivery(&self, delivered: &Delivered<'_>) -> PortResult<()>;
        async fn deliveries(&self, tenant: &str, priority: Priority) -> PortResult<Deliveries>;
    }
}

impl Removal for Unguarded<MemoryStore> {
    as_is! {
        async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<bool>;
        async fn remove(&self, id: JobId) -> PortResult<()>;
    }
}

impl DeadLetterRecords for Unguarded<MemoryStore> {
    as_is! {
        async fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()>;
        async fn dead_letter(&self, id: &str) -> PortResult<Option<DeadLetterRecord>>;
        async fn body(&self, dead_letter: &DeadLetterRecord) -> PortResult<Option<String>>;
        async fn dead_letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetterRecord>>;
        async fn resolve(&self, id: &str, resolution: &Resolution) -> PortResult<Option<DeadLetterRecord>>;
    }
}
