//! Counts a tenant's active jobs, so that the limit is exact and the end of a job costs nothing.
//!
//! A set of job ids (`TENANT#tenant` / `ACTIVE`) holds every unfinished job. The id is added by the transaction that
//! makes the job active (create, start or retry), if the set has room. A deleted job is active until it is removed,
//! because the sweeper has work with it until then; a tenant that creates and deletes in a loop reaches the limit.
//! The end of a job does not remove it from the set: that would be one more write that can fail half-way. When the
//! set is full, the jobs in it are read, and those that have ended or no longer exist are removed. A retry may reopen
//! such a job at the same moment: every id that is added changes `changes`, and a removal based on an earlier read is
//! refused.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::PortResult;
use longshore_domain::tenant::TenantId;

use super::item::{Item, ItemError, number, read_number};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed, job_item};
use crate::aws_limits::dynamodb::BATCH_GET_KEYS as BATCH_KEYS;

const OPERATION: &str = "active_jobs";

/// Attribute of the set.
const JOBS: &str = "jobs";

/// Attempts of a write that needs room. One attempt after the removal of ended jobs is enough, unless others take the
/// room. A caller that loses twice gets the answer that there is no room, which is true.
pub(super) const ATTEMPTS: usize = 3;

impl DynamoStore {
    /// Update of `TENANT#tenant` / `ACTIVE`, if the set is smaller than the limit, or already has the job: the job is
    /// active again before its id was removed, or this same call added it. The set expires after all of its jobs: one that
    /// starts later expires at most two retentions after its creation.
    pub(super) fn count_active(&self, job: &Job) -> PortResult<TransactWriteItem> {
        let kept_s = job.times.expires_at.saturating_sub(job.times.queued_at().seconds()).max(0);
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
                (":expiry", number(job.times.expires_at.saturating_add(kept_s))),
            ],
        })
    }

    /// Removes jobs from the set that are no longer active, after a refusal, and returns the number of active ones.
    /// Consistent GetItem of the set, then consistent BatchGetItem of its jobs; UpdateItem of the set, if no id was
    /// added since. Idempotent, and harmless if refused: the next refusal starts over.
    pub(super) async fn remove_ended(&self, tenant: &TenantId) -> PortResult<u64> {
        let Some(set) = self.get(OPERATION, Key::active_jobs(tenant)).await? else { return Ok(0) };
        let Some(listed) = set.get(JOBS).and_then(|jobs| jobs.as_ss().ok()) else { return Ok(0) };
        let active = self.active_of(listed).await?;
        let ended: Vec<_> = listed.iter().filter(|id| !active.contains(*id)).cloned().collect();
        if !ended.is_empty() {
            let update = Update {
                operation: OPERATION,
                key: Key::active_jobs(tenant),
                update: "DELETE #jobs :ended".into(),
                condition: "attribute_exists(#PK) AND #changes = :changes".into(),
                values: vec![(":ended", AttributeValue::Ss(ended)), (":changes", changes(&set)?)],
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

fn changes(set: &Item) -> PortResult<AttributeValue> {
    let changes: u64 = read_number(set, "changes").map_err(|error: ItemError| failed(OPERATION)(error))?;
    Ok(number(changes))
}
