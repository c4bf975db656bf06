//! A retry: reopens the job, if its tenant has room for one more active job.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::job::{Job, Reopen, SourceFile, Stage, Status};
use longshore_domain::ports::{JobStore, PortResult, QuotaExceeded, Reopened};
use longshore_domain::registration::VersionedRegistration;

use super::active_jobs::ATTEMPTS;
use super::item::{nested, number, text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::transitions::word;
use super::update::Update;
use super::{DynamoStore, failed};
use crate::store::own_write;

const OPERATION: &str = "reopen";

impl DynamoStore {
    /// TransactWriteItems: updates `JOB`, if `generation` is the one that was read, `status` is final, and `deletedAt`
    /// and `undoneBy` are absent (then nothing that was read has changed); counts the job as active and the bytes of
    /// its file, if there is room; records the use of its corrected file's upload; and replaces the registration of a
    /// registered type.
    pub(super) async fn reopen_counted(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened> {
        if job.generation != reopen.generation || !job.is_reopenable() || job.is_early(reopen.at) {
            return Ok(Reopened::Refused);
        }
        let next = job.reopened(reopen);
        for _ in 0..ATTEMPTS {
            let mut writes = vec![self.open(&next, reopen)?, self.count_active(&next)?];
            let upload = next.retry.selection.corrected().and_then(SourceFile::upload);
            writes.extend(upload.map(|upload| self.put_use(&next, upload)).transpose()?);
            writes.extend(reopen.registration.as_ref().map(|newest| self.register(&next, newest)).transpose()?);
            let (bytes, daily) = (writes.len(), self.bytes_of_job(&next, reopen.at));
            let outcome = self.transact_within(OPERATION, writes, daily.as_ref()).await?;
            if matches!(outcome, Transacted::Applied) {
                return Ok(Reopened::Made(Box::new(next)));
            }
            if outcome.refused_at(0) {
                let stored = self.job(job.job_id).await?.filter(|job| own_write::reopened(job, reopen));
                return Ok(stored.map_or(Reopened::Refused, |job| Reopened::Made(Box::new(job))));
            }
            if let Some(daily) = daily.filter(|_| outcome.refused_at(bytes)) {
                return Ok(Reopened::OverQuota(QuotaExceeded::DailyBytes(self.counted_bytes(&daily).await?)));
            }
            let active = self.remove_ended(&job.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(Reopened::OverQuota(QuotaExceeded::ActiveJobs(active)));
            }
        }
        Ok(Reopened::OverQuota(QuotaExceeded::ActiveJobs(self.limits.active_jobs)))
    }

    fn register(&self, job: &Job, newest: &VersionedRegistration) -> PortResult<TransactWriteItem> {
        let newest = serde_json::to_string(newest).map_err(failed(OPERATION))?;
        self.update_of(Update {
            operation: OPERATION,
            key: Key::definition(job.job_id),
            update: "SET #registration = :newest".into(),
            condition: "attribute_exists(#PK)".into(),
            values: vec![(":newest", text(newest))],
        })
    }

    fn open(&self, next: &Job, reopen: &Reopen) -> PortResult<TransactWriteItem> {
        let set = "SET #generation = :next, #base = :base, #status = :waiting, #stage = :queued, \
                   #corrected = :corrected, #only = :only, #onlyFailure = :onlyFailure, #spent = :spent, #issues = :issues, #sentGroups = :groups, #splitEnded = :false, #resends = :zero, \
                   #updatedAt = :at, #reopenedAt = :at, #deadlineAt = :deadline, #unfinished = :one";
        self.update_of(Update {
            operation: OPERATION,
            key: Key::job(next.job_id),
            update: format!(
                "{set} REMOVE #stop, #totals, #report, #checkpoint, #error, #startedAt, #finishedAt, #preparation, #cost"
            ),
            condition: "attribute_exists(#PK) AND #generation = :ended AND NOT #status IN (:waiting, :running) \
                        AND attribute_not_exists(#deletedAt) AND attribute_not_exists(#undoneBy)"
                .into(),
            values: vec![
                (":ended", number(reopen.generation)),
                (":next", number(next.generation)),
                (":base", nested(&next.retry.carried_over).map_err(failed(OPERATION))?),
                (":corrected", nested(&next.retry.selection.corrected()).map_err(failed(OPERATION))?),
                (":only", nested(&next.retry.selection.chunks()).map_err(failed(OPERATION))?),
                (":onlyFailure", nested(&next.retry.selection.failure()).map_err(failed(OPERATION))?),
                (":spent", nested(&next.retry.used_corrections).map_err(failed(OPERATION))?),
                (":issues", nested(&next.issues).map_err(failed(OPERATION))?),
                (":waiting", word(Status::Waiting, OPERATION)?),
                (":running", word(Status::Running, OPERATION)?),
                (":queued", word(Stage::Queued, OPERATION)?),
                (":groups", number(next.split.sent_groups)),
                (":false", AttributeValue::Bool(false)),
                (":zero", number(0)),
                (":deadline", time(next.times.deadline_at)),
                (":one", text("1")),
                (":at", time(reopen.at)),
            ],
        })
    }
}
