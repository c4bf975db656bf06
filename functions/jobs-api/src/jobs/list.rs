//! `GET /api/jobs`: a tenant's jobs, newest first, each as its own document.
//!
//! The document of an incomplete job is a sum over its groups, so the groups are read. To limit the cost, a page ends
//! early if its jobs have more groups than `GROUPS`.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{JobPosition, JobProgress, JobStore, JobsPage};

use super::document::{JobDocument, JobsDocument};
use super::find::read_groups;
use super::list_request::{ListRequest, cursor};
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::parameters::JobsQuery;
use crate::openapi::refusals::ListRefusals;

/// Maximum groups that one page reads, not counting its first job: about 128 read units and a fraction of a second.
const GROUPS: u32 = 512;

/// Jobs whose groups are read concurrently.
const CONCURRENT_READS: usize = 8;

/// Returns a page of the tenant's jobs.
#[utoipa::path(
    get,
    path = "/api/jobs",
    operation_id = "listJobs",
    tag = "jobs",
    summary = "List jobs, newest first.",
    description = include_str!("list.md").trim_ascii_end(),
    params(JobsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = JobsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::jobs()),
        ),
        ListRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, query: QueryText) -> Answer {
    let request = ListRequest::read(&query, &api.registry)?;
    let page = affordable(api.ports.store.jobs(&request.for_tenant(&tenant)).await?);
    let next = page.next.map(cursor);
    let read =
        stream::iter(page.jobs).map(|job| Box::pin(read_groups(&api.ports.store, job))).buffered(CONCURRENT_READS);
    // Excludes jobs that were deleted meanwhile, or no longer have the requested status.
    let existing = read.try_filter_map(async |read| Ok(read));
    let matching = existing.try_filter(|read| std::future::ready(request.for_tenant(&tenant).includes(&read.job)));
    let jobs = matching.map_ok(|JobProgress { groups, job }| JobDocument::new(&job, &groups)).try_collect().await?;
    let link = next.as_ref().map(|cursor| request.next_link(cursor));
    Ok(paging::answer(JobsDocument { jobs, next_cursor: next }, link))
}

/// Cuts the page to the jobs whose groups can be read at once; keeps at least one job.
fn affordable(mut page: JobsPage) -> JobsPage {
    let mut groups = 0;
    let fits = page.jobs.iter().take_while(|job| {
        let first = groups == 0;
        groups += groups_to_read(job);
        first || groups <= GROUPS
    });
    let fits = fits.count();
    if fits < page.jobs.len() {
        page.jobs.truncate(fits);
        page.next = page.jobs.last().map(JobPosition::after);
    }
    page
}

fn groups_to_read(job: &Job) -> u32 {
    if job.status == Status::Completed { 0 } else { job.split.groups.saturating_sub(job.retry.carried_over.groups) }
}

#[cfg(test)]
mod tests {
    use longshore_domain::job::{Job, SplitState, Status};
    use longshore_domain::ports::JobsPage;

    use super::super::document::tests::running;
    use super::affordable;

    #[test]
    fn a_page_ends_before_it_reads_too_many_groups() {
        let job = |status, groups| Job { status, split: SplitState { groups, ..running().split.clone() }, ..running() };
        let (run, done) = (|groups| job(Status::Running, groups), job(Status::Completed, 9_999));
        for (jobs, expected) in [
            (vec![run(9_999), run(1)], 1),
            (vec![run(0), run(9_999), run(1)], 2),
            (vec![run(512), done.clone(), run(0), run(1)], 3),
            (vec![run(256), run(256), done.clone()], 3),
            (vec![done.clone(), done], 2),
            (vec![], 0),
        ] {
            let page = JobsPage { jobs: jobs.clone(), next: None };
            let cut = affordable(page);
            assert_eq!((cut.jobs.len(), cut.next.is_some()), (expected, expected < jobs.len()));
            assert_eq!(cut.next.map(|next| next.job_id), cut.next.and(cut.jobs.last().map(|job| job.job_id)));
        }
    }
}
