//! `GET /api/jobs/{jobId}/failures`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, OneUrl, PageCursor, VaryAccept};
use longshore::result::ReportFile;
use longshore_domain::job::Job;

use super::document::FailuresDocument;
use super::page::FailedFile;
use super::request::FailuresRequest;
use crate::backend::{Api, Backend};
use crate::jobs::document::failures_path;
use crate::jobs::find::find_job;
use crate::openapi::examples;
use crate::openapi::parameters::{FailuresQuery, JobIdInPath};
use crate::openapi::refusals::FailuresRefusals;
use crate::output::linker::Linker;
use crate::output::stored::{no_report, not_finished, stored_result};

/// Contents of a file without rows, which completion does not write.
const NO_ROWS: &str = "row,code,field,message\r\n";

/// Returns a page of the failed items of a finished job, or 303 to the file with all of them.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/failures",
    operation_id = "listJobFailures",
    tag = "jobs",
    summary = "List the failed items of a finished job.",
    description = include_str!("list.md").trim_ascii_end(),
    params(JobIdInPath, FailuresQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page. CSV only for a job without failures, whose file would have no rows.",
            content(
                (FailuresDocument = "application/json", example = json!(examples::failures())),
                (String = "text/csv", example = json!(NO_ROWS)),
            ),
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Vary" = inline(VaryAccept)),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
        ),
        (
            status = 303,
            description = "The CSV file, at a URL that expires after 15 minutes.",
            headers(
                ("Location" = inline(OneUrl), description = "Presigned URL."),
                ("Vary" = inline(VaryAccept)),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
        ),
        FailuresRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    query: QueryText,
    headers: HeaderMap,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let request = FailuresRequest::read(&query, &headers)?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let files = &api.ports.files;
    let file = match stored_result(files, &job).await? {
        Some(result) => result.files.failed,
        None if job.completion.totals.is_none_or(|totals| totals.failed > 0) => return Err(no_report().into()),
        None => None,
    };
    match (request, file) {
        (FailuresRequest::File, None) => {
            Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], about(None), NO_ROWS).into_response())
        }
        (FailuresRequest::File, Some(file)) => {
            let link = Linker { files, job: &job, now: (api.clock)() }.link(file).await?;
            Ok((StatusCode::SEE_OTHER, [(header::LOCATION, link.url)], about(None)).into_response())
        }
        (FailuresRequest::Page { .. }, None) => Ok(answer(&job, 0, FailuresDocument::default())),
        (FailuresRequest::Page { limit, after }, Some(ReportFile { key, rows })) => {
            let file = FailedFile { files, job: &job, key: &key, rows };
            let page = file.page(limit, after).await?;
            Ok(answer(&job, limit, page))
        }
    }
}

fn answer(job: &Job, limit: usize, page: FailuresDocument) -> Response {
    let next = page.next_cursor.as_ref().map(|cursor| {
        let parameters = [("format", "json"), ("limit", &limit.to_string()), ("cursor", cursor)];
        paging::next_link(&failures_path(job.job_id), &parameters)
    });
    (about(next), Json(page)).into_response()
}

fn about(next: Option<String>) -> AppendHeaders<Vec<(header::HeaderName, String)>> {
    let mut about = vec![(header::CACHE_CONTROL, "no-store".to_owned()), (header::VARY, "accept".to_owned())];
    about.extend(next.map(|link| (header::LINK, link)));
    AppendHeaders(about)
}
