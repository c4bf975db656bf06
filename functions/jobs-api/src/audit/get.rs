//! `GET /api/jobs/{jobId}/audit`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::CacheNoStore;

use super::document::AuditDocument;
use super::reading::with_timeout;
use super::recount::audit;
use crate::backend::{Api, Backend};
use crate::jobs::find::{find_job, no_such_job};
use crate::openapi::examples;
use crate::openapi::parameters::JobIdInPath;
use crate::openapi::refusals::AuditRefusals;

/// Seconds available for reading files. The gateway's timeout is 30 seconds; a late block and the response need some of
/// them.
const READING_S: i64 = 20;

/// Timeout of the whole audit. The function is stopped after 29 s, and the caller would then get no answer and no
/// `Retry-After`.
const LIMIT: Duration = Duration::from_secs(26);

/// Audits the job.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/audit",
    operation_id = "auditJob",
    tag = "jobs",
    summary = "Audit a job.",
    description = include_str!("get.md").trim_ascii_end(),
    params(JobIdInPath),
    responses(
        (
            status = 200,
            description = "The comparisons, the differences, and the parts that could not be checked.",
            body = AuditDocument,
            headers(
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::audit()),
        ),
        AuditRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, PathText(id): PathText) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let until = (api.clock)().plus_seconds(READING_S);
    let in_time = || (api.clock)() < until;
    let document = with_timeout(LIMIT, audit(&api.ports.store, &api.ports.files, job.job_id, &in_time)).await?;
    let document = document.ok_or_else(no_such_job)?;
    Ok(no_store(document))
}
