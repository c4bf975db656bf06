//! What one tenant may take: a store refuses more in the same write that would have taken it.

use std::future::Future;

use super::PortResult;
use crate::job::Job;
use crate::time_stamp::Timestamp;

/// Room for each tenant. The same for all; a store is told once.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TenantLimits {
    /// Jobs that have not ended, deleted ones too. A job that is opened again is one of them.
    pub active_jobs: u64,
    /// Bytes of the uploads that are promised within one day, in UTC.
    pub upload_bytes_per_day: u64,
    /// Bytes of the files of jobs that are created, started or retried within one UTC day. Each of them may write a
    /// report of that size.
    pub job_bytes_per_day: u64,
    /// Calls that make work, within ten seconds of the clock, see [`CallWindow`].
    pub work_calls: u64,
}

impl Default for TenantLimits {
    /// As good as none.
    fn default() -> Self {
        let (active_jobs, work_calls) = (u64::MAX, u64::MAX);
        Self { active_jobs, upload_bytes_per_day: u64::MAX, job_bytes_per_day: u64::MAX, work_calls }
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
    /// The files of the tenant's jobs of the day have this number of bytes, and leave no room for this one.
    OverDailyBytes(u64),
}

/// A window of ten seconds of the clock, in which a tenant's calls that make work are counted. At most twice the limit
/// fits into any ten seconds.
///
/// A window is used instead of a token bucket: DynamoDB's expressions have no maximum, so a bucket would need a read
/// before its write, or a second write if the first one guessed wrong
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html>).
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct CallWindow(i64);

impl CallWindow {
    /// Seconds of a window.
    pub const SECONDS: i64 = 10;

    /// The window of this moment.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0.div_euclid(Self::SECONDS * 1_000))
    }

    /// Its number since 1970.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Its end.
    pub fn end(self) -> Timestamp {
        Timestamp((self.0 + 1) * Self::SECONDS * 1_000)
    }
}

/// Counters of a tenant outside of the writes that store jobs and uploads.
pub trait TenantCounts: Send + Sync {
    /// Counts a call that makes work; false if there were [`TenantLimits::work_calls`] in its window already.
    fn count_call(&self, tenant: &str, now: Timestamp) -> impl Future<Output = PortResult<bool>> + Send;
    /// Jobs of the tenant that have not ended. Reads them: for when a queue is deep.
    fn active_jobs(&self, tenant: &str) -> impl Future<Output = PortResult<u64>> + Send;
}
