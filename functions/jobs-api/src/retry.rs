//! `POST /api/jobs/{jobId}/retry`: what failed or was never processed runs again, and nothing else.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore_domain::job::{Job, Reopen};
use longshore_domain::ports::{JobTransitions, Reopened};

use crate::openapi::examples;
use crate::openapi::parameters::JobIdInPath;
use crate::openapi::refusals::RetryRefusals;
use crate::pressure::too_many_jobs;
use crate::{Api, Backend, JobDocument};

/// Opens the job again as a new generation: 202 with the job, if there is room for it. One transaction: of two retries at once one is
/// taken. If the message that follows is lost, the sweeper sends it.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/retry",
    operation_id = "retryJob",
    tag = "jobs",
    summary = "Run again what failed or was never processed.",
    description = "Only for a job that has ended. It opens again under the same id: `attempts` is one more, `status` is \
        `waiting`, and the counts begin with what succeeded or was skipped. Items that succeeded or were skipped \
        never run again; an item keeps its number and its idempotency key. The report of this attempt replaces \
        the one before. A row that cannot be read (not UTF-8, an unclosed quote, too long) stays failed: upload \
        it mended. The body is ignored.",
    params(JobIdInPath),
    responses(
        (
            status = 202,
            description = "Opened again; poll the job at `Location`.",
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
) -> Answer {
    let job = api.job(&tenant, &id).await?;
    if !job.has_rest() {
        return Err(refused(&job).into());
    }
    if let Some(busy) = api.busy(job.priority).await {
        return Err(busy.into());
    }
    let at = (api.clock)();
    let reopen = Reopen { generation: job.generation, at, deadline_at: at.plus_seconds(job.timeout_s) };
    match api.ports.store.reopen(&job, &reopen).await? {
        Reopened::Made(job) => {
            api.send(&job).await;
            let (groups, job) = api.with_groups(*job).await?;
            Ok(api.accepted(&job, &groups))
        }
        Reopened::Refused => Err(not_ended("it was opened again just now").into()),
        Reopened::OverLimit(active) => Err(too_many_jobs(active).into()),
    }
}

fn refused(job: &Job) -> Problem {
    if !job.status.is_final() {
        return not_ended("cancel it, or wait for its end");
    }
    let detail = "every item of the job succeeded or was skipped: there is nothing to run again";
    Problem::new(Kind::NothingToRetry, detail)
}

fn not_ended(way_out: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {way_out}"))
}
