//! Admission of a new job: by queue depth, and by the tenant's active jobs.
//!
//! Each process caches a queue's depth for some seconds instead of reading it for each request. The depth is
//! approximate anyway, and one job more or less does no harm: the limit only keeps the queue from growing unnoticed for
//! hours.

use std::collections::BTreeMap;
use std::time::Duration;

use longshore::http::{Failure, Tenant, rate_limited};
use longshore::problem::{Kind, Problem};
use longshore::queues::QueueDepth;
use longshore::telemetry;
use longshore_domain::admission::Admission;
use longshore_domain::job::Priority;
use longshore_domain::ports::{CallWindow, TenantCounts};
use longshore_domain::time_stamp::Timestamp;
use tokio::sync::Mutex;

use crate::{Api, Backend};

/// Cache lifetime of a queue depth. SQS itself lags by some seconds.
const CACHED_MS: i64 = 10_000;

/// Timeout of reading a depth: accepting a create is more important than an exact depth.
const PATIENCE: Duration = Duration::from_secs(1);

/// `Retry-After` of 503, in seconds: longer than the cache lifetime, because a full queue takes time to drain.
const BUSY_S: u32 = 30;

/// `Retry-After` of 429, in seconds: jobs end all the time, and a refused create costs only a few reads.
const TOO_MANY_S: u32 = 10;

/// The queue depths last seen by this process.
#[derive(Debug, Default)]
pub struct QueueDepths(Mutex<BTreeMap<Priority, Seen>>);

#[derive(Copy, Clone, Debug)]
struct Seen {
    at: Timestamp,
    /// `None` if the depth could not be read.
    chunks: Option<u64>,
}

impl QueueDepths {
    /// Returns the number of chunks of this priority, up to ten seconds old, or `None` if the queue does not report it.
    /// One of several concurrent calls asks the queue; the others wait for its answer.
    pub(crate) async fn chunks(&self, queues: &impl QueueDepth, priority: Priority, now: Timestamp) -> Option<u64> {
        let mut depths = self.0.lock().await;
        if let Some(seen) = depths.get(&priority).filter(|seen| now.millis_since(seen.at) < CACHED_MS) {
            return seen.chunks;
        }
        let chunks = ask(queues, priority).await;
        depths.insert(priority, Seen { at: now, chunks });
        chunks
    }
}

async fn ask(queues: &impl QueueDepth, priority: Priority) -> Option<u64> {
    let error = match tokio::time::timeout(PATIENCE, queues.chunks(priority)).await {
        Ok(Ok(chunks)) => return Some(chunks),
        Ok(Err(error)) => telemetry::chain(&error),
        Err(error) => telemetry::chain(&error),
    };
    tracing::warn!(priority = priority.as_str(), error, "the depth of a queue is not known; jobs are let in");
    None
}

impl<B: Backend> Api<B> {
    /// Applies backpressure: refuses with 503 `busy` if the queue of this priority is too deep. A tenant with few
    /// active jobs is accepted until the queue is ten times as deep, so that one tenant's queued work does not block
    /// the others.
    ///
    /// # Errors
    /// 503, or the store fails.
    pub(crate) async fn busy(&self, tenant: &Tenant, priority: Priority) -> Result<(), Failure> {
        let (most, now) = (self.limits.max_queued_chunks, (self.clock)());
        let Some(chunks) = self.queue_depths.chunks(&self.ports.queues, priority, now).await else { return Ok(()) };
        let admitted = match Admission::from_depth(chunks, most) {
            Admission::Open => true,
            few @ Admission::FewJobs => few.admits(self.ports.store.active_jobs(&tenant.0).await?),
            Admission::Closed => false,
        };
        if admitted {
            return Ok(());
        }
        let word = priority.as_str();
        let detail = format!("there is more work of {word} priority than can be done soon; ask again later");
        Err(Problem::new(Kind::Busy, detail).retry_after(BUSY_S).into())
    }

    /// Counts a call that causes work, before the work begins.
    ///
    /// # Errors
    /// 429 `rate-limited`, or the store fails.
    pub(crate) async fn count_call(&self, tenant: &Tenant) -> Result<(), Failure> {
        let now = (self.clock)();
        if self.ports.store.count_call(&tenant.0, now).await? {
            return Ok(());
        }
        Err(rate_limited(CallWindow::at(now).end().millis_since(now)).into())
    }
}

/// 429: the tenant has reached its limit of active jobs.
pub(crate) fn too_many_jobs(active: u64) -> Problem {
    let detail = format!(
        "{active} of your jobs have not ended, or were deleted and are not removed yet, and more may not be active at once; \
         wait for some minutes, or cancel one"
    );
    Problem::new(Kind::TooManyJobs, detail).retry_after(TOO_MANY_S)
}

/// 429: the files of the tenant's jobs of today have reached this number of bytes.
pub(crate) fn day_is_full(bytes: u64, now: Timestamp) -> Problem {
    let end = now.end_of_day();
    let detail = format!(
        "the files of your jobs of today have {bytes} bytes, each counted for every create, start and retry over it, and leave no \
         room for this one; wait until {}",
        end.to_rfc3339()
    );
    Problem::new(Kind::UploadQuotaExceeded, detail).retry_after(end.seconds_since(now))
}

#[cfg(test)]
#[path = "queue_depths_tests.rs"]
mod tests;
