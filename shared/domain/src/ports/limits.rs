//! What one tenant may take: a store refuses more in the same write that would have taken it.

use crate::job::Job;

/// Room for each tenant. The same for all; a store is told once.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TenantLimits {
    /// Jobs that have not ended, deleted ones too. A job that is opened again is one of them.
    pub active_jobs: u64,
    /// Bytes of the uploads that are promised within one day, in UTC.
    pub upload_bytes_per_day: u64,
}

impl Default for TenantLimits {
    /// As good as none.
    fn default() -> Self {
        Self { active_jobs: u64::MAX, upload_bytes_per_day: u64::MAX }
    }
}

/// What a retry met.
#[derive(Clone, PartialEq, Debug)]
pub enum Reopened {
    /// It took; the job as it now is.
    Made(Box<Job>),
    /// The job has not ended, is deleted, or was opened by another.
    Refused,
    /// The tenant has so many active jobs, and no room for one more.
    OverLimit(u64),
}
