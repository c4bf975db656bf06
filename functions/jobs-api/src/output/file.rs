//! `GET /api/jobs/{jobId}/output/{file}`: the stable address of a file of a report.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use longshore::http::{Answer, PathTexts, Tenant};
use longshore::openapi::{CacheNoStore, OneUrl};
use longshore::ports::report_key;
use longshore::problem::{Kind, Problem};
use longshore::receipt::RECEIPT_NAME;
use longshore::result::ReportFile;
use longshore::stored_report::stored_result;

use super::linker::Linker;
use super::stored::{no_report, not_finished};
use crate::backend::{Api, Backend};
use crate::jobs::find::find_job;
use crate::openapi::parameters::{FileInPath, JobIdInPath};
use crate::openapi::refusals::OutputFileRefusals;

/// Redirects to a file of the report of a finished job.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/output/{file}",
    operation_id = "getJobOutputFile",
    tag = "jobs",
    summary = "Download a file of a finished job.",
    description = include_str!("file.md").trim_ascii_end(),
    params(JobIdInPath, FileInPath),
    responses(
        (
            status = 303,
            description = "The file, at a URL that expires after 15 minutes.",
            headers(
                ("Location" = inline(OneUrl), description = "Presigned URL."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
        ),
        OutputFileRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathTexts(id, name): PathTexts,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let files = &api.ports.files;
    let result = stored_result(files, &job).await?.ok_or_else(no_report)?;
    let receipt = ReportFile { key: report_key(&job, RECEIPT_NAME), rows: 0 };
    let known: Vec<_> = result.files.all().into_iter().chain([receipt]).collect();
    let file = known.iter().find(|file| file.name() == name).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(ReportFile::name).collect();
        Problem::new(Kind::NotFound, format!("the job has no file with this name; its files are {}", names.join(", ")))
    })?;
    let url = Linker { files, job: &job, now: (api.clock)() }.link(file.clone()).await?.url;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, url), (header::CACHE_CONTROL, "no-store".to_owned())])
        .into_response())
}
