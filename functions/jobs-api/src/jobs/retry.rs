//! `POST /api/jobs/{jobId}/retry`, a retry of failed rows: runs failed and unprocessed items again, and no others. With
//! a corrected failures file, or with a code, only those of the failed items run again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::http::{Answer, OptionalFields, PathText, Tenant, count_work_call};
use longshore::job_retry::{newest_registration, not_ended, not_retryable};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore_domain::job::{Reopen, deadline};
use longshore_domain::ports::{JobProgress, JobTransitions, Reopened};

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
    if let Some(problem) = not_retryable(&job, at) {
        return Err(problem.into());
    }
    etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
    let selection = request.selection(&api, &tenant, &job).await?;
    admit(&api, &tenant, job.chunk_queue()).await?;
    let registration = newest_registration(&api.ports.store, &api.registry, &api.job_types.store, &job).await?;
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
