//! `GET /api/jobs/{jobId}/output`: the result document, with links to the report's files instead of their keys.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::CacheNoStore;
use longshore::stored_report::{stored_receipt, stored_result};

use super::document::OutputDocument;
use super::linker::Linker;
use super::stored::{not_finished, result_from_job};
use crate::backend::{Api, Backend};
use crate::jobs::find::find_job;
use crate::openapi::examples;
use crate::openapi::parameters::JobIdInPath;
use crate::openapi::refusals::OutputRefusals;

/// Returns the result of a finished job; 404 before the end. If the job ended without a report, or its report has
/// expired, the response is built from the ledger: the counts, no files, and a warning.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/output",
    operation_id = "getJobOutput",
    tag = "jobs",
    summary = "Read the result of a finished job.",
    description = include_str!("get.md").trim_ascii_end(),
    params(JobIdInPath),
    responses(
        (
            status = 200,
            description = "The result. Its links expire after 15 minutes; request it again for new ones.",
            body = OutputDocument,
            headers(
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::output()),
        ),
        OutputRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, PathText(id): PathText) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let files = &api.ports.files;
    let (stored, receipt) = futures::try_join!(stored_result(files, &job), stored_receipt(files, &job))?;
    let result = stored.map_or_else(|| result_from_job(&job), |stored| stored.with_job(&job));
    let links = Linker { files, job: &job, now: (api.clock)() };
    let document = links.document(result, receipt).await?;
    Ok(no_store(document))
}
