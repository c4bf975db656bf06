//! `POST /api/jobs/{jobId}/cancel`: stops a job at the client's request.
//!
//! One conditional write stops the job, and a message requests its completion, which closes the groups, counts, writes
//! the report and sets the final status. If the call dies between the two, the sweeper completes the job. If the client
//! repeats the call while the job is stopping, the message is sent again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::chunk::ask_for_completion;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::ports::{JobTransitions, PortResult};

use crate::document::path;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::CancelRefusals;
use crate::{Api, Backend, JobDocument, etag};

/// Returns 202 with the job, which is stopping, or was stopping already. No item starts more than five seconds after
/// this answer. Items that end until then are counted and reported.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/cancel",
    operation_id = "cancelJob",
    tag = "jobs",
    summary = "Stop a job.",
    description = "No item is begun more than five seconds after the answer. Once its report is written the job is \
        `canceled` with the error `canceled`: some seconds later, or minutes where gigabytes are unprocessed, for a job \
        that waited, too. Items that have ended until then are counted and reported; the others are in the report's file \
        of unprocessed rows.\n\n\
        Canceling a job that is stopping already, for whatever reason, answers 202 again and changes nothing. A \
        body is ignored.",
    params(JobIdInPath, IfMatchHeader),
    responses(
        (
            status = 202,
            description = "It stops; poll the job at `Location`.",
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
    let job = api.job(&tenant, &id).await?;
    let (mut groups, mut job) = api.with_groups(job).await?;
    if job.is_live() {
        api.count_call(&tenant).await?;
    }
    while job.is_live() {
        etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
        match api.stop(&job, etag::is_conditional(&headers)).await? {
            Transition::Made(stopped) => job = *stopped,
            // Another write was first: the job is stopping for another reason, has ended, is deleted, was opened again,
            // or has changed since the client read it.
            Transition::Refused => (groups, job) = api.with_groups(api.job(&tenant, &id).await?).await?,
        }
    }
    if job.status.is_final() {
        return Err(ended(&job).into());
    }
    api.complete_soon(&job).await;
    Ok(stopping(&job, &groups))
}

impl<B: Backend> Api<B> {
    /// Stops the job with one write: only the version that the client has seen, or the stored one.
    async fn stop(&self, job: &Job, only_as_seen: bool) -> PortResult<Transition> {
        let stop = Stop::canceled((self.clock)());
        match only_as_seen {
            true => self.ports.store.stop_as_seen(job, &stop).await,
            false => self.ports.store.stop(job.job_id, job.generation, &stop).await,
        }
    }

    /// Requests completion. A failure does not fail the call: the job is stopping, and the sweeper sends the request.
    pub(crate) async fn complete_soon(&self, job: &Job) {
        if let Err(error) = ask_for_completion(&self.ports, job).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %job.job_id, error, "a complete message was not sent; the sweeper will send it");
        }
    }
}

fn stopping(job: &Job, groups: &[Group]) -> Response {
    let about = AppendHeaders([
        (header::LOCATION, path(job.job_id)),
        (header::RETRY_AFTER, "1".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ]);
    (StatusCode::ACCEPTED, about, Json(JobDocument::new(job, groups))).into_response()
}

fn ended(job: &Job) -> Problem {
    let status = serde_json::to_value(job.status).unwrap_or_default();
    let status = status.as_str().unwrap_or_default();
    Problem::new(Kind::JobEnded, format!("the job has ended as {status}; a final status stays"))
}
