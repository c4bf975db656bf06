//! `GET /api/jobs/{jobId}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use longshore::http::{Answer, PathText, QueryText, Tenant};
use longshore::openapi::{CacheNoCache, CacheNoStore, EntityTag, OnePath, RetryAfterSeconds};
use longshore::pause_cache::PauseCache;
use longshore::waiting::{TypeState, WaitingFor, can_wait, paused};
use longshore_domain::group::Group;
use longshore_domain::job::{Job, Status};
use longshore_domain::pause::Pause;
use longshore_domain::ports::{JobProgress, PortResult};

use super::document::JobDocument;
use super::find::{find_job, with_groups};
use super::links::output_path;
use super::poll_interval;
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfNoneMatchHeader, JobIdInPath, JobQuery};
use crate::openapi::refusals::JobRefusals;

/// Returns the job document; 304 if the client has it already; 303 to the result of a completed job with
/// `?redirect=output`.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}",
    operation_id = "getJob",
    tag = "jobs",
    summary = "Read a job and its progress.",
    params(JobIdInPath, JobQuery, IfNoneMatchHeader),
    responses(
        (
            status = 200,
            description = "The job.",
            body = JobDocument,
            headers(
                ("ETag" = inline(EntityTag), description = "Changes if and only if the job changes."),
                (
                    "Retry-After" = inline(RetryAfterSeconds),
                    description = "Seconds until the next poll: 1 for short jobs, up to 30 for long ones. \
                        Absent once the job is finished."
                ),
                ("Cache-Control" = inline(CacheNoCache)),
            ),
            example = json!(examples::completed()),
        ),
        (
            status = 303,
            description = "The job is completed, and the request has `redirect=output`.",
            headers(
                ("Location" = inline(OnePath), description = "The result."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
        ),
        (
            status = 304,
            description = "The job has not changed. Same headers as 200, no body.",
            headers(
                ("ETag" = inline(EntityTag)),
                ("Retry-After" = inline(RetryAfterSeconds)),
                ("Cache-Control" = inline(CacheNoCache)),
            ),
        ),
        JobRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Extension(pauses): Extension<Arc<PauseCache>>,
    tenant: Tenant,
    PathText(id): PathText,
    query: QueryText,
    headers: HeaderMap,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let JobProgress { groups, job } = with_groups(&api.ports.store, job).await?;
    if job.status == Status::Completed && query.get("redirect") == Some("output") {
        let to = [(header::LOCATION, output_path(job.job_id)), (header::CACHE_CONTROL, "no-store".into())];
        return Ok((StatusCode::SEE_OTHER, to).into_response());
    }
    let wait_s = poll_interval::retry_after_s(&job, &groups, (api.clock)());
    let document = JobDocument::new(&job, &groups);
    let pauses = if job.is_live() { pauses.for_display(&api.ports.store, (api.clock)()).await } else { [].into() };
    let waiting_for = waiting_for(&api, &job, &groups, &pauses).await?;
    match waiting_for {
        None => Ok(conditional(&headers, &job, document, wait_s)),
        waiting_for => {
            let about =
                [(header::CACHE_CONTROL, "private, no-cache".to_owned()), (header::RETRY_AFTER, wait_s.to_string())];
            Ok((about, Json(JobDocument { waiting_for, ..document })).into_response())
        }
    }
}

/// Returns what an unfinished job waits for: the end of a pause, or its handler.
async fn waiting_for<B: Backend>(
    api: &Api<B>,
    job: &Job,
    groups: &[Group],
    pauses: &[Pause],
) -> PortResult<Option<WaitingFor>> {
    match paused(job, pauses, (api.clock)()) {
        None if can_wait(job) => {
            let state = TypeState::read(&api.ports.store, &job.job_type).await?;
            Ok(state.waiting_for(job, groups, (api.clock)()))
        }
        waiting_for => Ok(waiting_for),
    }
}

fn conditional(headers: &HeaderMap, job: &Job, document: JobDocument, wait_s: u64) -> Response {
    let tag = etag::for_document(&document);
    // A browser may store the document, but must revalidate it.
    let mut about: Vec<(HeaderName, String)> = vec![(header::CACHE_CONTROL, "private, no-cache".into())];
    if !job.status.is_final() {
        about.push((header::RETRY_AFTER, wait_s.to_string()));
    }
    let known = etag::is_known(headers, &tag);
    about.push((header::ETAG, tag));
    let about = AppendHeaders(about);
    if known { (StatusCode::NOT_MODIFIED, about).into_response() } else { (about, Json(document)).into_response() }
}
