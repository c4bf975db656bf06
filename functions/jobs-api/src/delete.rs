//! `DELETE /api/jobs/{jobId}`: the client wants the job, its file and its reports gone.
//!
//! One conditional write hides the job from every read and puts it into the sweeper's sight until it is removed. Then
//! it is told to stop, if it still runs. What dies on the way loses nothing: the sweeper stops a deleted job that nobody
//! has stopped, and removes it once it has ended. The records that it imported stay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::chunk::stop_job;
use longshore::http::{Answer, PathText, Tenant};
use longshore::telemetry;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::ports::JobTransitions;

use crate::backend::no_such_job;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::DeleteRefusals;
use crate::{Api, Backend, JobDocument, etag};

/// 204: the job is hidden. Called again it is 404, as every call for a job that is not there; the effect is that of one
/// call, which is what RFC 9110 (9.2.2) asks of DELETE.
#[utoipa::path(
    delete,
    path = "/api/jobs/{jobId}",
    operation_id = "deleteJob",
    tag = "jobs",
    summary = "Delete a job, its file and its reports.",
    description = "The job is hidden at once: every later call for it answers 404, a second DELETE too. A job that has not \
        ended is stopped. Some minutes after its end its reports and its record are removed, and its upload \
        unless another job uses it; never the records that it imported. Its Idempotency-Key stays taken.",
    params(JobIdInPath, IfMatchHeader),
    responses(
        (
            status = 204,
            description = "It is hidden, and will be removed.",
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
    api.count_call(&tenant).await?;
    loop {
        let (groups, job) = api.with_groups(api.job(&tenant, &id).await?).await?;
        etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
        let (now, store) = ((api.clock)(), &api.ports.store);
        let only_as_seen = etag::is_conditional(&headers);
        let observed = match only_as_seen {
            true => store.delete_as_seen(&job, now).await?,
            false => store.delete(job.job_id, now).await?,
        };
        match observed {
            Transition::Made(job) => {
                api.stop_soon(&job).await;
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
            // It is deleted, or no more as the client saw it: the next read tells.
            Transition::Refused if only_as_seen => {}
            Transition::Refused => return Err(no_such_job().into()),
        }
    }
}

impl<B: Backend> Api<B> {
    /// Tells a deleted job to stop. A failure is no failure of the call: the sweeper tells it.
    async fn stop_soon(&self, job: &Job) {
        if !job.is_live() {
            return;
        }
        if let Err(error) = stop_job(&self.ports, job, &Stop::deleted((self.clock)())).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %job.job_id, error, "a deleted job was not stopped; the sweeper will stop it");
        }
    }
}
