//! The creation of an undo: stores the new job and marks its import, all or nothing.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::job::{Job, MarkUndone, Status};
use longshore_domain::ports::{Definition, JobStore, PortResult, QuotaExceeded, UndoCreated};

use super::DynamoStore;
use super::active_jobs::ATTEMPTS;
use super::item::{number, text, time};
use super::keys::Key;
use super::transaction::Transacted;
use super::transitions::word;
use super::update::Update;
use crate::store::own_write;

const OPERATION: &str = "create_undo";

impl DynamoStore {
    /// TransactWriteItems: puts the items of a new job, if its tenant and its day have room, and records it as
    /// `undoneBy` on its import, if `generation` and `undoneBy` of the import are the ones that were read, `status` is
    /// final and `deletedAt` is absent. After a refusal, reads the import: the refusal need not name every condition that
    /// did not hold.
    pub(super) async fn undo(&self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> PortResult<UndoCreated> {
        for _ in 0..ATTEMPTS {
            let mut writes = self.puts_of(undo, definition)?;
            let record = writes.len();
            writes.push(self.mark(mark)?);
            let (bytes, daily) = (writes.len(), self.bytes_of_job(undo, undo.times.created_at));
            let outcome = self.transact_within(OPERATION, writes, daily.as_ref()).await?;
            if matches!(outcome, Transacted::Applied) {
                return Ok(UndoCreated::New);
            }
            match own_write::undone(self.job(mark.import).await?.as_ref(), undo.job_id) {
                UndoCreated::Refused if !outcome.refused_at(record) => {}
                created => return Ok(created),
            }
            if let Some(daily) = daily.filter(|_| outcome.refused_at(bytes)) {
                return Ok(UndoCreated::OverQuota(QuotaExceeded::DailyBytes(self.counted_bytes(&daily).await?)));
            }
            let active = self.remove_ended(&undo.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(UndoCreated::OverQuota(QuotaExceeded::ActiveJobs(active)));
            }
        }
        Ok(UndoCreated::OverQuota(QuotaExceeded::ActiveJobs(self.limits.active_jobs)))
    }

    fn mark(&self, mark: &MarkUndone) -> PortResult<TransactWriteItem> {
        let before = match mark.before {
            Some(_) => "#undoneBy = :before",
            None => "attribute_not_exists(#undoneBy)",
        };
        let mut values = vec![
            (":by", text(mark.by.to_string())),
            (":generation", number(mark.generation)),
            (":waiting", word(Status::Waiting, OPERATION)?),
            (":running", word(Status::Running, OPERATION)?),
            (":now", time(mark.at)),
        ];
        values.extend(mark.before.map(|before| (":before", text(before.to_string()))));
        self.update_of(Update {
            operation: OPERATION,
            key: Key::job(mark.import),
            update: "SET #undoneBy = :by, #updatedAt = :now".into(),
            condition: format!(
                "attribute_exists(#PK) AND #generation = :generation AND NOT #status IN (:waiting, :running) \
                 AND attribute_not_exists(#deletedAt) AND {before}"
            ),
            values,
        })
    }
}
