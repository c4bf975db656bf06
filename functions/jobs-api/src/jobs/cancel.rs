//! `POST /api/jobs/{jobId}/cancel`: stops a job at the client's request.
//!
//! One conditional write stops the job, and a message requests its completion, which closes the groups, counts, writes
//! the report and sets the final status. If the call dies between the two, the sweeper completes the job. If the client
//! repeats the call while the job is stopping, the message is sent again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::chunk::request_completion;
use longshore::http::{Answer, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::ports::{JobProgress, JobTransitions, PortResult, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use super::accept::accepted;
use super::document::JobDocument;
use super::find::{find_job, with_groups};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::CancelRefusals;

/// Stops the job: 202 with the stopping job. No item starts more than five seconds after this response. Items that end
/// until then are counted and reported.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/cancel",
    operation_id = "cancelJob",
    tag = "jobs",
    summary = "Cancel a job.",
    description = include_str!("cancel.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    responses(
        (
            status = 202,
            description = "The job is stopping. Poll it at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::stopping()),
        ),
        CancelRefusals,
    ),
)]
pub(crate) async fn cancel<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let JobProgress { mut groups, mut job } = with_groups(&api.ports.store, job).await?;
    if job.is_live() {
        count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    }
    while job.is_live() {
        etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
        match stop(&api.ports.store, &job, &headers, (api.clock)()).await? {
            Transition::Made(stopped) => job = *stopped,
            // A concurrent write was first: the job is stopping, has ended, was deleted or reopened, or has changed
            // since the client read it.
            Transition::Refused => {
                let read = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
                JobProgress { groups, job } = with_groups(&api.ports.store, read).await?;
            }
        }
    }
    if job.status.is_final() {
        return Err(ended(&job).into());
    }
    try_request_completion(&api.ports, &job).await;
    Ok(accepted(&job, &groups))
}

/// Stops the job with one write. With `If-Match`, stops only the version that the client has read.
async fn stop(store: &impl JobTransitions, job: &Job, headers: &HeaderMap, at: Timestamp) -> PortResult<Transition> {
    let stop = Stop::canceled(at);
    match etag::is_conditional(headers) {
        true => store.stop_if_unchanged(job, &stop).await,
        false => store.stop(job.job_id, job.generation, &stop).await,
    }
}

/// Requests completion. A failure does not fail the call: the job is stopping, and the sweeper sends the request.
async fn try_request_completion<S: Store, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job) {
    if let Err(error) = request_completion(ports, job).await {
        let error = telemetry::chain(&error);
        tracing::warn!(job.id = %job.job_id, error, "cannot send a complete message; the sweeper will send it");
    }
}

fn ended(job: &Job) -> Problem {
    let status = job.status.as_str();
    Problem::new(Kind::JobEnded, format!("the job is already {status}; a final status does not change"))
}
