//! `GET /api/operations/failures`: failed items of all tenants, grouped by job type and code.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::field_error::FieldError;
use longshore::http::{Answer, Failure, QueryText, Viewer, paging};
use longshore::job_retry::CODE_CHARS;
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore::stored_report::stored_result;
use longshore::{refusals, telemetry};
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{Files, JobPosition, JobStore, PortResult};
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::group::{FailureGroupDocument, Grouped, JobFailures, group};
use crate::example_job;
use crate::function::{Backend, Operations};
use crate::jobs::filter::{JobFilter, ListPosition};
use crate::jobs::read::{ReadJobs, newest};

const PATH: &str = "/api/operations/failures";

const DEFAULT_LIMIT: usize = 50;

/// Maximum number of reports that one call reads.
const MAX_LIMIT: usize = 100;

/// Number of jobs that are read at once, with or without failed items.
const JOBS: usize = 100;

/// Maximum number of times that so many jobs are read for one page.
const JOB_READS: usize = 8;

/// Seconds after which no more jobs are read: a filter that few jobs match takes up to two seconds a time.
const READ_S: i64 = 8;

/// Number of reports that are read concurrently.
const CONCURRENT_READS: usize = 8;

/// A page of groups of failures.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FailureGroups)]
pub struct FailureGroupsDocument {
    /// Groups of the page's jobs, those with the most items first, up to 200.
    pub groups: Vec<FailureGroupDocument>,
    /// Groups of the page's jobs beyond the first 200.
    pub groups_left_out: u64,
    /// Jobs with failed items whose reports were read for the page.
    pub jobs_read: u64,
    /// Failed items of these jobs that no group counts: their report is gone or damaged, or lacks their code.
    pub uncounted: u64,
    /// Time of the read, in RFC 3339. A retry with it leaves out jobs that have ended later.
    #[schema(format = DateTime)]
    pub as_of: String,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Query parameters of `GET /api/operations/failures`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct FailuresQuery {
    /// Return only failures of this job type.
    #[param(required = false, rename = "type", min_length = 1, max_length = 100)]
    job_type: String,
    /// Return only failures with this code.
    #[param(required = false, min_length = 1, max_length = 100)]
    code: String,
    /// Return only failures of jobs of this tenant.
    #[param(required = false, min_length = 1, max_length = 128)]
    tenant: String,
    /// Return only failures of jobs that were accepted at this time or later, in RFC 3339.
    #[param(required = false, rename = "createdAfter", format = DateTime)]
    created_after: String,
    /// Return only failures of jobs that were accepted before this time, in RFC 3339.
    #[param(required = false, rename = "createdBefore", format = DateTime)]
    created_before: String,
    /// Maximum number of jobs whose reports are read for the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    limit: usize,
}

refusals!(
    /// Refusals of `GET /api/operations/failures`.
    operator FailuresRefusals: MalformedQuery, InvalidRequest
);

/// Returns a page of groups of failures.
#[utoipa::path(
    get,
    path = "/api/operations/failures",
    operation_id = "listFailureGroups",
    tag = "operations",
    summary = "Group the failed items of all tenants by job type and code.",
    description = include_str!("list.md").trim_ascii_end(),
    params(FailuresQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = FailureGroupsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(failures_example()),
        ),
        FailuresRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    _: Viewer,
    query: QueryText,
) -> Answer {
    let now = (function.clock)();
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let code = query.get("code");
    errors.extend(code.filter(|code| !(1..=CODE_CHARS).contains(&code.chars().count())).map(|_| bad_code()));
    let mut filter = JobFilter::read(&query, function.oldest(now), &mut errors);
    Problem::check(errors)?;
    filter = filter.with_parameter("limit", limit.to_string());
    if let Some(code) = code {
        filter = filter.with_parameter("code", code.to_owned());
    }
    let (failed, next) = failed_jobs(&function.ports.store, &filter, limit, function.clock).await?;
    let files = &function.ports.files;
    let reads = stream::iter(failed).map(|job| Box::pin(read(files, job))).buffered(CONCURRENT_READS);
    let failures: Vec<_> = reads.try_collect().await?;
    let Grouped { groups, uncounted, left_out } = group(&failures, code);
    let next_cursor = next.map(ListPosition::encode);
    let link = next_cursor.as_ref().map(|cursor| filter.next_link(PATH, cursor));
    let document = FailureGroupsDocument {
        groups,
        groups_left_out: left_out as u64,
        jobs_read: failures.len() as u64,
        uncounted,
        as_of: now.to_rfc3339(),
        next_cursor,
    };
    Ok(paging::answer(document, link))
}

/// Returns the newest jobs with failed items, and the position of the next ones.
async fn failed_jobs(
    store: &impl JobStore,
    filter: &JobFilter,
    limit: usize,
    clock: fn() -> Timestamp,
) -> PortResult<(Vec<Job>, Option<ListPosition>)> {
    let (mut failed, mut filter) = (Vec::new(), filter.clone());
    let until = clock().plus_seconds(READ_S);
    for _ in 0..JOB_READS {
        let ReadJobs { jobs, next } = newest(store, &filter, JOBS, clock()).await?;
        failed.extend(jobs.into_iter().filter(has_failed_items));
        filter.after = next;
        if failed.len() >= limit || next.is_none() || clock() >= until {
            break;
        }
    }
    if failed.len() > limit {
        failed.truncate(limit);
        filter.after = failed.last().map(|last| ListPosition::AfterJob(JobPosition::after(last)));
    }
    Ok((failed, filter.after))
}

/// Returns true for an ended job with failed items. A canceled one is left out: its tenant has stopped it.
fn has_failed_items(job: &Job) -> bool {
    matches!(job.status, Status::Completed | Status::Failed)
        && job.completion.totals.is_some_and(|totals| totals.failed > 0)
}

/// Reads the result of a job. One that cannot be read, because another version wrote it or it is damaged, counts as
/// gone, so that it does not keep the page and those behind it from being read.
async fn read(files: &impl Files, job: Job) -> Result<JobFailures, Failure> {
    let result = match stored_result(files, &job).await {
        Err(Failure::Internal(error)) if error.is::<serde_json::Error>() => {
            let error = telemetry::chain(error.as_ref());
            tracing::error!(job.id = %job.job_id, error, "cannot read the result of a job");
            None
        }
        result => result?,
    };
    Ok(JobFailures { job, result })
}

fn bad_code() -> FieldError {
    FieldError::new("/code", "invalid_failure", format!("code must have 1 to {CODE_CHARS} characters"))
}

/// Example: items of one job that failed while their handler was unavailable.
fn failures_example() -> FailureGroupsDocument {
    let group = FailureGroupDocument {
        job_type: "invite".to_owned(),
        code: "handler_unavailable".to_owned(),
        items: 1_204,
        jobs: 1,
        first_seen: "2026-07-01T09:31:00Z".to_owned(),
        last_seen: "2026-07-01T09:31:00Z".to_owned(),
        job_ids: vec![example_job()],
    };
    FailureGroupsDocument {
        groups: vec![group],
        groups_left_out: 0,
        jobs_read: 1,
        uncounted: 0,
        as_of: "2026-07-01T09:40:00Z".to_owned(),
        next_cursor: None,
    }
}
