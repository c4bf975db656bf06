//! `POST /api/jobs/{jobId}/retry`, a retry of failed rows: runs failed and unprocessed items again, and no others. With
//! a corrected failures file, or with a code, only those of the failed items run again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::field_error::FieldError;
use longshore::http::{Answer, Failure, OptionalFields, PathText, Tenant, count_work_call};
use longshore::job_request::newest;
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore::remote::OptionsSchema;
use longshore_domain::job::{Job, Reopen, deadline};
use longshore_domain::ports::{JobProgress, JobStore, JobTransitions, Reopened};
use longshore_domain::registration::VersionedRegistration;
use longshore_domain::timestamp::Timestamp;

use super::accept::accepted;
use super::document::JobDocument;
use super::find::{find_job, with_groups};
use super::retry_request::RetryRequest;
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::RetryRefusals;

/// Maximum body size: a code and a field, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

/// Reopens the job as a new generation: 202 with the job, if the limits allow it. A single transaction, so that only
/// one of two concurrent retries succeeds. If the create message is lost, the sweeper sends it.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/retry",
    operation_id = "retryJob",
    tag = "jobs",
    summary = "Retry failed and unprocessed items.",
    description = include_str!("retry.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    request_body(
        content = Option<RetryRequest>,
        description = "Up to 4 KiB, or nothing.",
        example = json!({ "fileGuid": "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b" }),
    ),
    responses(
        (
            status = 202,
            description = "The job is reopened. Poll it at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::retried()),
        ),
        RetryRefusals,
    ),
)]
pub(crate) async fn retry<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let request = RetryRequest::read(fields)?;
    // A refused call costs the same reads, so every call is counted.
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let JobProgress { groups, job } = with_groups(&api.ports.store, job).await?;
    let at = (api.clock)();
    if !job.is_reopenable() || job.is_early(at) {
        return Err(not_retryable(&job, at).into());
    }
    etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
    let selection = request.selection(&api, &tenant, &job).await?;
    admit(&api, &tenant, job.chunk_queue()).await?;
    let registration = newest_registration(&api, &job).await?;
    let deadline_at = deadline(at, job.times.timeout_s, api.limits.kept_until(&job));
    let reopen = Reopen { generation: job.generation, at, deadline_at, selection, registration };
    match api.ports.store.reopen(&job, &reopen).await? {
        Reopened::Made(job) => {
            api.ports.send_create(&job).await;
            let JobProgress { groups, job } = with_groups(&api.ports.store, *job).await?;
            Ok(accepted(&job, &groups))
        }
        Reopened::Refused => Err(not_ended("another call has just reopened this job").into()),
        Reopened::OverQuota(exceeded) => Err(over_quota(exceeded, at).into()),
    }
}

/// Returns the newest registration of a registered type; `None` if the stored one stays.
///
/// # Errors
/// 422 if its schema of the options refuses those of the job.
async fn newest_registration<B: Backend>(
    api: &Api<B>,
    job: &Job,
) -> Result<Option<Box<VersionedRegistration>>, Failure> {
    if !job.is_registered {
        return Ok(None);
    }
    let Some(newest) = newest(&job.job_type, &api.registry, &api.job_types.store).await? else { return Ok(None) };
    if let Some(definition) = api.ports.store.definition(job.job_id).await? {
        let checked = OptionsSchema::compile(&newest.registration);
        checked.and_then(|schema| schema.check(&definition.options)).map_err(options_refused)?;
    }
    Ok(Some(Box::new(newest)))
}

/// Returns 422 with a way out: a retry cannot change the options of its job.
fn options_refused(error: FieldError) -> Problem {
    let detail = format!(
        "{}; the job type has changed since the job was created, and a retry keeps the options: create a new job \
         from the failures file (failed.csv), or ask an operator to accept the former options",
        error.detail
    );
    Problem::invalid(vec![FieldError { detail, ..error }])
}

fn not_retryable(job: &Job, now: Timestamp) -> Problem {
    if !job.status.is_final() {
        return not_ended("cancel the job, or wait until it ends");
    }
    if let Some(start_at) = job.times.start_at.filter(|start_at| now < *start_at) {
        let start_at = start_at.to_rfc3339();
        let detail =
            format!("the job was stopped before its start, so it is not retried before {start_at}; create another job");
        return Problem::new(Kind::NothingToRetry, detail);
    }
    if job.has_remaining() {
        let detail = "the job is an undo, or an import that is or was undone, so it is not retried";
        return Problem::new(Kind::JobUndone, detail);
    }
    let detail = "every item of the job succeeded or was skipped, so no item can be retried";
    Problem::new(Kind::NothingToRetry, detail)
}

fn not_ended(advice: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {advice}"))
}
