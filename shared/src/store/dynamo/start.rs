//! A job that does for real what another one has checked: stored, and noted there, all or nothing.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, JobStore, PortResult, Started};

use super::DynamoStore;
use super::active_jobs::TRIES;
use super::item::{text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::update::Update;
use crate::store::replay;

const OPERATION: &str = "start_job";

impl DynamoStore {
    /// TransactWriteItems: puts what a new job puts, if its tenant and its day have room, and notes it as `startedAs` on the job that it
    /// is started from, if that one has completed, only checks, is not deleted, and has none yet. After a refusal, reads
    /// that one: the refusal need not name every condition that did not hold.
    pub(super) async fn start(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        let Some(from) = job.validation.started_from else { return Ok(Started::Refused) };
        for _ in 0..TRIES {
            let mut writes = self.puts_of(job, definition)?;
            let note = writes.len();
            writes.push(self.record_start(from, job)?);
            let (bytes, daily) = (writes.len(), self.bytes_of_job(job, job.times.created_at));
            let outcome = self.transact_within(OPERATION, writes, daily.as_ref()).await?;
            if matches!(outcome, Transacted::Took) {
                return Ok(Started::New);
            }
            match replay::started(self.job(from).await?.as_ref(), job.job_id) {
                Started::Refused if !outcome.refused_at(note) => {}
                started => return Ok(started),
            }
            if let Some(daily) = daily.filter(|_| outcome.refused_at(bytes)) {
                return Ok(Started::OverDailyBytes(self.counted_bytes(&daily).await?));
            }
            let active = self.forget_ended(&job.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(Started::OverLimit(active));
            }
        }
        Ok(Started::OverLimit(self.limits.active_jobs))
    }

    fn record_start(&self, from: JobId, job: &Job) -> PortResult<TransactWriteItem> {
        self.update_of(Update {
            operation: OPERATION,
            key: Key::job(from),
            update: "SET #startedAs = :started, #updatedAt = :now".into(),
            condition: "attribute_exists(#PK) AND #status = :completed AND #checksOnly = :true \
                        AND attribute_not_exists(#startedAs) AND attribute_not_exists(#deletedAt)"
                .into(),
            values: vec![
                (":started", text(job.job_id.to_string())),
                (":completed", text("completed")),
                (":true", AttributeValue::Bool(true)),
                (":now", time(job.times.created_at)),
            ],
        })
    }
}
