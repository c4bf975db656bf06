//! Lists the jobs of a tenant, or those of all tenants and one day, newest first.
//!
//! Jobs to list are found in the index `tenant` or `day`, then read from the table. The indexes repeat only attributes
//! that rarely or never change (id, age, type, status), so that the many writes of a running job do not update them.
//! They may lag by a moment: the jobs found are read again, consistently, and compared with the filters. Metadata is
//! not in the index, because the attributes of an existing index cannot be changed: a list by metadata compares the
//! jobs read.

use std::collections::HashMap;

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{CreatedRange, JobPosition, JobsOf, JobsPage, JobsQuery, PortResult};
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, nested, text};
use super::job_item::{CREATED_AT, CREATED_ON, position_of};
use super::keys::Key;
use super::retry::unanswered;
use super::update::names;
use super::{DynamoStore, failed, job_item};

/// An index of jobs by age, and the partition that a list reads.
struct Partition {
    index: &'static str,
    /// Name of the partition key.
    key: &'static str,
    value: String,
}

impl Partition {
    fn new(of: JobsOf<'_>) -> Self {
        match of {
            JobsOf::Tenant(tenant) => Self { index: "tenant", key: "tenant", value: tenant.to_string() },
            JobsOf::Day(day) => Self { index: "day", key: CREATED_ON, value: day.date() },
        }
    }

    /// Returns the key of an entry.
    fn start(&self, after: JobPosition) -> Item {
        let mut key = Key::job(after.job_id).attributes();
        key.insert(self.key.into(), text(&self.value));
        key.insert(CREATED_AT.into(), text(job_item::created_at(after.created_at)));
        key
    }
}

const LIST_JOBS: &str = "jobs";

/// Maximum number of entries that one query of a filtered list reads: some 150 KB, which is twenty read units.
const ENTRIES: i32 = 1_000;

/// Maximum number of entries that one query of a list by metadata reads.
const CANDIDATES: i32 = 100;

/// Minimum number of these whose jobs are read first: if many jobs match, a page reads no more.
const FIRST_CANDIDATES: usize = 25;

/// Maximum number of queries for one page. A filter that matches few jobs gives short pages instead of slow ones.
const QUERIES: usize = 4;

/// Entries of the index, and the position of the next ones; `None` if there are no more.
struct Entries {
    found: Vec<JobPosition>,
    next: Option<JobPosition>,
}

impl DynamoStore {
    /// Query of the index `tenant` or `day`, newest first, for one entry more than the page holds; with a filter up to
    /// four queries of 1,000 entries. Then one consistent BatchGetItem of `JOB#id` / `JOB`. With a filter by metadata, see
    /// `list_by_metadata`.
    pub(super) async fn list_jobs(&self, request: &JobsQuery<'_>) -> PortResult<JobsPage> {
        if !request.metadata.is_empty() {
            return self.list_by_metadata(request).await;
        }
        let Entries { found, next } = self.find_jobs(request).await?;
        Ok(JobsPage { jobs: self.read_jobs(request, &found).await?, next })
    }

    /// Up to four times, until the page is full: Query of the index for 100 entries, then two consistent
    /// BatchGetItem of `JOB#id` / `JOB`, the first for as many jobs as the page holds. The next page begins after the
    /// last job that was compared for this one.
    async fn list_by_metadata(&self, request: &JobsQuery<'_>) -> PortResult<JobsPage> {
        let (mut jobs, mut next) = (Vec::new(), request.after);
        for _ in 0..QUERIES {
            let entries = self.query_jobs(request, next).await?;
            let (first, rest) = entries.found.split_at(entries.found.len().min(request.limit.max(FIRST_CANDIDATES)));
            jobs.extend(self.read_jobs(request, first).await?);
            next = if rest.is_empty() { entries.next } else { first.last().copied() };
            if jobs.len() < request.limit && !rest.is_empty() {
                jobs.extend(self.read_jobs(request, rest).await?);
                next = entries.next;
            }
            if jobs.len() > request.limit {
                jobs.truncate(request.limit);
                next = jobs.last().map(JobPosition::after);
            }
            if jobs.len() == request.limit || next.is_none() {
                break;
            }
        }
        Ok(JobsPage { jobs, next })
    }

    /// Returns the jobs at these positions that still match, in the same order.
    async fn read_jobs(&self, request: &JobsQuery<'_>, found: &[JobPosition]) -> PortResult<Vec<Job>> {
        let keys: Vec<_> = found.iter().map(|position| Key::job(position.job_id)).collect();
        let items = if keys.is_empty() { Vec::new() } else { self.batch_get(LIST_JOBS, keys).await? };
        let jobs: Result<Vec<Job>, _> = items.into_iter().map(job_item::from_item).collect();
        let jobs = jobs.map_err(failed(LIST_JOBS))?.into_iter().filter(|job| request.includes(job));
        let mut jobs: HashMap<JobId, Job> = jobs.map(|job| (job.job_id, job)).collect();
        Ok(found.iter().filter_map(|position| jobs.remove(&position.job_id)).collect())
    }

    async fn find_jobs(&self, request: &JobsQuery<'_>) -> PortResult<Entries> {
        let (mut found, mut next) = (Vec::new(), request.after);
        for _ in 0..QUERIES {
            let entries = self.query_jobs(request, next).await?;
            found.extend(entries.found);
            next = entries.next;
            if found.len() > request.limit {
                found.truncate(request.limit);
                next = found.last().copied();
                break;
            }
            if next.is_none() {
                break;
            }
        }
        Ok(Entries { found, next })
    }

    /// DynamoDB refuses to start outside the range of the condition.
    async fn query_jobs(&self, request: &JobsQuery<'_>, after: Option<JobPosition>) -> PortResult<Entries> {
        let CreatedRange { from, before } = request.created;
        let after = after.filter(|after| after.created_at < before);
        if from >= before || after.is_some_and(|after| after.created_at < from) {
            return Ok(Entries { found: Vec::new(), next: None });
        }
        let partition = Partition::new(request.of);
        let mut filters = Vec::new();
        let mut values = Item::from([
            (":partition".to_owned(), text(&partition.value)),
            (":from".to_owned(), text(job_item::created_at(from))),
            (":to".to_owned(), text(job_item::created_at(Timestamp(before.0 - 1)))),
        ]);
        let condition = format!("#{} = :partition AND #{CREATED_AT} BETWEEN :from AND :to", partition.key);
        if let Some(status) = request.status {
            filters.push("#status = :status");
            values.insert(":status".into(), nested(&status).map_err(failed(LIST_JOBS))?);
        }
        if let Some(job_type) = request.job_type {
            filters.push("#jobType = :jobType");
            values.insert(":jobType".into(), text(job_type));
        }
        let filter = Some(filters.join(" AND ")).filter(|filter| !filter.is_empty());
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(partition.index)
            .set_expression_attribute_names(Some(names(&[&condition, filter.as_deref().unwrap_or_default()])))
            .key_condition_expression(condition)
            .set_expression_attribute_values(Some(values))
            .limit(entries_to_read(request))
            .set_filter_expression(filter)
            .scan_index_forward(false)
            .set_exclusive_start_key(after.map(|after| partition.start(after)));
        let page = query.send().await.map_err(unanswered(LIST_JOBS))?;
        let found: Result<_, _> = page.items().iter().map(position_of).collect();
        let next = page.last_evaluated_key().map(position_of).transpose();
        Ok(Entries { found: found.map_err(failed(LIST_JOBS))?, next: next.map_err(failed(LIST_JOBS))? })
    }
}

/// Returns the number of entries that one query reads.
fn entries_to_read(request: &JobsQuery<'_>) -> i32 {
    if !request.metadata.is_empty() {
        CANDIDATES
    } else if request.status.is_some() || request.job_type.is_some() {
        ENTRIES
    } else {
        i32::try_from(request.limit + 1).unwrap_or(i32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
    use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
    use longshore_domain::tenant::TenantId;
    use serde_json::{Value, json};

    use super::super::retry::tests::store_on;
    use super::*;

    /// A table with an endless index of jobs that no longer exist. Records each call, with the number of entries or
    /// keys that it requests.
    #[derive(Clone, Debug, Default)]
    struct Endless {
        calls: Arc<Mutex<Vec<(String, usize)>>>,
    }

    impl HttpConnector for Endless {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
            let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
            let keys = body["RequestItems"]["t"]["Keys"].as_array().map_or(0, Vec::len);
            let limit = body["Limit"].as_u64().map_or(keys, |limit| usize::try_from(limit).unwrap());
            self.calls.lock().unwrap().push((operation.clone(), limit));
            let answer = match operation.as_str() {
                "Query" => {
                    let entries: Vec<_> = (0..limit).map(|_| entry()).collect();
                    json!({ "Items": entries, "LastEvaluatedKey": entries.last() })
                }
                _ => json!({ "Responses": { "t": [] } }),
            };
            let status = 200_u16.try_into().unwrap();
            HttpConnectorFuture::ready(Ok(HttpResponse::new(status, answer.to_string().into())))
        }
    }

    fn entry() -> Value {
        json!({
            "PK": { "S": format!("JOB#{}", JobId::generate()) }, "SK": { "S": "JOB" },
            "tenant": { "S": "t" }, "createdAt": { "S": job_item::created_at(Timestamp(1)) },
        })
    }

    /// Returns the calls of a list of 20 jobs, and its next position.
    async fn calls(metadata: BTreeMap<String, String>) -> (Vec<(String, usize)>, Option<JobPosition>) {
        let (table, tenant) = (Endless::default(), TenantId::from_static("t"));
        let request = JobsQuery {
            of: JobsOf::Tenant(&tenant),
            created: CreatedRange::ALL,
            status: None,
            job_type: None,
            metadata: &metadata,
            limit: 20,
            after: None,
        };
        let page = store_on(table.clone()).list_jobs(&request).await.unwrap();
        assert_eq!(page.jobs, []);
        let calls = table.calls.lock().unwrap().clone();
        (calls, page.next)
    }

    #[tokio::test]
    async fn a_list_by_metadata_ends_after_four_queries_and_has_a_next_page() {
        let (calls, next) = calls([("team".into(), "crm".into())].into()).await;
        let expected = [("Query", 100), ("BatchGetItem", 25), ("BatchGetItem", 75)].repeat(4);
        assert_eq!(calls, expected.into_iter().map(|(name, count)| (name.to_owned(), count)).collect::<Vec<_>>());
        assert!(next.is_some());
    }

    #[tokio::test]
    async fn a_list_without_metadata_is_one_query_and_one_batch() {
        let (calls, next) = calls(BTreeMap::new()).await;
        assert_eq!(calls, [("Query".to_owned(), 21), ("BatchGetItem".to_owned(), 20)]);
        assert!(next.is_some());
    }
}
