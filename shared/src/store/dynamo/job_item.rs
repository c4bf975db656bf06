//! A job as an item: flat, with the names of the job document.
//!
//! Seven attributes do not come from serde: `createdOn` puts the job on the index `day`; `due` and `dueAt` put a scheduled job on the index `due`; `doneGroups` is a number set and `pendingEvents` a string set, so that `ADD` is
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

/// The range key of the indexes by age: milliseconds with leading zeros.
pub(super) const CREATED_AT: &str = "createdAt";

/// The date at which the job was accepted, in UTC: partition key of the index `day`. It never changes. Jobs of earlier
/// versions lack it.
pub(super) const CREATED_ON: &str = "createdOn";

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
    item.insert(CREATED_ON.into(), text(job.times.created_at.date()));
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
    use longshore_domain::cost::{Charge, Cost, CostEstimate, NanoDollars};
    use longshore_domain::ids::FileGuid;
    use longshore_domain::job::{Finish, SourceFile, Status};
    use longshore_domain::outcome::Counts;
    use longshore_domain::ports::FileInfo;
    use longshore_domain::records::Format;
    use longshore_domain::tenant::TenantId;

    use super::super::item::size;
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_123);

    /// An import of a million rows in 18 groups, of a tenant that has the name of a Cognito user.
    fn usual_import() -> Job {
        let tenant = TenantId::from_static("5b3d3f5e-7d0c-4e34-9c6c-0000000000aa");
        let key = format!("uploads/{tenant}/{}", FileGuid::generate());
        let info = FileInfo { size_bytes: 104_857_600, etag: "\"d41d8cd98f00b204e9800998ecf8427e\"".into() };
        let file = SourceFile::new(key, info, Format::Csv, "customers-2026-11.csv");
        let part = NanoDollars(626_212_345);
        let cost = Cost { compute: part, requests: part, database: part, storage: part, queue: part };
        let estimate =
            CostEstimate { cost, items: 524_288, assumed_item_bytes: Some(200), assumed_write_micros: Some(1_000) };
        let mut job = Job::waiting(JobId::generate(), tenant, "import", NOW);
        (job.source, job.cost_estimate) = (Some(file.into()), Some(estimate));
        (job.times.timeout_s, job.times.deadline_at, job.times.expires_at) = (86_400, NOW, NOW.seconds());
        job
    }

    /// The units that `longshore_domain::cost` counts for a write of a job.
    #[test]
    fn a_usual_job_takes_one_write_unit_until_it_ends_and_then_two() {
        let mut job = usual_import();
        let bytes = |job: &Job| size(&to_item(job).unwrap());
        assert!(bytes(&job) <= 1_024, "waiting: {}", bytes(&job));
        job.begin(0, NOW);
        assert!(!job.pending_events.is_empty() && bytes(&job) <= 1_024, "begun: {}", bytes(&job));
        job.pending_events.clear();
        (job.split.groups, job.split.sent_groups, job.split.ended) = (18, 18, true);
        (job.split.item_count, job.split.offset) = (1_000_000, 104_857_600);
        job.split.done_groups = (0..18).collect();
        assert!(bytes(&job) <= 1_024, "running: {}", bytes(&job));
        let cost = job.cost_estimate.unwrap().cost;
        let charge = Some(Charge { tenant: job.tenant.clone(), job_type: "import".into(), cost });
        let totals = Counts { succeeded: 1_000_000, ..Counts::default() };
        let report = Some("abcdefgh".into());
        job.finish(&Finish { report, charge, ..Finish::new(Status::Completed, totals, NOW) });
        assert!(job.completion.cost.is_some() && (1_025..=2_048).contains(&bytes(&job)), "ended: {}", bytes(&job));
    }

    #[test]
    fn a_job_without_metadata_and_with_its_own_trace_has_the_item_of_earlier_versions() {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        let item = to_item(&job).unwrap();
        assert!(!item.contains_key("metadata") && !item.contains_key("traceId"));
        assert_eq!(from_item(item).unwrap(), job);
    }
}
