//! Lists: the filter of jobs, positions and pages.

use std::collections::BTreeMap;

use crate::ids::JobId;
use crate::job::{Job, Status};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// A position in a list of jobs, newest first: after the job with this age and id.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct JobPosition {
    /// Time at which the job was accepted.
    pub created_at: Timestamp,
    /// Id of the job, among those of the same millisecond.
    pub job_id: JobId,
}

impl JobPosition {
    /// Returns the position after a job.
    pub fn after(job: &Job) -> Self {
        Self { created_at: job.times.created_at, job_id: job.job_id }
    }
}

/// The jobs among which a list selects.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum JobsOf<'a> {
    /// Those of a tenant.
    Tenant(&'a TenantId),
    /// Those of all tenants that were accepted on the day of this time, in UTC. Jobs that an earlier version has
    /// accepted are not among them.
    Day(Timestamp),
}

/// A range of times at which jobs were accepted.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct CreatedRange {
    /// The first time.
    pub from: Timestamp,
    /// The time after the last one.
    pub before: Timestamp,
}

impl CreatedRange {
    /// Any time.
    pub const ALL: Self = Self { from: Timestamp(0), before: Timestamp(1_000_000_000_000_000) };

    /// Returns true if the time is in the range.
    pub fn contains(self, time: Timestamp) -> bool {
        (self.from..self.before).contains(&time)
    }
}

/// The filter of a list of jobs.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct JobsQuery<'a> {
    /// The jobs among which the list selects.
    pub of: JobsOf<'a>,
    /// Only jobs that were accepted at these times.
    pub created: CreatedRange,
    /// Only jobs with this status.
    pub status: Option<Status>,
    /// Only jobs of this type.
    pub job_type: Option<&'a str>,
    /// Only jobs with all of these pairs in their metadata.
    pub metadata: &'a BTreeMap<String, String>,
    /// Maximum number of jobs, 1 to 100.
    pub limit: usize,
    /// Only jobs after this position.
    pub after: Option<JobPosition>,
}

impl JobsQuery<'_> {
    /// Returns true if the filter includes the job, regardless of its position.
    pub fn includes(&self, job: &Job) -> bool {
        let created_at = job.times.created_at;
        let is_of = match self.of {
            JobsOf::Tenant(tenant) => job.tenant == *tenant,
            JobsOf::Day(day) => created_at.day() == day.day(),
        };
        is_of
            && self.created.contains(created_at)
            && !job.is_deleted()
            && self.status.is_none_or(|status| job.status == status)
            && self.job_type.is_none_or(|job_type| job.job_type == job_type)
            && self.metadata.iter().all(|(key, value)| job.metadata.get(key) == Some(value))
    }
}

/// A page of a list of jobs, newest first.
#[derive(Clone, PartialEq, Debug)]
pub struct JobsPage {
    /// The jobs in their current state.
    pub jobs: Vec<Job>,
    /// Position of the next page; `None` if there are no more.
    pub next: Option<JobPosition>,
}

/// A page of a list, with the cursor of the next page.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// The entries of the page.
    pub items: Vec<T>,
    /// Opaque cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}
