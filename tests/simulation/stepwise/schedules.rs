//! Schedules, and the registrations that their jobs get.

use longshore_domain::ports::{
    ConditionalWrite, FireWrite, Firing, JobTypes, OccurrencesQuery, Page, PingRecord, PortResult, Schedules,
    TypeDeletion, TypeWrite,
};
use longshore_domain::registration::{Activation, Candidate, Refusal, Revision, StoredRegistration, TypeName, Version};
use longshore_domain::schedule::{Occurrence, Schedule, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::{Stepwise, cloned, stepwise};
use crate::faults::{Fault, after, again, before};

impl<T: Schedules> Schedules for Stepwise<T> {
    stepwise! {
        async fn schedules(&self, tenant: &TenantId) -> PortResult<Vec<Schedule>>;
        async fn schedule(&self, key: &ScheduleKey) -> PortResult<Option<Schedule>>;
        async fn put_schedule(&self, schedule: &Schedule, read: Option<&Schedule>) -> PortResult<ConditionalWrite>;
        async fn delete_schedule(&self, read: &Schedule) -> PortResult<ConditionalWrite>;
        async fn fire(&self, firing: &Firing<'_>) -> PortResult<FireWrite>;
        async fn occurrences(&self, query: &OccurrencesQuery<'_>) -> PortResult<Vec<Occurrence>>;
        async fn due_schedules(&self, before: Timestamp, limit: usize) -> PortResult<Vec<ScheduleKey>>;
    }
}

impl<T: JobTypes> JobTypes for Stepwise<T> {
    stepwise! {
        async fn job_type(&self, name: &TypeName) -> PortResult<Option<StoredRegistration>>;
        async fn job_types(&self, after: Option<&TypeName>, limit: usize) -> PortResult<Page<StoredRegistration>>;
        async fn put_candidate(&self, name: &TypeName, candidate: Option<&Candidate>, seen: Option<&Revision>) -> PortResult<TypeWrite>;
        async fn delete_job_type(&self, name: &TypeName, seen: Option<&Revision>) -> PortResult<TypeDeletion>;
        async fn activate(&self, name: &TypeName, version: &Version, activation: &Activation) -> PortResult<PingRecord>;
        async fn refuse(&self, name: &TypeName, version: &Version, refusal: &Refusal) -> PortResult<PingRecord>;
    }
}
