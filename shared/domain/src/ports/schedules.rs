//! The schedules of tenants, and their occurrences.

use std::future::Future;

use super::{ConditionalWrite, Definition, PortResult, QuotaExceeded};
use crate::ids::ScheduleId;
use crate::job::Job;
use crate::schedule::{Occurrence, OccurrenceId, Schedule, ScheduleKey};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The filter of a list of occurrences.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct OccurrencesQuery<'a> {
    /// Tenant of the schedule.
    pub tenant: &'a TenantId,
    /// The schedule.
    pub schedule_id: ScheduleId,
    /// Only occurrences with lower ids.
    pub before: Option<&'a OccurrenceId>,
    /// Maximum number of occurrences.
    pub limit: usize,
}

/// An occurrence, with everything that is written with it.
#[derive(Copy, Clone, Debug)]
pub struct Firing<'a> {
    /// The schedule as it was read.
    pub read: &'a Schedule,
    /// The schedule after the occurrence.
    pub fired: &'a Schedule,
    /// The occurrence.
    pub occurrence: &'a Occurrence,
    /// The job that it makes.
    pub job: Option<(&'a Job, &'a Definition)>,
}

/// The outcome of a firing.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum FireWrite {
    /// Schedule, occurrence and job are stored.
    Recorded,
    /// Another writer was first. Nothing was written.
    Changed,
    /// The tenant has no room for the job. Nothing was written.
    OverQuota(QuotaExceeded),
}

/// Schedules and their occurrences.
pub trait Schedules: Send + Sync {
    /// Returns all schedules of a tenant, oldest first. Reads consistently.
    fn schedules(&self, tenant: &TenantId) -> impl Future<Output = PortResult<Vec<Schedule>>> + Send;
    /// Returns a schedule, or `None`. Reads consistently.
    fn schedule(&self, key: &ScheduleKey) -> impl Future<Output = PortResult<Option<Schedule>>> + Send;
    /// Stores a schedule: a new one if its place is free, another one if id and revision are those that were read. A
    /// repetition returns `Stored`.
    fn put_schedule(
        &self,
        schedule: &Schedule,
        read: Option<&Schedule>,
    ) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Deletes a schedule if it has the revision that was read. Its occurrences expire, and its jobs stay.
    fn delete_schedule(&self, read: &Schedule) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Moves a schedule to its next time, records the occurrence, and creates the job: all, or nothing. A repetition
    /// returns `Recorded`.
    fn fire(&self, firing: &Firing<'_>) -> impl Future<Output = PortResult<FireWrite>> + Send;
    /// Lists occurrences of a schedule, newest first.
    fn occurrences(&self, query: &OccurrencesQuery<'_>) -> impl Future<Output = PortResult<Vec<Occurrence>>> + Send;
    /// Lists schedules whose next time is before this one. Tenants take turns, each with its longest overdue first. Some
    /// changes of the last seconds may be missing.
    fn due_schedules(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<ScheduleKey>>> + Send;
}
