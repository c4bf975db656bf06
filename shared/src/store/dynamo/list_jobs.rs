//! A tenant's jobs, newest first: found in the index `tenant`, then read from the table.
//!
//! The index repeats only attributes that rarely or never change (id, age, type, status), so that the many writes of
//! a running job do not update it. It may lag by a moment: the jobs found are read again, consistently, and compared
//! with the filters.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::query::QueryOutput;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{JobPosition, JobsPage, JobsQuery, PortResult};
use longshore_domain::tenant::TenantId;

use super::item::{Item, nested, text};
use super::job_item::{CREATED_AT, position_of};
use super::keys::Key;
use super::retry::unanswered;
use super::update::names;
use super::{DynamoStore, failed, job_item};

/// The index, and its partition key.
const TENANT: &str = "tenant";

const OPERATION: &str = "jobs";

/// Maximum number of entries that one query of a filtered list reads: some 150 KB, which is twenty read units.
const ENTRIES: i32 = 1_000;

/// Maximum number of queries for one page. A filter that matches few jobs gives short pages instead of slow ones.
const QUERIES: usize = 4;

impl DynamoStore {
    /// Query of the index `tenant`, newest first, for one entry more than the page holds; with a filter up to four
    /// queries of 1,000 entries. Then one consistent BatchGetItem of `JOB#id` / `JOB`.
    pub(super) async fn list_jobs(&self, request: &JobsQuery<'_>) -> PortResult<JobsPage> {
        let (found, next) = self.find_jobs(request).await?;
        let keys: Vec<_> = found.iter().map(|position| Key::job(position.job_id)).collect();
        let items = if keys.is_empty() { Vec::new() } else { self.batch_get(OPERATION, keys).await? };
        let jobs: Result<Vec<Job>, _> = items.into_iter().map(job_item::from_item).collect();
        let jobs = jobs.map_err(failed(OPERATION))?.into_iter().filter(|job| request.includes(job));
        let mut jobs: HashMap<JobId, Job> = jobs.map(|job| (job.job_id, job)).collect();
        Ok(JobsPage { jobs: found.iter().filter_map(|position| jobs.remove(&position.job_id)).collect(), next })
    }

    async fn find_jobs(&self, request: &JobsQuery<'_>) -> PortResult<(Vec<JobPosition>, Option<JobPosition>)> {
        let (mut found, mut rest) = (Vec::new(), request.after);
        for _ in 0..QUERIES {
            let page = self.query_jobs(request, rest).await?;
            let entries: Result<Vec<_>, _> = page.items().iter().map(position_of).collect();
            found.extend(entries.map_err(failed(OPERATION))?);
            rest = page.last_evaluated_key().map(position_of).transpose().map_err(failed(OPERATION))?;
            if found.len() > request.limit {
                found.truncate(request.limit);
                rest = found.last().copied();
                break;
            }
            if rest.is_none() {
                break;
            }
        }
        Ok((found, rest))
    }

    async fn query_jobs(&self, request: &JobsQuery<'_>, after: Option<JobPosition>) -> PortResult<QueryOutput> {
        let mut filters = Vec::new();
        let mut values = Item::from([(":tenant".to_owned(), text(request.tenant.as_str()))]);
        if let Some(status) = request.status {
            filters.push("#status = :status");
            values.insert(":status".into(), nested(&status).map_err(failed(OPERATION))?);
        }
        if let Some(job_type) = request.job_type {
            filters.push("#jobType = :jobType");
            values.insert(":jobType".into(), text(job_type));
        }
        let filter = Some(filters.join(" AND ")).filter(|filter| !filter.is_empty());
        let page_and_one = i32::try_from(request.limit + 1).unwrap_or(i32::MAX);
        self.client
            .query()
            .table_name(&self.table)
            .index_name(TENANT)
            .key_condition_expression("#tenant = :tenant")
            .set_expression_attribute_names(Some(names(&["#tenant", filter.as_deref().unwrap_or_default()])))
            .set_expression_attribute_values(Some(values))
            .limit(if filter.is_some() { ENTRIES } else { page_and_one })
            .set_filter_expression(filter)
            .scan_index_forward(false)
            .set_exclusive_start_key(after.map(|after| start_key(request.tenant, after)))
            .send()
            .await
            .map_err(unanswered(OPERATION))
    }
}

fn start_key(tenant: &TenantId, after: JobPosition) -> Item {
    let mut key = Key::job(after.job_id).attributes();
    key.insert(TENANT.into(), text(tenant.as_str()));
    key.insert(CREATED_AT.into(), text(job_item::created_at(after.created_at)));
    key
}
