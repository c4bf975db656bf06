//! The job of a path, and the groups that its document needs.

use longshore::http::{Failure, Tenant};
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{JobProgress, JobStore, Ledger, PortResult};
use longshore_domain::progress;
use longshore_domain::timestamp::Timestamp;

/// Returns the job of a path.
///
/// # Errors
/// 404 if it does not exist, if it belongs to another tenant, if it is deleted, or if it has expired and DynamoDB
/// has not yet removed it.
pub(crate) async fn find_job(store: &impl JobStore, tenant: &Tenant, id: &str, now: Timestamp) -> Result<Job, Failure> {
    let Some(id) = JobId::parse(id) else { return Err(no_such_job().into()) };
    let job = store.job(id).await?.filter(|job| is_shown(job, tenant, now)).ok_or_else(no_such_job)?;
    telemetry::record_job(&job);
    Ok(job)
}

/// Returns true if a client of this tenant can see the job.
pub(super) fn is_shown(job: &Job, tenant: &Tenant, now: Timestamp) -> bool {
    job.tenant == tenant.0 && !job.is_deleted() && job.times.expires_at > now.seconds()
}

/// Same as [`read_groups`], with an error for a deleted job.
///
/// # Errors
/// 404 if the job was deleted meanwhile.
pub(crate) async fn with_groups(store: &impl Ledger, job: Job) -> Result<JobProgress, Failure> {
    Ok(read_groups(store, job).await?.ok_or_else(no_such_job)?)
}

/// Reads the groups of a job that was just read, and then the job itself, for a job document. Returns `None` if the job
/// was deleted meanwhile.
///
/// The document of a completed job needs no groups. That of a failed or canceled job does: it shows the same percentage
/// as before its end, and the percentage is a sum over the groups.
pub(crate) async fn read_groups(store: &impl Ledger, job: Job) -> PortResult<Option<JobProgress>> {
    if job.status == Status::Completed || job.split.groups == 0 {
        return Ok(Some(JobProgress { groups: Vec::new(), job }));
    }
    let first = job.retry.carried_over.groups;
    let Some(JobProgress { groups, job }) = read_progress(store, job.job_id, first).await? else { return Ok(None) };
    if job.completion.totals.is_none_or(|totals| totals == progress::counts(&job, &groups)) {
        return Ok(Some(JobProgress { groups, job }));
    }
    // The job ended after its groups were read; its records no longer change, so they are read again.
    read_progress(store, job.job_id, first).await
}

/// Skips the groups of earlier generations: their results are in the job's carried-over counts.
async fn read_progress(store: &impl Ledger, id: JobId, first: u32) -> PortResult<Option<JobProgress>> {
    Ok(store.progress_from(id, first).await?.filter(|progress| !progress.job.is_deleted()))
}

/// Returns 404: the job does not exist, or is not visible to this tenant.
pub(crate) fn no_such_job() -> Problem {
    Problem::not_found("job")
}
