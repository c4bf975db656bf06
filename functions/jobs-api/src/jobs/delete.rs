//! `DELETE /api/jobs/{jobId}`: deletes a job with its file and its reports.
//!
//! One conditional write hides the job from every read and makes it visible to the sweeper until it is removed. If the
//! job is still running, it is then stopped. A crash in between loses nothing: the sweeper stops a deleted job that is
//! still running, and removes it once it has ended. Imported records are kept.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::chunk::stop_job;
use longshore::http::{Answer, PathText, Tenant, count_work_call};
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::ports::{JobProgress, JobTransitions, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use super::document::JobDocument;
use super::find::{find_job, no_such_job, with_groups};
use super::undo::active_undo;
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::DeleteRefusals;

/// Hides the job: 204. A repeated call returns 404, like every call for a job that does not exist. The
/// effect is that of one call, as RFC 9110 (9.2.2) requires of DELETE.
#[utoipa::path(
    delete,
    path = "/api/jobs/{jobId}",
    operation_id = "deleteJob",
    tag = "jobs",
    summary = "Delete a job, its file and its reports.",
    description = include_str!("delete.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    responses(
        (
            status = 204,
            description = "The job is hidden, and will be removed.",
        ),
        DeleteRefusals,
    ),
)]
pub(crate) async fn delete<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    loop {
        let JobProgress { groups, job } =
            with_groups(&api.ports.store, find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?).await?;
        etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
        let (now, store) = ((api.clock)(), &api.ports.store);
        if active_undo(store, &job).await?.is_some() {
            return Err(undo_active().into());
        }
        // An import that has ended may be marked by an undo at this moment.
        let is_conditional = etag::is_conditional(&headers) || job.is_undoable();
        let outcome = match is_conditional {
            true => store.delete_if_unchanged(&job, now).await?,
            false => store.delete(job.job_id, now).await?,
        };
        match outcome {
            Transition::Made(job) => {
                try_stop(&api.ports, &job, (api.clock)()).await;
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
            // The job was deleted, or has changed since the client read it. The next read tells which.
            Transition::Refused if is_conditional => {}
            Transition::Refused => return Err(no_such_job().into()),
        }
    }
}

fn undo_active() -> Problem {
    let detail = "the import is being undone, and its undo needs it; wait until the undo ends, or cancel the undo";
    Problem::new(Kind::UndoActive, detail)
}

/// Stops a deleted job. A failure does not fail the call: the sweeper stops the job.
async fn try_stop<S: Store, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job, at: Timestamp) {
    if !job.is_live() {
        return;
    }
    if let Err(error) = stop_job(ports, job, &Stop::deleted(at)).await {
        let error = telemetry::chain(&error);
        tracing::warn!(job.id = %job.job_id, error, "cannot stop a deleted job; the sweeper will stop it");
    }
}
