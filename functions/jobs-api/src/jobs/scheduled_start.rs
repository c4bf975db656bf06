//! The limit of a start in the future: the source of the items must be kept until the job has ended.

use longshore::field_error::FieldError;
use longshore::http::Failure;
use longshore::problem::Problem;
use longshore_domain::job::{Job, latest_start};
use longshore_domain::ports::JobStore;
use longshore_domain::timestamp::Timestamp;

use super::request::JobRequest;
use super::source_request::ParsedSource;
use crate::backend::{Api, Backend};

/// Checks the start of a job. A source that does not exist is reported later.
///
/// # Errors
/// 422 at `/startAt`: `start_too_late`.
pub(super) async fn check_start<B: Backend>(
    api: &Api<B>,
    job: &Job,
    request: &JobRequest,
    start_at: Timestamp,
) -> Result<(), Failure> {
    let store = &api.ports.store;
    let mut expires_at = api.limits.expires_at(job.times.created_at);
    if let Some(file) = request.file {
        let upload = store.upload(file).await?.filter(|upload| upload.tenant == job.tenant);
        expires_at = upload.map_or(expires_at, |upload| upload.expires_at.min(expires_at));
    }
    if let Some(ParsedSource::Job(part)) = &request.source
        && let Some(source) = store.job(part.job_id).await?.filter(|source| source.tenant == job.tenant)
    {
        expires_at = expires_at.min(api.limits.kept_until(&source));
        // Rows that were never processed are read from its file.
        for upload in source.uploads() {
            expires_at = store.upload(upload).await?.map_or(expires_at, |upload| upload.expires_at.min(expires_at));
        }
    }
    let latest = latest_start(job.times.timeout_s, expires_at);
    if start_at <= latest {
        return Ok(());
    }
    let detail = if latest > job.times.created_at {
        format!(
            "startAt must be {} or earlier: what the job needs must be kept for its time limit and an hour more",
            latest.to_rfc3339()
        )
    } else {
        "what the job needs is not kept for its time limit and an hour more; set a shorter timeoutSeconds".to_owned()
    };
    Err(Problem::invalid(vec![FieldError::new("/startAt", "start_too_late", detail)]).into())
}
