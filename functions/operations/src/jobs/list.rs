//! `GET /api/operations/jobs`: the jobs of all tenants, newest first, or the unfinished ones, oldest first.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::field_error::FieldError;
use longshore::http::{Answer, QueryText, Viewer, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore::refusals;
use longshore::waiting::{TypeState, WaitingFor, can_wait, paused};
use longshore_domain::job::{Job, Priority, Stage, Status};
use longshore_domain::ports::{HandlerStates, ParkedChunks, Pauses, Permits, PortResult};
use longshore_domain::remote::WaitReason;
use longshore_domain::timestamp::Timestamp;
use utoipa::IntoParams;

use super::document::{OperatorJobCounts, OperatorJobDocument, OperatorJobsDocument};
use super::filter::{JobFilter, ListPosition};
use super::read::{newest, oldest_unfinished};
use crate::example_job;
use crate::function::{Backend, Operations};

const PATH: &str = "/api/operations/jobs";

const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: the size of one DynamoDB batch read.
const MAX_LIMIT: usize = 100;

/// Number of job types whose states are read concurrently.
const CONCURRENT_TYPES: usize = 8;

/// Query parameters of `GET /api/operations/jobs`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct OperatorJobsQuery {
    /// Return only jobs with this status.
    #[param(required = false)]
    status: Status,
    /// Return only jobs of this type.
    #[param(required = false, rename = "type", min_length = 1, max_length = 100)]
    job_type: String,
    /// Return only jobs of this tenant.
    #[param(required = false, min_length = 1, max_length = 128)]
    tenant: String,
    /// Return only jobs that were accepted at this time or later, in RFC 3339.
    #[param(required = false, rename = "createdAfter", format = DateTime)]
    created_after: String,
    /// Return only jobs that were accepted before this time, in RFC 3339.
    #[param(required = false, rename = "createdBefore", format = DateTime)]
    created_before: String,
    /// Order of the list: all jobs, newest first; or only unfinished jobs, oldest first.
    #[param(required = false, pattern = "^(newest|oldest)$", default = "newest")]
    order: String,
    /// Maximum number of jobs on the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

refusals!(
    /// Refusals of `GET /api/operations/jobs`.
    operator JobsRefusals: MalformedQuery, InvalidRequest
);

/// Returns a page of the jobs of all tenants.
#[utoipa::path(
    get,
    path = "/api/operations/jobs",
    operation_id = "listOperatorJobs",
    tag = "operations",
    summary = "List the jobs of all tenants.",
    description = include_str!("list.md").trim_ascii_end(),
    params(OperatorJobsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = OperatorJobsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(jobs_example()),
        ),
        JobsRefusals,
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
    let filter = JobFilter::read(&query, function.oldest(now), &mut errors);
    let mut filter = filter.with_status(&query, &mut errors).with_parameter("limit", limit.to_string());
    let order = query.get("order");
    errors.extend(order.filter(|order| !matches!(*order, "newest" | "oldest")).map(|_| unknown_order()));
    // Such a cursor is that of the other order: it has no position among the unfinished jobs.
    let is_foreign = order == Some("oldest") && matches!(filter.after, Some(ListPosition::BeforeTime(_)));
    errors.extend(is_foreign.then(paging::bad_cursor));
    Problem::check(errors)?;
    if let Some(order) = order {
        filter = filter.with_parameter("order", order.to_owned());
    }
    let store = &function.ports.store;
    let page = match order {
        Some("oldest") => oldest_unfinished(store, &filter, limit).await?,
        _ => newest(store, &filter, limit, now).await?,
    };
    let (states, pauses) = futures::try_join!(type_states(store, &page.jobs), store.pauses())?;
    let waiting_for = |job: &Job| paused(job, &pauses, now).or_else(|| waiting_for(&states, job, now));
    let jobs = page.jobs.iter().map(|job| OperatorJobDocument::new(job, waiting_for(job))).collect();
    let next_cursor = page.next.map(ListPosition::encode);
    let link = next_cursor.as_ref().map(|cursor| filter.next_link(PATH, cursor));
    Ok(paging::answer(OperatorJobsDocument { jobs, next_cursor }, link))
}

/// Reads the state of each registered type of which a job may wait, once.
async fn type_states(
    store: &(impl HandlerStates + Permits + ParkedChunks),
    jobs: &[Job],
) -> PortResult<BTreeMap<String, TypeState>> {
    let mut types: Vec<_> = jobs.iter().filter(|job| can_wait(job)).map(|job| job.job_type.clone()).collect();
    types.sort_unstable();
    types.dedup();
    let read = async |name: String| PortResult::Ok((name.clone(), TypeState::read(store, &name).await?));
    stream::iter(types).map(|name| Box::pin(read(name))).buffer_unordered(CONCURRENT_TYPES).try_collect().await
}

fn waiting_for(states: &BTreeMap<String, TypeState>, job: &Job, now: Timestamp) -> Option<WaitingFor> {
    states.get(&job.job_type).filter(|_| can_wait(job))?.waiting_for(job, &[], now)
}

fn unknown_order() -> FieldError {
    FieldError::new("/order", "unknown_order", "order must be newest or oldest")
}

/// Example: a job that waits for its handler, and one that has ended.
fn jobs_example() -> OperatorJobsDocument {
    let running = OperatorJobDocument {
        job_id: example_job(),
        trace_id: example_job().into(),
        tenant: "acme".to_owned(),
        job_type: "invite".to_owned(),
        priority: Priority::Normal,
        status: Status::Running,
        stage: Stage::Processing,
        item_count: 52_000,
        item_count_final: true,
        counts: None,
        attempts: 1,
        waiting_for: Some(WaitingFor {
            reason: WaitReason::HandlerUnavailable,
            since: "2026-07-01T09:10:00Z".to_owned(),
            next_try: Some("2026-07-01T09:20:00Z".to_owned()),
        }),
        error_code: None,
        created_at: "2026-07-01T09:00:00.12Z".to_owned(),
        started_at: Some("2026-07-01T09:00:00.5Z".to_owned()),
        finished_at: None,
        updated_at: "2026-07-01T09:00:04Z".to_owned(),
        deadline_at: "2026-07-02T09:00:00.5Z".to_owned(),
    };
    let ended = OperatorJobDocument {
        status: Status::Completed,
        stage: Stage::Done,
        counts: Some(OperatorJobCounts { succeeded: 51_990, failed: 10, skipped: 0 }),
        waiting_for: None,
        finished_at: Some("2026-07-01T09:01:00Z".to_owned()),
        ..running.clone()
    };
    OperatorJobsDocument { jobs: vec![running, ended], next_cursor: None }
}
