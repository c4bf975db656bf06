//! Counts a tenant's active jobs, so that a limit holds exactly and the end of a job costs nothing.
//!
//! A set of job ids (`TENANT#tenant` / `ACTIVE`) holds every job that has not ended: the id goes in by the transaction
//! that makes the job active, create, start or retry, if the set has room. A deleted job is active until it is removed: the
//! sweeper has work with it so long, and who creates and deletes in a loop comes to the limit. Nobody takes it out at the job's end: that would be
//! one more write that can die half-way. When the set is full the jobs in it are read, and those that have ended or
//! are gone are taken out. A retry may open such a job again at that very moment: every id that goes in moves `changes`,
//! and what was read before is not acted upon.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::PortResult;

use super::item::{Item, ItemError, number, read_number};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed, job_item};
use crate::aws_limits::dynamodb::BATCH_GET_KEYS as BATCH_KEYS;

const OPERATION: &str = "active_jobs";

/// The set.
const JOBS: &str = "jobs";

/// Tries at a write that needs room. One after the ended jobs are out is enough, unless others take the room: those who
/// lose twice are told that there is none, which is true.
pub(super) const TRIES: usize = 3;

impl DynamoStore {
    /// Update of `TENANT#tenant` / `ACTIVE`, if the set is smaller than the limit, or the job is in it: it is active again
    /// before anybody took it out, or this very call wrote it. The set is forgotten with its newest job.
    pub(super) fn count_active(&self, job: &Job) -> PortResult<TransactWriteItem> {
        let newest = if job.generation == 0 { ":expiry" } else { "if_not_exists(#expiresAt, :expiry)" };
        self.update_of(Update {
            operation: OPERATION,
            key: Key::active_jobs(&job.tenant),
            update: format!("ADD #jobs :job, #changes :one SET #expiresAt = {newest}"),
            condition: "attribute_not_exists(#jobs) OR size(#jobs) < :limit \
                        OR (contains(#jobs, :id) AND size(#jobs) <= :limit)"
                .into(),
            values: vec![
                (":job", AttributeValue::Ss(vec![job.job_id.to_string()])),
                (":id", AttributeValue::S(job.job_id.to_string())),
                (":one", number(1)),
                (":limit", number(self.limits.active_jobs)),
                (":expiry", number(job.times.expires_at)),
            ],
        })
    }

    /// After a refusal: takes out of the set what is not active any more, and says how many are. Consistent GetItem of
    /// the set, then consistent BatchGetItem of its jobs; UpdateItem of the set, if no id has gone in since. Harmless
    /// twice, and harmless if refused: the next refusal begins anew.
    pub(super) async fn forget_ended(&self, tenant: &str) -> PortResult<u64> {
        let Some(set) = self.get(OPERATION, Key::active_jobs(tenant)).await? else { return Ok(0) };
        let Some(listed) = set.get(JOBS).and_then(|jobs| jobs.as_ss().ok()) else { return Ok(0) };
        let active = self.active_of(listed).await?;
        let ended: Vec<_> = listed.iter().filter(|id| !active.contains(*id)).cloned().collect();
        if !ended.is_empty() {
            let update = Update {
                operation: OPERATION,
                key: Key::active_jobs(tenant),
                update: "DELETE #jobs :ended".into(),
                condition: "attribute_exists(#PK) AND #changes = :seen".into(),
                values: vec![(":ended", AttributeValue::Ss(ended)), (":seen", seen(&set)?)],
            };
            self.update(update).await?;
        }
        Ok(active.len() as u64)
    }

    async fn active_of(&self, ids: &[String]) -> PortResult<BTreeSet<String>> {
        let mut active = BTreeSet::new();
        for ids in ids.chunks(BATCH_KEYS) {
            let keys = ids.iter().filter_map(|id| JobId::parse(id)).map(Key::job).collect();
            for item in self.batch_get(OPERATION, keys).await? {
                let job = job_item::from_item(item).map_err(failed(OPERATION))?;
                if job.is_unfinished() {
                    active.insert(job.job_id.to_string());
                }
            }
        }
        Ok(active)
    }
}

fn seen(set: &Item) -> PortResult<AttributeValue> {
    let changes: u64 = read_number(set, "changes").map_err(|error: ItemError| failed(OPERATION)(error))?;
    Ok(number(changes))
}
