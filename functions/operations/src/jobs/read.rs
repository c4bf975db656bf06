//! Reads jobs of all tenants, a bounded number of times.
//!
//! The jobs of a tenant are in one partition of an index, newest first. Those of all tenants are in one partition for
//! each day, so the days are read one after the other. A page that has read often enough ends, with the position from
//! which the next one continues, although it may be empty.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::job::Job;
use longshore_domain::ports::{ByAge, CreatedRange, JobPosition, JobStore, JobsOf, JobsQuery, PortResult};
use longshore_domain::timestamp::Timestamp;

use super::filter::{JobFilter, ListPosition};

/// Maximum number of reads of the index for one page. A filtered read is up to four queries of 1,000 entries.
const READS: usize = 16;

/// Maximum number of pages of the index `unfinished` for one page; each has up to 100 jobs, which are read one by one.
const UNFINISHED_PAGES: usize = 4;

/// Number of jobs that are read concurrently.
const CONCURRENT_READS: usize = 16;

/// A page of jobs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ReadJobs {
    pub(crate) jobs: Vec<Job>,
    /// Position of the next page; `None` if there are no more.
    pub(crate) next: Option<ListPosition>,
}

/// Reads the newest jobs behind the filter's position.
pub(crate) async fn newest(
    store: &impl JobStore,
    filter: &JobFilter,
    limit: usize,
    now: Timestamp,
) -> PortResult<ReadJobs> {
    let begin = || ListPosition::BeforeTime(filter.created.before.min(now.end_of_day()));
    let (mut jobs, mut position) = (Vec::new(), filter.after.unwrap_or_else(begin));
    for _ in 0..READS {
        let (of, first) = match &filter.tenant {
            Some(tenant) => (JobsOf::Tenant(tenant), CreatedRange::ALL.from),
            None => {
                let day = Timestamp(before(position).0 - 1);
                (JobsOf::Day(day), day.day())
            }
        };
        let query = JobsQuery {
            of,
            created: CreatedRange { from: filter.created.from, before: filter.created.before.min(before(position)) },
            status: filter.status,
            job_type: filter.job_type.as_deref(),
            metadata: &BTreeMap::new(),
            limit: limit - jobs.len(),
            after: position.job_position(),
        };
        let page = store.jobs(&query).await?;
        jobs.extend(page.jobs);
        position = match page.next {
            Some(next) => ListPosition::AfterJob(next),
            None if first <= filter.created.from => return Ok(ReadJobs { jobs, next: None }),
            None => ListPosition::BeforeTime(first),
        };
        if jobs.len() >= limit {
            break;
        }
    }
    Ok(ReadJobs { jobs, next: Some(position) })
}

/// Returns the time before which the jobs behind a position were accepted.
fn before(position: ListPosition) -> Timestamp {
    match position {
        ListPosition::BeforeTime(time) => time,
        ListPosition::AfterJob(position) => Timestamp(position.created_at.0 + 1),
    }
}

/// Reads the oldest unfinished jobs behind the filter's position.
pub(crate) async fn oldest_unfinished(store: &impl JobStore, filter: &JobFilter, limit: usize) -> PortResult<ReadJobs> {
    let (mut jobs, mut after) = (Vec::new(), filter.after.and_then(ListPosition::job_position));
    for _ in 0..UNFINISHED_PAGES {
        let page = store.unfinished(after, ByAge::OldestFirst).await?;
        let Some(last) = page.last().copied() else { return Ok(ReadJobs { jobs, next: None }) };
        let reads = stream::iter(page).map(|position| store.job(position.job_id)).buffered(CONCURRENT_READS);
        let read: Vec<Option<Job>> = reads.try_collect().await?;
        let listed = read.into_iter().flatten().filter(|job| !job.status.is_final() && filter.includes(job));
        jobs.extend(listed);
        if jobs.len() >= limit {
            let is_cut = jobs.len() > limit;
            jobs.truncate(limit);
            let last = jobs.last().filter(|_| is_cut).map_or(last, JobPosition::after);
            return Ok(ReadJobs { jobs, next: Some(ListPosition::AfterJob(last)) });
        }
        after = Some(last);
    }
    Ok(ReadJobs { jobs, next: after.map(ListPosition::AfterJob) })
}
