//! Transactions in which a job's update goes together with puts: a job that is started from another, and a retry that
//! uses one more upload. All or nothing; what a refusal met is found out by reading.

use aws_sdk_dynamodb::types::{TransactWriteItem, Update as TransactUpdate};
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{Definition, JobStore, PortResult, Started};

use super::commit_group::is_refusal;
use super::expression::names;
use super::item::{Item, text, time};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed};
use crate::store::replay;

impl DynamoStore {
    /// TransactWriteItems: puts what a new job puts, and notes it as `startedAs` on the job that it is started from, if
    /// that one has completed, only checks, is not deleted, and has none yet. After a refusal, reads that one.
    pub(super) async fn start(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        let Some(from) = job.started_from else { return Ok(Started::Refused) };
        let note = Update {
            operation: "start_job",
            key: Key::job(from),
            update: "SET #startedAs = :started, #updatedAt = :now".into(),
            condition: "attribute_exists(#PK) AND #status = :completed AND #checksOnly = :true \
                        AND attribute_not_exists(#startedAs) AND attribute_not_exists(#deletedAt)"
                .into(),
            values: vec![
                (":started", text(job.job_id.to_string())),
                (":completed", text("completed")),
                (":true", aws_sdk_dynamodb::types::AttributeValue::Bool(true)),
                (":now", time(job.created_at)),
            ],
        };
        let mut writes = self.puts_of(job, definition)?;
        writes.push(self.update_in_transaction(note)?);
        if self.transact("start_job", writes).await? {
            return Ok(Started::New);
        }
        Ok(replay::started(self.job(from).await?.as_ref(), job.job_id))
    }

    /// TransactWriteItems: this update of a job that is opened again as `next`, and one put. Then reads the job.
    pub(super) async fn reopen_with(&self, next: &Job, wish: Update, put: TransactWriteItem) -> PortResult<Transition> {
        let writes = vec![self.update_in_transaction(wish)?, put];
        let took = self.transact("reopen", writes).await?;
        let Some(job) = self.job(next.job_id).await? else { return Ok(Transition::Refused) };
        // The same question as replay::reopened asks, of the job as this very call would have left it.
        let ours =
            (job.generation, job.updated_at, &job.corrected) == (next.generation, next.updated_at, &next.corrected);
        Ok(if took || ours { Transition::Made(Box::new(job)) } else { Transition::Refused })
    }

    /// True if it took, false if a condition did not hold.
    async fn transact(&self, operation: &'static str, writes: Vec<TransactWriteItem>) -> PortResult<bool> {
        match self.client.transact_write_items().set_transact_items(Some(writes)).send().await {
            Ok(_) => Ok(true),
            Err(error) if is_refusal(&error) => Ok(false),
            Err(error) => Err(failed(operation)(error)),
        }
    }

    fn update_in_transaction(&self, wish: Update) -> PortResult<TransactWriteItem> {
        let values: Item = wish.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let update = TransactUpdate::builder()
            .table_name(&self.table)
            .set_key(Some(wish.key.attributes()))
            .set_expression_attribute_names(Some(names(&[&wish.update, &wish.condition])))
            .set_expression_attribute_values(Some(values))
            .update_expression(wish.update)
            .condition_expression(wish.condition)
            .build()
            .map_err(failed(wish.operation))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}
