//! A list of jobs: which ones, from where on, and what comes back.

use crate::ids::JobId;
use crate::job::{Job, Status};
use crate::time_stamp::Timestamp;

/// A place in a tenant's jobs, newest first: behind the job of this age and id.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct JobPosition {
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Which one, of those of the same millisecond.
    pub job_id: JobId,
}

impl JobPosition {
    /// The place behind a job.
    pub fn behind(job: &Job) -> Self {
        Self { created_at: job.times.created_at, job_id: job.job_id }
    }
}

/// Which jobs a list is about.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct JobsWanted<'a> {
    /// Whose.
    pub tenant: &'a str,
    /// Only those of this status.
    pub status: Option<Status>,
    /// Only those of this type.
    pub job_type: Option<&'a str>,
    /// This many at most, 1 to 100.
    pub limit: usize,
    /// Only those behind this place.
    pub after: Option<JobPosition>,
}

impl JobsWanted<'_> {
    /// Whether a job is one of them, wherever it stands.
    pub fn includes(&self, job: &Job) -> bool {
        job.tenant == self.tenant
            && !job.is_deleted()
            && self.status.is_none_or(|status| job.status == status)
            && self.job_type.is_none_or(|job_type| job.job_type == job_type)
    }
}

/// Some of a tenant's jobs, newest first.
#[derive(Clone, PartialEq, Debug)]
pub struct JobsPage {
    /// Each as it now is.
    pub jobs: Vec<Job>,
    /// Where the next page begins; none if there are no more.
    pub next: Option<JobPosition>,
}
