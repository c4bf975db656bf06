//! `GET /api/jobs/{jobId}/failures`: the call and its parameters.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::field_error::FieldError;
use longshore::files::content_disposition;
use longshore::http::{Answer, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, OneUrl, PageCursor, VaryAccept};
use longshore::problem::Problem;
use longshore::receipt::download_name;
use longshore::result::ReportFile;
use longshore::stored_report::stored_result;
use longshore_domain::job::Job;
use longshore_domain::results::WORKBOOK_TYPE;
use utoipa::ToSchema;

use super::page::{FailedFile, FailuresCursor};
use super::rows::FailuresDocument;
use super::workbook::{NoWorkbook, read_csv, workbook};
use crate::backend::{Api, Backend};
use crate::jobs::find::find_job;
use crate::jobs::links::failures_path;
use crate::openapi::examples;
use crate::openapi::parameters::{FailuresFormat, FailuresQuery, JobIdInPath};
use crate::openapi::refusals::FailuresRefusals;
use crate::output::linker::Linker;
use crate::output::stored::{no_report, not_finished};

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size. A page is also limited by bytes.
const MAX_LIMIT: usize = 1_000;

/// Contents of a file without rows, which completion does not write.
const NO_ROWS: &str = "row,code,field,message\r\n";
const NO_ROWS_OF_SHEET: &str = "row,sheet_row,code,field,message\r\n";

/// The bytes of a workbook.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "it is in the API document only")]
pub(crate) struct WorkbookBytes(Vec<u8>);

/// Returns a page of the failed items of a finished job, a workbook with all of them, or a redirect to the CSV file.
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
            description = "A page, or the workbook. CSV only for a job without failures, whose file would have no rows.",
            content(
                (FailuresDocument = "application/json", example = json!(examples::failures())),
                (String = "text/csv", example = json!(NO_ROWS)),
                (
                    inline(WorkbookBytes) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                    example = json!("PK\u{3}\u{4}...")
                ),
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
    let no_rows = if job.is_over_sheet() { NO_ROWS_OF_SHEET } else { NO_ROWS };
    match (request, file) {
        (FailuresRequest::Workbook, None) => Ok(as_workbook(&job, no_rows.as_bytes())?),
        (FailuresRequest::Workbook, Some(file)) => Ok(as_workbook(&job, &read_csv(files, &file.key).await?)?),
        (FailuresRequest::Csv, None) => {
            Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], about(None), no_rows).into_response())
        }
        (FailuresRequest::Csv, Some(file)) => {
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

fn as_workbook(job: &Job, csv: &[u8]) -> Result<Response, NoWorkbook> {
    let workbook = workbook(csv, job.is_over_sheet())?;
    let name = content_disposition(&download_name(job, "failed.xlsx"));
    let about_file = [(header::CONTENT_TYPE, WORKBOOK_TYPE.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((about_file, about(None), workbook).into_response())
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

/// A client's request for failed items.
#[derive(Clone, Eq, PartialEq, Debug)]
enum FailuresRequest {
    /// The whole file, as CSV.
    Csv,
    /// All failed items, as a workbook.
    Workbook,
    /// A page, as JSON.
    Page {
        /// Maximum number of failures.
        limit: usize,
        /// Position after which the page begins.
        after: Option<FailuresCursor>,
    },
}

impl FailuresRequest {
    /// Reads the parameters. Without `format`, the header `Accept` decides.
    ///
    /// # Errors
    /// 422 with every bad parameter.
    fn read(query: &QueryText, headers: &HeaderMap) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let format = match query.get("format") {
            None if prefers_csv(headers) => FailuresFormat::Csv,
            Some("csv") => FailuresFormat::Csv,
            Some("xlsx") => FailuresFormat::Xlsx,
            None | Some("json") => FailuresFormat::Json,
            Some(_) => {
                errors.push(FieldError::new("/format", "unknown_format", "format must be json, csv or xlsx"));
                FailuresFormat::Json
            }
        };
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        let after = paging::cursor(query, &mut errors, FailuresCursor::decode);
        Problem::check(errors)?;
        Ok(match format {
            FailuresFormat::Csv => Self::Csv,
            FailuresFormat::Xlsx => Self::Workbook,
            FailuresFormat::Json => Self::Page { limit, after },
        })
    }
}

/// Returns true if `Accept` (RFC 9110) ranks CSV above JSON.
fn prefers_csv(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = lists.flat_map(|list| list.split(',')).filter_map(range).collect();
    let quality = |names: [&str; 3]| {
        let named = names.iter().find_map(|name| ranges.iter().find(|(media, _)| media == name));
        named.map_or(0.0, |(_, quality)| *quality)
    };
    quality(["text/csv", "text/*", "*/*"]) > quality(["application/json", "application/*", "*/*"])
}

/// Parses a media range and its quality.
fn range(text: &str) -> Option<(String, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next()?.to_ascii_lowercase();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some((media, quality.map_or(Some(1.0), |quality| quality.parse().ok())?))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn csv_is_returned_if_accept_ranks_it_above_json() {
        for (accept, expected) in [
            ("text/csv", true),
            ("Text/CSV; charset=utf-8", true),
            ("text/csv, application/json;q=0.9", true),
            ("text/csv;q=0.5, */*", false),
            ("text/*", true),
            ("application/json", false),
            ("application/json, text/csv", false),
            ("text/csv;q=0", false),
            ("text/html", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_csv(&headers), expected, "{accept}");
        }
        assert!(!prefers_csv(&HeaderMap::new()));
    }
}
