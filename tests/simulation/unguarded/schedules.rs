//! Schedules with one of their conditions removed.

use longshore_domain::ports::{
    ConditionalWrite, FireWrite, Firing, JobTypes, OccurrencesQuery, Page, PingRecord, PortResult, Schedules,
    TypeDeletion, TypeWrite,
};
use longshore_domain::registration::{Activation, Candidate, Refusal, Revision, StoredRegistration, TypeName, Version};
use longshore_domain::schedule::{Occurrence, Schedule, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryStore;

use super::{Unguarded, as_is, without};

impl Schedules for Unguarded<MemoryStore> {
    as_is! {
        async fn schedules(&self, tenant: &TenantId) -> PortResult<Vec<Schedule>>;
        async fn schedule(&self, key: &ScheduleKey) -> PortResult<Option<Schedule>>;
        async fn put_schedule(&self, schedule: &Schedule, read: Option<&Schedule>) -> PortResult<ConditionalWrite>;
        async fn delete_schedule(&self, read: &Schedule) -> PortResult<ConditionalWrite>;
        async fn occurrences(&self, query: &OccurrencesQuery<'_>) -> PortResult<Vec<Occurrence>>;
        async fn due_schedules(&self, before: Timestamp, limit: usize) -> PortResult<Vec<ScheduleKey>>;
    }

    /// Without its condition, an occurrence is recorded whatever was recorded meanwhile.
    async fn fire(&self, firing: &Firing<'_>) -> PortResult<FireWrite> {
        let stored = self.0.schedule(&firing.read.key()).await?.filter(|_| without("fire-once"));
        let Some(stored) = stored else { return self.0.fire(firing).await };
        let fired = Schedule { revision: stored.revision + 1, ..firing.fired.clone() };
        let occurrence = Occurrence { revision: fired.revision, ..firing.occurrence.clone() };
        self.0.fire(&Firing { read: &stored, fired: &fired, occurrence: &occurrence, job: firing.job }).await
    }
}

impl JobTypes for Unguarded<MemoryStore> {
    as_is! {
        async fn job_type(&self, name: &TypeName) -> PortResult<Option<StoredRegistration>>;
        async fn job_types(&self, after: Option<&TypeName>, limit: usize) -> PortResult<Page<StoredRegistration>>;
        async fn put_candidate(&self, name: &TypeName, candidate: Option<&Candidate>, seen: Option<&Revision>) -> PortResult<TypeWrite>;
        async fn delete_job_type(&self, name: &TypeName, seen: Option<&Revision>) -> PortResult<TypeDeletion>;
        async fn activate(&self, name: &TypeName, version: &Version, activation: &Activation) -> PortResult<PingRecord>;
        async fn refuse(&self, name: &TypeName, version: &Version, refusal: &Refusal) -> PortResult<PingRecord>;
    }
}
