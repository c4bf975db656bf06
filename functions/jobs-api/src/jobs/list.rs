//! `GET /api/jobs`: a tenant's jobs, newest first, each as its own document.
//!
//! The document of an incomplete job is a sum over its groups, so the groups are read. To limit the cost, a page ends
//! early if its jobs have more groups than `GROUPS`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::field_error::FieldError;
use longshore::handler::Registry;
use longshore::http::{Answer, QueryText, Tenant, count_work_call, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{CreatedRange, JobPosition, JobProgress, JobStore, JobsOf, JobsPage, JobsQuery};
use longshore_domain::registration::TypeName;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::document::{JobDocument, JobsDocument};
use super::find::read_groups;
use super::metadata;
use crate::backend::{Api, Backend};
use crate::openapi::refusals::ListRefusals;
use crate::openapi::{examples, parameters};

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: the size of one DynamoDB batch read.
const MAX_LIMIT: usize = 100;

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
    params(parameters::JobsQuery, PageCursor),
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
    if !request.metadata.is_empty() {
        // A list by metadata may read 400 jobs for one page.
        count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    }
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

/// The parameters of a list of jobs.
struct ListRequest<'a> {
    status: Option<(Status, &'a str)>,
    job_type: Option<&'a str>,
    metadata: BTreeMap<String, String>,
    limit: usize,
    after: Option<JobPosition>,
}

impl<'a> ListRequest<'a> {
    /// Reads the parameters; ignores unknown ones.
    ///
    /// # Errors
    /// 422 with every bad parameter.
    fn read(query: &'a QueryText, registry: &Registry) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let status = query.get("status").and_then(|text| {
            let status = serde_json::from_value(Value::from(text)).ok();
            errors.extend(status.is_none().then(unknown_status));
            status.map(|status| (status, text))
        });
        let job_type = query.get("jobType");
        errors.extend(job_type.filter(|name| !can_exist(name, registry)).map(|name| unknown_type(name, registry)));
        let metadata = metadata::from_query(query, &mut errors);
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        let after = paging::cursor(query, &mut errors, position);
        Problem::check(errors)?;
        Ok(Self { status, job_type, metadata, limit, after })
    }

    /// Converts the parameters to a query for the store.
    fn for_tenant<'b>(&'b self, tenant: &'b Tenant) -> JobsQuery<'b> {
        let (status, job_type) = (self.status.map(|(status, _)| status), self.job_type);
        let metadata = &self.metadata;
        JobsQuery {
            of: JobsOf::Tenant(&tenant.0),
            created: CreatedRange::ALL,
            status,
            job_type,
            metadata,
            limit: self.limit,
            after: self.after,
        }
    }

    /// Returns the path of the next page of the same list.
    fn next_link(&self, cursor: &str) -> String {
        let limit = self.limit.to_string();
        let filters = [("status", self.status.map(|(_, text)| text)), ("jobType", self.job_type)];
        let metadata: Vec<_> =
            self.metadata.iter().map(|(key, value)| (metadata::parameter(key), value.as_str())).collect();
        let mut parameters: Vec<_> = filters.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        parameters.extend(metadata.iter().map(|(name, value)| (name.as_str(), *value)));
        parameters.extend([("limit", limit.as_str()), ("cursor", cursor)]);
        paging::next_link("/api/jobs", &parameters)
    }
}

/// Encodes a position in the list as a cursor. The cursor contains no tenant: for another tenant, it is only a point in
/// time.
fn cursor(position: JobPosition) -> String {
    paging::encode_cursor(&format!("{}.{}", position.created_at.0, position.job_id))
}

fn position(cursor: &str) -> Option<JobPosition> {
    let position = paging::decode_cursor(cursor)?;
    let (created_at, job_id) = position.split_once('.')?;
    let created_at = created_at.parse().ok().filter(|millis| (0..1_000_000_000_000_000).contains(millis))?;
    Some(JobPosition { created_at: Timestamp(created_at), job_id: JobId::parse(job_id)? })
}

fn unknown_status() -> FieldError {
    let detail = "status must be waiting, running, completed, failed or canceled";
    FieldError::new("/status", "unknown_status", detail)
}

/// Returns true if a job can be of this type. A registered type may have been deleted since, and its jobs are still
/// listed, so every valid name is accepted.
fn can_exist(name: &str, registry: &Registry) -> bool {
    registry.find(name).is_some() || TypeName::parse(name).is_ok()
}

fn unknown_type(name: &str, registry: &Registry) -> FieldError {
    let detail = format!(
        "\"{name}\" is not the name of a job type; the job types are: {}, and those of GET /api/job-types",
        registry.names().join(", ")
    );
    FieldError::new("/jobType", "unknown_job_type", detail)
}

#[cfg(test)]
mod tests {
    use longshore_domain::job::SplitState;

    use super::*;
    use crate::jobs::document::tests::running;

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

    #[test]
    fn a_cursor_is_decoded_and_an_invalid_one_is_refused() {
        let last = JobPosition { created_at: Timestamp(1_700_000_000_000), job_id: JobId::generate() };
        assert_eq!(position(&cursor(last)), Some(last));
        for bad in [
            "",
            "?",
            "1700000000000",
            &paging::encode_cursor("1.x"),
            &paging::encode_cursor(&format!("-1.{}", last.job_id)),
        ] {
            assert_eq!(position(bad), None, "{bad}");
        }
    }
}
