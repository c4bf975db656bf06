//! The call and its parameters.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore::stored_report::stored_result;
use longshore_domain::ports::JobStore;

use super::page::{Position, ResultsDocument, ResultsIndex};
use crate::backend::{Api, Backend};
use crate::jobs::find::find_job;
use crate::jobs::links::results_path;
use crate::openapi::examples;
use crate::openapi::parameters::{JobIdInPath, ResultsQuery};
use crate::openapi::refusals::ResultsRefusals;
use crate::output::stored::{no_report, not_finished};

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size. A page is also limited by bytes.
const MAX_LIMIT: usize = 1_000;

/// Returns a page of the results of a finished job.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/results",
    operation_id = "listJobResults",
    tag = "jobs",
    summary = "List the outputs of a finished job.",
    description = include_str!("list.md").trim_ascii_end(),
    params(JobIdInPath, ResultsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = ResultsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::results()),
        ),
        ResultsRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    query: QueryText,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let from = paging::cursor(&query, &mut errors, Position::decode).unwrap_or_default();
    Problem::check(errors)?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let files = &api.ports.files;
    let index = match stored_result(files, &job).await? {
        Some(result) => result.files.results_index,
        None => None,
    };
    // Items that succeeded have rows, unless their type has no output.
    if index.is_none() && job.completion.totals.is_none_or(|totals| totals.succeeded > 0) {
        let definition = api.ports.store.definition(job.job_id).await?;
        if definition.is_none_or(|definition| definition.results.is_some()) {
            return Err(no_report().into());
        }
    }
    let page = match index {
        Some(index) => ResultsIndex { files, job: &job, key: &index.key }.page(limit, from).await?,
        None => ResultsDocument::empty(),
    };
    let next = page.next_cursor.as_ref().map(|cursor| {
        let parameters = [("limit", &*limit.to_string()), ("cursor", cursor)];
        paging::next_link(&results_path(job.job_id), &parameters)
    });
    Ok(paging::answer(page, next))
}
