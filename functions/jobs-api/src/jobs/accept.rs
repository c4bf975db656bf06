//! The create message of a job, and the responses with an accepted job.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, Tenant};
use longshore::ports::Ports;
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Stage, Status};
use longshore_domain::ports::{JobProgress, Queues, Store};

use super::document::JobDocument;
use super::find::with_groups;
use super::links::path;

/// Answers a repeated request with the job of the first one, or with `deleted` if that job was deleted: an idempotency
/// key, or a start, creates only one job. While the job is waiting, its message is sent again, because the first call
/// may have died before sending it. A duplicate is harmless.
pub(super) async fn accepted_before<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    tenant: &Tenant,
    id: JobId,
    deleted: fn() -> Problem,
) -> Answer {
    let job = ports.store.job(id).await?.filter(|job| job.tenant == tenant.0 && !job.is_deleted());
    let job = job.ok_or_else(deleted)?;
    if job.status == Status::Waiting && job.stage == Stage::Queued && !job.is_scheduled {
        ports.send_create(&job).await;
    }
    let JobProgress { groups, job } = with_groups(&ports.store, job).await?;
    Ok(accepted(&job, &groups))
}

/// Returns 202 with the job, its path, and `Retry-After` for the first poll.
pub(crate) fn accepted(job: &Job, groups: &[Group]) -> Response {
    telemetry::record_job(job);
    let about = AppendHeaders([
        (header::LOCATION, path(job.job_id)),
        (header::RETRY_AFTER, if job.is_scheduled { "30" } else { "1" }.to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ]);
    (StatusCode::ACCEPTED, about, Json(JobDocument::new(job, groups))).into_response()
}
