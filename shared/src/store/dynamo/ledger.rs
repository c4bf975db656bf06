//! The ledger of one job's groups: the conditional commit, and consistent reads.

use aws_sdk_dynamodb::types::KeysAndAttributes;
use longshore_domain::group::{Commit, CommitOutcome, Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::Transition;
use longshore_domain::ports::{ChunkState, JobProgress, Ledger, PortResult, ResendCount};
use longshore_domain::timestamp::Timestamp;

use super::group_item::units;
use super::item::{Item, ItemError, number, read_text, text, time};
use super::keys::{JOB, Key, SK, job_pk};
use super::retry::unanswered;
use super::update::{Update, Updated};
use super::{DynamoStore, failed, group_item, job_item};
use crate::back_off::BackOff;
use crate::metering;
use crate::store::own_write::CommittedGroup;

impl Ledger for DynamoStore {
    /// One consistent BatchGetItem of `JOB` and `GROUP#g`.
    async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>> {
        let mut found = self.batch_get("chunk_state", vec![Key::job(id), Key::group(id, group)]).await?;
        let mut take = |sk: &str| {
            let at = found.iter().position(|item| read_text(item, SK).is_ok_and(|found| found == sk));
            at.map(|at| found.swap_remove(at))
        };
        let (Some(job), Some(group)) = (take(JOB), take(&Key::group(id, group).sk)) else {
            return Ok(None);
        };
        let job = job_item::from_item(job).map_err(failed("chunk_state"))?;
        Ok(Some(ChunkState { job, group: group_item::from_item(&group).map_err(failed("chunk_state"))? }))
    }

    /// One UpdateItem of `GROUP#g`, if it is open and the chunk's cursor is still the old one. The billed units are
    /// added with the counts. A refusal returns the current group: its cursor distinguishes a lost response from a lost
    /// race.
    async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome> {
        let read = |item: &Item| group_item::from_item(item).map_err(failed("commit"));
        match self.update(commit_update(id, group, commit)).await? {
            Updated::Applied(item) => Ok(CommitOutcome::Committed(Box::new(read(&item)?))),
            Updated::Absent => Ok(CommitOutcome::Absent),
            Updated::Refused(item) => {
                let group = read(&item)?;
                Ok(CommitOutcome::from_refused_write(group.cursors.get(&commit.chunk), commit, &group))
            }
        }
    }

    /// UpdateItem of `JOB`, if `status` is not final: `ADD` to a set, idempotent.
    async fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<Transition> {
        let update = Update {
            operation: "group_done",
            key: Key::job(id),
            update: "ADD #doneGroups :group SET #updatedAt = :now".into(),
            condition: "attribute_exists(#PK) AND #status IN (:waiting, :running)".into(),
            values: vec![
                (":waiting", text("waiting")),
                (":running", text("running")),
                (":group", aws_sdk_dynamodb::types::AttributeValue::Ns(vec![group.to_string()])),
                (":now", time(now)),
            ],
        };
        self.transition(update, |_| false).await
    }

    /// One consistent Query, paged, over `GROUP#` to `JOB`: groups first, so that no count is newer than the job's.
    async fn progress(&self, id: JobId) -> PortResult<Option<JobProgress>> {
        self.progress_from(id, 0).await
    }

    /// The same Query from `GROUP#first` on. The groups of one generation take half a megabyte at most, which is one
    /// page and 125 read units: a page holds 1 MB
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html>).
    async fn progress_from(&self, id: JobId, first: u32) -> PortResult<Option<JobProgress>> {
        let (mut groups, mut job, mut from) = (Vec::new(), None, None);
        loop {
            let page = self.progress_page(id, first, from).await?;
            let items = page.items.unwrap_or_default();
            // A group has up to 1 KB.
            metering::add_queried(items.len() << 10);
            for item in items {
                if read_text(&item, SK).is_ok_and(|sk| sk == JOB) {
                    job = Some(job_item::from_item(item).map_err(failed("progress"))?);
                } else {
                    groups.push(group_item::from_item(&item).map_err(failed("progress"))?);
                }
            }
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(job.map(|job| JobProgress { groups, job }));
            }
        }
    }

    /// Consistent GetItem of `MANIFEST#g`.
    async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>> {
        Ok(self.committed_group(id, group).await?.map(|committed| committed.manifest))
    }

    /// UpdateItem of `GROUP#g`: removes `open`, idempotent.
    async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>> {
        let update = Update {
            operation: "close",
            key: Key::group(id, group),
            update: "REMOVE #open".into(),
            condition: "attribute_exists(#PK)".into(),
            values: vec![],
        };
        match self.update(update).await? {
            Updated::Applied(item) => Ok(Some(group_item::from_item(&item).map_err(failed("close"))?)),
            Updated::Refused(_) | Updated::Absent => Ok(None),
        }
    }

    /// UpdateItem of `GROUP#g`, if it is open and was last updated before.
    async fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()> {
        let update = Update {
            operation: "called",
            key: Key::group(id, group),
            update: "SET #progressedAt = :now, #sentAt = :now".into(),
            condition: "attribute_exists(#PK) AND attribute_exists(#open) AND #progressedAt < :now".into(),
            values: vec![(":now", time(now))],
        };
        self.update(update).await.map(|_| ())
    }

    /// UpdateItem of `GROUP#g`, if it is open and was sent again. Not on condition that `resends` is as it was read: a
    /// sweeper counts a push after its send, so its message can arrive in between.
    async fn reset_group_resends(&self, id: JobId, group: u32) -> PortResult<()> {
        let update = Update {
            operation: "reset_group_resends",
            key: Key::group(id, group),
            update: "SET #resends = :zero".into(),
            condition: "attribute_exists(#PK) AND attribute_exists(#open) AND #resends > :zero".into(),
            values: vec![(":zero", number(0))],
        };
        self.update(update).await.map(|_| ())
    }

    /// UpdateItem of `GROUP#g`, if `resends` is as it was read. After a lost response, the repeated write is
    /// overtaken by its own first try.
    async fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        expected_resends: u32,
        now: Timestamp,
    ) -> PortResult<ResendCount> {
        let update = Update {
            operation: "count_group_resend",
            key: Key::group(id, group),
            update: "SET #resends = :next, #sentAt = :now".into(),
            condition: "attribute_exists(#PK) AND #resends = :expected".into(),
            values: vec![
                (":expected", number(expected_resends)),
                (":next", number(expected_resends + 1)),
                (":now", time(now)),
            ],
        };
        Ok(match self.update(update).await? {
            Updated::Applied(_) => ResendCount::Counted,
            Updated::Refused(_) | Updated::Absent => ResendCount::Overtaken,
        })
    }
}

impl DynamoStore {
    /// Consistent GetItem of `MANIFEST#g`.
    pub(super) async fn committed_group(&self, id: JobId, group: u32) -> PortResult<Option<CommittedGroup>> {
        let item = self.get("manifest", Key::manifest(id, group)).await?;
        item.map(|item| group_item::manifest_from_item(group, &item)).transpose().map_err(failed("manifest"))
    }

    async fn progress_page(
        &self,
        id: JobId,
        first: u32,
        from: Option<Item>,
    ) -> PortResult<aws_sdk_dynamodb::operation::query::QueryOutput> {
        let query = self.client.query().table_name(&self.table).consistent_read(true);
        let query = query
            .key_condition_expression("PK = :job AND SK BETWEEN :groups AND :end")
            .expression_attribute_values(":job", text(job_pk(id)))
            .expression_attribute_values(":groups", text(Key::group(id, first).sk))
            .expression_attribute_values(":end", text(JOB))
            .set_exclusive_start_key(from);
        query.send().await.map_err(unanswered("progress"))
    }

    /// Consistent BatchGetItem of up to 100 keys, in no order. Repeats the call, after a wait, for keys that DynamoDB
    /// left out; the SDK retries a call that is refused as a whole.
    pub(super) async fn batch_get(&self, operation: &'static str, keys: Vec<Key>) -> PortResult<Vec<Item>> {
        let mut found = Vec::new();
        let mut asked: Vec<_> = keys.into_iter().map(Key::attributes).collect();
        let mut back_off = BackOff::new(self.sleep);
        loop {
            let keys = KeysAndAttributes::builder().set_keys(Some(asked)).consistent_read(true);
            let keys = keys.build().map_err(failed(operation))?;
            let answer = self.client.batch_get_item().request_items(&self.table, keys).send().await;
            let answer = answer.map_err(unanswered(operation))?;
            found.extend(answer.responses.into_iter().flatten().flat_map(|(_, items)| items));
            asked = answer.unprocessed_keys.into_iter().flatten().flat_map(|(_, left)| left.keys).collect();
            if asked.is_empty() {
                return Ok(found);
            }
            if !back_off.wait().await {
                return Err(failed(operation)(ItemError::Unread));
            }
        }
    }
}

/// Addition of the billed units of [`UNITS`](group_item::UNITS).
const UNITS_ADDED: &str = ", #ms :ms, #dl :dl, #wu :wu, #ru :ru, #pu :pu";

fn commit_update(id: JobId, group: u32, commit: &Commit) -> Update {
    let cursor = format!("#cur.#{}", commit.chunk);
    let set = format!("SET {cursor} = :to, #progressedAt = :at, #resends = :zero");
    let mut update = Update {
        operation: "commit",
        key: Key::group(id, group),
        update: format!("ADD #succeeded :succeeded, #failed :failed, #skipped :skipped{UNITS_ADDED} {set}"),
        condition: format!("attribute_exists(#PK) AND attribute_exists(#open) AND attribute_not_exists({cursor})"),
        values: vec![
            (":succeeded", number(commit.counts.succeeded)),
            (":failed", number(commit.counts.failed)),
            (":skipped", number(commit.counts.skipped)),
            (":to", text(commit.to.to_string())),
            (":at", time(commit.at)),
            (":zero", number(0)),
        ],
    };
    update.values.extend([":ms", ":dl", ":wu", ":ru", ":pu"].into_iter().zip(units(&commit.usage).map(number)));
    if let Some(from) = &commit.from {
        update.condition = format!("attribute_exists(#PK) AND attribute_exists(#open) AND {cursor} = :from");
        update.values.push((":from", text(from.to_string())));
    }
    update
}
