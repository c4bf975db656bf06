//! The splitter's transaction: a group, its manifest, and the split cursor, all or nothing.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use longshore_domain::group::{Group, GroupPlan, Source};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{JobStore, PortResult};
use longshore_domain::time_stamp::Timestamp;

use super::expression::names;
use super::item::{Item, nested, number, text, time};
use super::keys::{Key, PK};
use super::{DynamoStore, failed, group_item};
use crate::store::replay::{CommittedGroup, committed};

const OPERATION: &str = "commit_group";

impl DynamoStore {
    /// TransactWriteItems: puts `GROUP#g` and `MANIFEST#g` if absent, and moves the cursor of `JOB` if `stage` is
    /// splitting, `groups` is `g` and `generation` the plan's. Then reads the job.
    ///
    /// The SDK adds a client request token, so that its retries count once for ten minutes. What they do not cover
    /// is found out by reading: a cancelled transaction whose group is stored as ours has taken before.
    pub(super) async fn transact_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let own = CommittedGroup { manifest: plan.manifest.clone(), at: now };
        let group = group_item::to_item(job.job_id, &Group::planned(plan, now), job.expires_at);
        let advance = self.advance(job.job_id, plan, now)?;
        let manifest = group_item::manifest_item(job.job_id, &own, job.expires_at).map_err(failed(OPERATION))?;
        let answer = self
            .client
            .transact_write_items()
            .transact_items(self.put_if_absent(group)?)
            .transact_items(self.put_if_absent(manifest)?)
            .transact_items(advance)
            .send()
            .await;
        let took = match answer {
            Ok(_) => true,
            Err(error) if is_refusal(&error) => false,
            Err(error) => return Err(failed(OPERATION)(error)),
        };
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
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(Key::job(id).attributes()))
            .update_expression(&set)
            .condition_expression(condition)
            .set_expression_attribute_names(Some(names(&[&set, condition])))
            .set_expression_attribute_values(Some(values.into_iter().map(|(n, v)| (n.to_owned(), v)).collect()))
            .build()
            .map_err(failed(OPERATION))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// A put that never overwrites.
    pub(super) fn put_if_absent(&self, item: Item) -> PortResult<TransactWriteItem> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#PK)")
            .expression_attribute_names("#PK", PK)
            .build()
            .map_err(failed("put"))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }
}

/// A condition did not hold. Other cancellations have been retried by the SDK, and are errors now.
pub(super) fn is_refusal(error: &SdkError<TransactWriteItemsError>) -> bool {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
            canceled.cancellation_reasons().iter().any(|reason| reason.code() == Some("ConditionalCheckFailed"))
        }
        _ => false,
    }
}
