//! Limits of each tenant. The store enforces them in the same write that would exceed them.

use std::future::Future;

use super::PortResult;
use crate::cost::{Month, MonthCost};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The limits of each tenant, the same for all. A store gets them once.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TenantLimits {
    /// Maximum number of jobs that have not ended, deleted ones included. A reopened job counts.
    pub active_jobs: u64,
    /// Maximum bytes of the uploads that are promised within one UTC day.
    pub upload_bytes_per_day: u64,
    /// Maximum bytes of the files of jobs that are created, started or retried within one UTC day. Each of them may
    /// write a report of that size.
    pub job_bytes_per_day: u64,
    /// Rate limit of calls that make work: calls within ten seconds of the clock, see [`CallWindow`].
    pub work_calls: u64,
    /// Rate limit of calls of the tenant's endpoints, see [`CallTimes`](super::CallTimes).
    pub webhook_calls: u64,
}

impl Default for TenantLimits {
    /// Returns limits that are practically infinite.
    fn default() -> Self {
        Self {
            active_jobs: u64::MAX,
            upload_bytes_per_day: u64::MAX,
            job_bytes_per_day: u64::MAX,
            work_calls: u64::MAX,
            webhook_calls: u64::MAX,
        }
    }
}

/// The limit that a tenant has reached, with what it has used.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum QuotaExceeded {
    /// The tenant already has this number of active jobs, the limit of [`TenantLimits::active_jobs`].
    ActiveJobs(u64),
    /// The tenant's uploads, or the files of its jobs, already have this number of bytes that day, and this one would
    /// exceed the limit.
    DailyBytes(u64),
}

/// The outcome of counting a call under a rate limit.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum CallCount {
    /// The call is within the rate limit.
    Counted,
    /// The window already has as many calls as the limit permits.
    LimitReached,
}

/// A rate-limit window of ten seconds of the clock, in which calls are counted. At most twice
/// the limit fits into any ten seconds.
///
/// A window is used instead of a token bucket: DynamoDB's expressions have no maximum, so a bucket would need a read
/// before its write, or a second write if the first one guessed wrong
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html>).
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct CallWindow(i64);

impl CallWindow {
    /// Length of a window in seconds.
    pub const SECONDS: i64 = 10;

    /// Returns the window of a time.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0.div_euclid(Self::SECONDS * 1_000))
    }

    /// Returns the window's number since 1970.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Returns the window's end.
    pub fn end(self) -> Timestamp {
        Timestamp((self.0 + 1) * Self::SECONDS * 1_000)
    }
}

/// Counters of a tenant, apart from those in the writes that store jobs and uploads.
pub trait TenantCounts: Send + Sync {
    /// Counts a call that makes work, if its window has room.
    fn count_call(&self, tenant: &TenantId, now: Timestamp) -> impl Future<Output = PortResult<CallCount>> + Send;
    /// Returns the number of the tenant's jobs that have not ended. Reads the jobs: only called while a queue is deep.
    fn active_jobs(&self, tenant: &TenantId) -> impl Future<Output = PortResult<u64>> + Send;
    /// Returns the costs of the runs that ended in a month, of this tenant or of all, in the order of tenants and job
    /// types: up to [`MonthCost::max`], and one more if there are more. The end of a run has added them.
    fn month_costs(
        &self,
        month: &Month,
        tenant: Option<&TenantId>,
    ) -> impl Future<Output = PortResult<Vec<MonthCost>>> + Send;
}
