//! `GET /api/jobs/{jobId}/failures`: the failed items with their original rows, in pages; or the whole file.
//!
//! | file | contains |
//! | --- | --- |
//! | `request` | the client's parameters |
//! | `cursor` | the position of a page |
//! | `rows` | the rows of the file |
//! | `page` | ranged reads until a page is full |
//! | `document` | the response |

mod cursor;
mod document;
mod page;
mod request;
mod rows;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, Failure, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, OneUrl, PageCursor, VaryAccept};
use longshore::problem::{FieldError, Problem};
use longshore::result::ReportFile;
use longshore_domain::job::Job;
use longshore_domain::ports::PortError;

pub use self::document::{FailureDocument, FailuresDocument};

use self::page::FailedFile;
use self::request::FailuresRequest;
use crate::document::failures_path;
use crate::openapi::examples;
use crate::openapi::parameters::{FailuresQuery, JobIdInPath};
use crate::openapi::refusals::FailuresRefusals;
use crate::output::{Linker, no_report, not_finished, stored_result};
use crate::{Api, Backend};

/// Contents of a file without rows, which completion does not write.
const NO_ROWS: &str = "row,code,field,message\r\n";

/// The file is not in the format that completion writes.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("failed.csv is damaged")]
pub(crate) struct Damaged;

/// Reasons for which a page cannot be read.
#[derive(Debug, thiserror::Error)]
enum PageError {
    #[error("failed.csv is not there any more")]
    Absent,
    #[error("failed.csv is another than the cursor's")]
    Changed,
    #[error("the cursor leads to no row of failed.csv")]
    Astray,
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Returns a page of the failed items of a finished job, or 303 to the file with all of them.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/failures",
    operation_id = "listJobFailures",
    tag = "jobs",
    summary = "Read the items of a finished job that failed.",
    description = "Page by page as JSON, each with its row as it came; or, with `Accept: text/csv` or `format=csv`, the \
        address of the CSV file of all of them. 404 with `not-finished` before the job has a final status, and \
        with `no-report` if its files are not there.",
    params(JobIdInPath, FailuresQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page. As CSV only for a job without failures, whose file would have no rows.",
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
            description = "The CSV file, under a URL that ends after 15 minutes.",
            headers(
                ("Location" = inline(OneUrl), description = "Presigned."),
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
    let job = api.job(&tenant, &id).await?;
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

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Absent => no_report().into(),
            PageError::Changed => {
                let detail = "the failed items are others now; start again without a cursor";
                Problem::invalid(vec![FieldError::new("/cursor", "stale_cursor", detail)]).into()
            }
            PageError::Astray => Problem::invalid(vec![paging::bad_cursor()]).into(),
            PageError::Damaged(error) => Self::Ours(Box::new(error)),
            PageError::Port(error) => error.into(),
        }
    }
}
