//! `GET /api/jobs/{jobId}/audit`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::CacheNoStore;

use super::document::AuditDocument;
use super::reading::within;
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
    summary = "Recount a job from all that is stored of it.",
    description = "Adds up the groups of the ledger, lays the chunks of the manifests end to end, reads every row of the \
        report and every item that workers have filed, cuts the input into records once more, and holds each against what the \
        others and the receipt say. `equal` is `true` only if everything was checked and agrees. Of a job that has not ended \
        there is no report to check. All files together are read for 20 seconds at most - the report first, then the work \
        files, then the input (some hundred megabytes in all); what was not read by then, or has expired, stands in \
        `unchecked`. 503 if something cannot be read at the moment.",
    params(JobIdInPath),
    responses(
        (
            status = 200,
            description = "Equal, or what differs, or what could not be checked.",
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
    let document = within(LIMIT, audit(&api.ports.store, &api.ports.files, job.job_id, &in_time)).await?;
    let document = document.ok_or_else(no_such_job)?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}
