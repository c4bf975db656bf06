//! Admission of calls that cause work: by their rate, by queue depth, and by the tenant's active jobs.

use longshore::http::{Failure, Tenant, rate_limited};
use longshore::problem::{Kind, Problem};
use longshore_domain::admission::Admission;
use longshore_domain::job::Priority;
use longshore_domain::ports::{CallWindow, TenantCounts};
use longshore_domain::time_stamp::Timestamp;

use crate::backend::{Api, Backend};

/// `Retry-After` of 503, in seconds: longer than the cache lifetime, because a full queue takes time to drain.
const BUSY_S: u32 = 30;

/// `Retry-After` of 429, in seconds: jobs end all the time, and a refused create costs only a few reads.
const TOO_MANY_S: u32 = 10;

/// Counts a call that causes work, before the work begins.
///
/// # Errors
/// 429 `rate-limited`, or the store fails.
pub(crate) async fn count_call(store: &impl TenantCounts, tenant: &Tenant, now: Timestamp) -> Result<(), Failure> {
    if store.count_call(&tenant.0, now).await? {
        return Ok(());
    }
    Err(rate_limited(CallWindow::at(now).end().millis_since(now)).into())
}

/// Applies backpressure: refuses with 503 `busy` if the queue of this priority is too deep. A tenant with few active
/// jobs is accepted until the queue is ten times as deep, so that one tenant's queued work does not block the others.
///
/// # Errors
/// 503, or the store fails.
pub(crate) async fn admit<B: Backend>(api: &Api<B>, tenant: &Tenant, priority: Priority) -> Result<(), Failure> {
    let (store, queues) = (&api.ports.store, &api.ports.queues);
    let Some(chunks) = api.queue_depths.chunks(queues, priority, (api.clock)()).await else { return Ok(()) };
    let admitted = match Admission::from_depth(chunks, api.limits.max_queued_chunks) {
        Admission::Open => true,
        few @ Admission::FewJobs => few.admits(store.active_jobs(&tenant.0).await?),
        Admission::Closed => false,
    };
    if admitted {
        return Ok(());
    }
    let word = priority.as_str();
    let detail = format!("there is more work of {word} priority than can be done soon; ask again later");
    Err(Problem::new(Kind::Busy, detail).retry_after(BUSY_S).into())
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
