//! The splitter's transaction: a group, its manifest, and the split cursor, all or nothing.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::group::{Group, GroupPlan, Source};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{JobStore, PortResult};
use longshore_domain::time_stamp::Timestamp;

use super::item::{nested, number, text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed, group_item};
use crate::store::replay::{CommittedGroup, committed};

const OPERATION: &str = "commit_group";

impl DynamoStore {
    /// TransactWriteItems: puts `GROUP#g` and `MANIFEST#g` if absent, and moves the cursor of `JOB` if `stage` is
    /// splitting, `groups` is `g` and `generation` the plan's. Then reads the job.
    ///
    /// A refused transaction whose group is stored as ours has taken before.
    pub(super) async fn transact_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let own = CommittedGroup { manifest: plan.manifest.clone(), at: now };
        let group = group_item::to_item(job.job_id, &Group::planned(plan, now), job.expires_at);
        let advance = self.advance(job.job_id, plan, now)?;
        let manifest = group_item::manifest_item(job.job_id, &own, job.expires_at).map_err(failed(OPERATION))?;
        let writes = vec![self.put_if_absent(group)?, self.put_if_absent(manifest)?, advance];
        let took = matches!(self.transact(OPERATION, writes).await?, Transacted::Took);
        self.what_it_met(job.job_id, took, &own).await
    }

    /// GetItem of the job and, after a refusal, of the manifest.
    async fn what_it_met(&self, id: JobId, took: bool, own: &CommittedGroup) -> PortResult<Transition> {
        let Some(job) = self.job(id).await? else {
            return Ok(Transition::Refused);
        };
        if !took {
            let stored = self.committed_group(id, own.manifest.group).await?;
            if !committed(&job, stored.as_ref(), own) {
                return Ok(Transition::Refused);
            }
        }
        Ok(Transition::Made(Box::new(job)))
    }

    fn advance(&self, id: JobId, plan: &GroupPlan, now: Timestamp) -> PortResult<TransactWriteItem> {
        let manifest = &plan.manifest;
        let mut set = "SET #groups = :next, #sentGroups = :group, #updatedAt = :now".to_owned();
        let condition =
            "attribute_exists(#PK) AND #generation = :generation AND #stage = :splitting AND #groups = :group";
        let mut values = vec![
            (":generation", number(plan.generation)),
            (":group", number(manifest.group)),
            (":next", number(manifest.group + 1)),
            (":splitting", text("splitting")),
            (":now", time(now)),
        ];
        match plan.source {
            Source::File { upto } => {
                set.push_str(", #itemCount = #itemCount + :items, #splitOffset = :offset");
                values.extend([(":items", number(manifest.items())), (":offset", number(upto))]);
            }
            Source::Refiled { upto } => {
                set.push_str(", #refiled = :refiled");
                values.push((":refiled", nested(&upto).map_err(failed(OPERATION))?));
            }
        }
        self.update_of(Update {
            operation: OPERATION,
            key: Key::job(id),
            update: set,
            condition: condition.into(),
            values,
        })
    }
}
