//! Starts a job from a validated one: stores the new job and records it on the validated one, all or nothing.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, JobStore, PortResult, QuotaExceeded, Started};

use super::DynamoStore;
use super::active_jobs::ATTEMPTS;
use super::item::{text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::update::Update;
use crate::store::own_write;

const OPERATION: &str = "start_job";

impl DynamoStore {
    /// TransactWriteItems: puts the items of a new job, if its tenant and its day have room, and records it as
    /// `startedAs` on the job that it is started from, if that one has completed, only validates, is not deleted, and
    /// has none yet. After a refusal, reads that job: the refusal need not name every condition that did not hold.
    pub(super) async fn start(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        let Some(from) = job.validation.started_from else { return Ok(Started::Refused) };
        for _ in 0..ATTEMPTS {
            let mut writes = self.puts_of(job, definition)?;
            let record = writes.len();
            writes.push(self.record_start(from, job)?);
            let (bytes, daily) = (writes.len(), self.bytes_of_job(job, job.times.created_at));
            let outcome = self.transact_within(OPERATION, writes, daily.as_ref()).await?;
            if matches!(outcome, Transacted::Applied) {
                return Ok(Started::New);
            }
            match own_write::started(self.job(from).await?.as_ref(), job.job_id) {
                Started::Refused if !outcome.refused_at(record) => {}
                started => return Ok(started),
            }
            if let Some(daily) = daily.filter(|_| outcome.refused_at(bytes)) {
                return Ok(Started::OverQuota(QuotaExceeded::DailyBytes(self.counted_bytes(&daily).await?)));
            }
            let active = self.remove_ended(&job.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(Started::OverQuota(QuotaExceeded::ActiveJobs(active)));
            }
        }
        Ok(Started::OverQuota(QuotaExceeded::ActiveJobs(self.limits.active_jobs)))
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
