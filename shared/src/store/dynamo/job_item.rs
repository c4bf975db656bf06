//! A job as an item: flat, with the names of the job document.
//!
//! Six attributes do not come from serde: `due` and `dueAt` put a scheduled job on the index `due`; `doneGroups` is a number set and `pendingEvents` a string set, so that `ADD` is
//! idempotent; `unfinished` puts the job on the sparse index; and `createdAt`, the index's range key, is a sortable string
//! of fixed length.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::JobPosition;
use longshore_domain::timestamp::Timestamp;

use super::due::{DUE, DUE_AT, DueKind};
use super::events::{all_pending, read_pending};
use super::item::{Item, ItemError, number, read_text, text, time};
use super::keys::{Key, PK};

/// Set while the sweeper has work with the job ([`Job::needs_sweep`]); the value is the partition key of the index of the same
/// name.
pub(super) const UNFINISHED: &str = "unfinished";

/// The range key of both indexes: milliseconds with leading zeros.
pub(super) const CREATED_AT: &str = "createdAt";

const DONE_GROUPS: &str = "doneGroups";

/// The events that are not in the tenant's list yet, each as JSON.
pub(super) const PENDING_EVENTS: &str = "pendingEvents";

/// Set once the job is deleted.
pub(super) const DELETED_AT: &str = "deletedAt";

/// Formats a creation time in the sort order of the indexes.
pub(super) fn created_at(time: Timestamp) -> String {
    format!("{:015}", time.0)
}

/// Returns the item of a job.
pub(super) fn to_item(job: &Job) -> Result<Item, ItemError> {
    let mut item: Item = serde_dynamo::to_item(job)?;
    item.retain(|_, value| !value.is_null());
    item.extend(Key::job(job.job_id).attributes());
    item.insert(CREATED_AT.into(), text(created_at(job.times.created_at)));
    if !job.split.done_groups.is_empty() {
        let groups = job.split.done_groups.iter().map(u32::to_string).collect();
        item.insert(DONE_GROUPS.into(), AttributeValue::Ns(groups));
    }
    if let Some(events) = all_pending(job)? {
        item.insert(PENDING_EVENTS.into(), events);
    }
    if job.is_scheduled {
        // The first digits of an id are a time.
        let partition = DueKind::Jobs.partition(job.job_id.to_string().chars().next_back());
        let at = time(job.times.start_at.unwrap_or(job.times.created_at));
        item.extend([(DUE.to_owned(), partition), (DUE_AT.to_owned(), at)]);
    }
    if job.needs_sweep() {
        item.insert(UNFINISHED.into(), text("1"));
    }
    Ok(item)
}

/// Returns the job of an item.
pub(super) fn from_item(mut item: Item) -> Result<Job, ItemError> {
    let created_at: i64 = read_text(&item, CREATED_AT)?.parse().map_err(|_| ItemError::Attribute(CREATED_AT))?;
    item.insert(CREATED_AT.into(), number(created_at));
    let (groups, pending) = (item.remove(DONE_GROUPS), item.remove(PENDING_EVENTS));
    let mut job: Job = serde_dynamo::from_item(item)?;
    if let Some(AttributeValue::Ns(groups)) = groups {
        let groups: Result<_, _> = groups.iter().map(|group| group.parse()).collect();
        job.split.done_groups = groups.map_err(|_| ItemError::Attribute(DONE_GROUPS))?;
    }
    if let Some(AttributeValue::Ss(texts)) = pending {
        texts.into_iter().for_each(|text| read_pending(&mut job, text));
    }
    Ok(job)
}

/// Returns the job id of an item or of an index entry.
pub(super) fn parse_job_id(item: &Item) -> Result<JobId, ItemError> {
    let id = read_text(item, PK)?.strip_prefix("JOB#").and_then(JobId::parse);
    id.ok_or(ItemError::Attribute(PK))
}

/// Returns the position of an index entry.
pub(super) fn position_of(entry: &Item) -> Result<JobPosition, ItemError> {
    let created_at = read_text(entry, CREATED_AT)?.parse().map_err(|_| ItemError::Attribute(CREATED_AT))?;
    Ok(JobPosition { created_at: Timestamp(created_at), job_id: parse_job_id(entry)? })
}

#[cfg(test)]
mod tests {
    use longshore_domain::tenant::TenantId;

    use super::*;

    #[test]
    fn a_job_without_metadata_and_with_its_own_trace_has_the_item_of_earlier_versions() {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        let item = to_item(&job).unwrap();
        assert!(!item.contains_key("metadata") && !item.contains_key("traceId"));
        assert_eq!(from_item(item).unwrap(), job);
    }
}
