//! Admission of calls that cause work: by rate limit, queue depth, and the tenant's active jobs.

use longshore::http::{Failure, Tenant};
use longshore::problem::{Kind, Problem};
use longshore_domain::admission::Admission;
use longshore_domain::job::ChunkQueue;
use longshore_domain::ports::{QuotaExceeded, TenantCounts};
use longshore_domain::timestamp::Timestamp;

use crate::backend::{Api, Backend};

/// `Retry-After` of 503, in seconds: longer than the cache lifetime, because a full queue takes time to drain.
const BUSY_S: u32 = 30;

/// Applies backpressure: refuses with 503 `busy` if this queue is too deep. A tenant with few active
/// jobs is accepted until the queue is ten times as deep, so that one tenant's queued work does not block the others.
///
/// # Errors
/// 503, or the store fails.
pub(crate) async fn admit<B: Backend>(api: &Api<B>, tenant: &Tenant, queue: ChunkQueue) -> Result<(), Failure> {
    let (store, queues) = (&api.ports.store, &api.ports.queues);
    let Some(chunks) = api.queue_depths.chunks(queues, queue, (api.clock)()).await else { return Ok(()) };
    let admitted = match Admission::from_depth(chunks, api.limits.max_queued_chunks) {
        Admission::Open => true,
        few @ Admission::FewJobs => few.admits(store.active_jobs(&tenant.0).await?),
        Admission::Closed => false,
    };
    if admitted {
        return Ok(());
    }
    let detail = match queue {
        ChunkQueue::Priority(priority) => format!("the {}-priority queue is full; retry later", priority.as_str()),
        ChunkQueue::Handler => "the queue of registered job types is full; retry later".to_owned(),
    };
    Err(Problem::new(Kind::Busy, detail).retry_after(BUSY_S).into())
}

/// 429: the tenant has reached one of its limits.
pub(crate) fn over_quota(exceeded: QuotaExceeded, now: Timestamp) -> Problem {
    match exceeded {
        QuotaExceeded::ActiveJobs(active) => Problem::too_many_jobs(active),
        QuotaExceeded::DailyBytes(bytes) => daily_quota_exceeded(bytes, now),
    }
}

/// 429: the file would exceed the tenant's daily quota, of which this number of bytes is used.
fn daily_quota_exceeded(bytes: u64, now: Timestamp) -> Problem {
    let end = now.end_of_day();
    let detail = format!(
        "your jobs' files add up to {bytes} bytes today (each create, start and retry counts its file), so this one \
         would exceed the daily quota; retry after {}",
        end.to_rfc3339()
    );
    Problem::new(Kind::UploadQuotaExceeded, detail).retry_after(end.seconds_since(now))
}
