//! The splitter's transaction: a group, its manifest, and the split cursor, all or nothing.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::group::{Group, GroupPlan, SplitStep};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{JobStore, PortResult};
use longshore_domain::timestamp::Timestamp;

use super::item::{nested, number, text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed, group_item};
use crate::store::own_write::{CommittedGroup, committed};

const OPERATION: &str = "commit_group";

impl DynamoStore {
    /// TransactWriteItems: puts `GROUP#g` and `MANIFEST#g` if absent, and moves the cursor of `JOB` if `stage` is
    /// splitting, `groups` is `g`, `generation` the plan's, and `refiled`, `splitOffset` or
    /// `splitPlace` is where the group begins.
    /// Then reads the job.
    ///
    /// A refused transaction whose stored group is ours was committed before. A committed one still counts as refused
    /// if others have written groups since: an SDK retry under the same client request token returns success for ten
    /// minutes, so the read may be much later than the write.
    pub(super) async fn transact_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let own = CommittedGroup { manifest: plan.manifest.clone(), at: now };
        let group = group_item::to_item(job.job_id, &Group::from_plan(plan, now), job.times.expires_at);
        let advance = self.advance(job.job_id, plan, now)?;
        let manifest = group_item::manifest_item(job.job_id, &own, job.times.expires_at).map_err(failed(OPERATION))?;
        let writes = vec![self.put_if_absent(group)?, self.put_if_absent(manifest)?, advance];
        let applied = matches!(self.transact(OPERATION, writes).await?, Transacted::Applied);
        let stored =
            if applied { Some(own.clone()) } else { self.committed_group(job.job_id, own.manifest.group).await? };
        let job = self.job(job.job_id).await?;
        let ours = job.filter(|job| committed(job, plan.generation, stored.as_ref(), &own));
        Ok(ours.map_or(Transition::Refused, |job| Transition::Made(Box::new(job))))
    }

    fn advance(&self, id: JobId, plan: &GroupPlan, now: Timestamp) -> PortResult<TransactWriteItem> {
        let manifest = &plan.manifest;
        let mut set = "SET #groups = :next, #sentGroups = :group, #resends = :zero, #updatedAt = :now".to_owned();
        let mut condition =
            "attribute_exists(#PK) AND #generation = :generation AND #stage = :splitting AND #groups = :group"
                .to_owned();
        let mut values = vec![
            (":generation", number(plan.generation)),
            (":group", number(manifest.group)),
            (":next", number(manifest.group + 1)),
            (":splitting", text("splitting")),
            (":zero", number(0)),
            (":now", time(now)),
        ];
        if let Some(reading) = &plan.reading {
            set.push_str(", #source.#reading = :reading");
            values.push((":reading", nested(reading).map_err(failed(OPERATION))?));
        }
        match &plan.step {
            &SplitStep::File { from, upto } => {
                set.push_str(", #itemCount = #itemCount + :items, #splitOffset = :upto");
                condition.push_str(" AND #splitOffset = :from");
                values.push((":items", number(manifest.items())));
                values.extend([(":from", number(from)), (":upto", number(upto))]);
            }
            SplitStep::Walk { from, upto } => {
                set.push_str(", #itemCount = #itemCount + :items, #splitPlace = :upto");
                values.extend([(":items", number(manifest.items())), (":upto", text(upto.clone()))]);
                match from {
                    Some(from) => {
                        condition.push_str(" AND #splitPlace = :from");
                        values.push((":from", text(from.clone())));
                    }
                    None => condition.push_str(" AND attribute_not_exists(#splitPlace)"),
                }
            }
            &SplitStep::Replanned { from, upto } => {
                set.push_str(", #refiled = :upto");
                let place = |place: ChunkId| nested(&place).map_err(failed(OPERATION));
                // A job that was stored before retries existed has none.
                let or_none = if from == ChunkId::default() { " OR attribute_not_exists(#refiled)" } else { "" };
                condition.push_str(&format!(" AND (#refiled = :from{or_none})"));
                values.extend([(":from", place(from)?), (":upto", place(upto)?)]);
            }
        }
        self.update_of(Update { operation: OPERATION, key: Key::job(id), update: set, condition, values })
    }
}
