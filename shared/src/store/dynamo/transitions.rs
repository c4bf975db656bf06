//! The transitions of a job: each is one UpdateItem of `JOB#id` / `JOB`, or one transaction with it.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::event::PendingEvent;
use longshore_domain::group::GroupPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{
    Finish, Job, JobError, MoveCheckpoint, Preparation, Reopen, SourceFile, Stage, Status, Stop, Transition,
};
use longshore_domain::ports::{Detected, JobTransitions, PortResult, Reopened};
use longshore_domain::records::Reading;
use longshore_domain::timestamp::Timestamp;

use super::events::pending;
use super::item::{ItemError, nested, number, optional_nested, text, time};
use super::keys::Key;
use super::stops::{UNSCHEDULE, delete_update, finish_update, if_unchanged, stop_update};
use super::update::{Update, Updated};
use super::{DynamoStore, failed, job_item};
use crate::store::own_write;

impl JobTransitions for DynamoStore {
    /// Condition: `isScheduled` is true, `status` is waiting, `stage` queued, and `deletedAt` absent. The job moves
    /// from the index `due` to `unfinished`.
    async fn enqueue(&self, job: &Job, now: Timestamp) -> PortResult<Transition> {
        let waiting = "#status = :waiting AND #stage = :queued AND attribute_not_exists(#deletedAt)";
        let update = Update {
            operation: "enqueue",
            key: Key::job(job.job_id),
            update: format!("SET #unfinished = :one, #deadlineAt = :deadline, #updatedAt = :now {UNSCHEDULE}"),
            condition: format!("attribute_exists(#PK) AND #isScheduled = :true AND {waiting}"),
            values: vec![
                (":one", text("1")),
                (":deadline", time(job.times.deadline_from(now))),
                (":now", time(now)),
                (":true", AttributeValue::Bool(true)),
                (":waiting", word(Status::Waiting, "enqueue")?),
                (":queued", word(Stage::Queued, "enqueue")?),
            ],
        };
        self.transition(update, |job| own_write::enqueued(job, now)).await
    }

    /// Condition: `generation` is the splitter's, `status` is waiting, `stage` queued, and the job not scheduled.
    async fn begin(&self, id: JobId, generation: u32, now: Timestamp) -> PortResult<Transition> {
        let update = Update {
            operation: "begin",
            key: Key::job(id),
            update: "SET #status = :running, #stage = :splitting, #startedAt = :now, #updatedAt = :now \
                     ADD #pendingEvents :event"
                .into(),
            condition:
                "attribute_exists(#PK) AND #generation = :generation AND #status = :waiting AND #stage = :queued \
                 AND attribute_not_exists(#isScheduled)"
                    .into(),
            values: vec![
                (":running", word(Status::Running, "begin")?),
                (":splitting", word(Stage::Splitting, "begin")?),
                (":waiting", word(Status::Waiting, "begin")?),
                (":queued", word(Stage::Queued, "begin")?),
                (":generation", number(generation)),
                (":event", pending(&[PendingEvent::started(generation, now)]).map_err(failed("begin"))?),
                (":now", time(now)),
            ],
        };
        self.transition(update, |job| own_write::began(job, generation, now)).await
    }

    /// Condition: `generation` is the caller's, `status` is running, `stage` not stopping, and `recordedOutage` absent
    /// or earlier.
    async fn record_outage(&self, id: JobId, generation: u32, since: Timestamp) -> PortResult<Transition> {
        const RECORD: &str = "record_outage";
        let running = "#generation = :generation AND #status = :running AND #stage <> :stopping";
        let update = Update {
            operation: RECORD,
            key: Key::job(id),
            update: "SET #recordedOutage = :since ADD #pendingEvents :event".into(),
            condition: format!(
                "attribute_exists(#PK) AND {running} AND (attribute_not_exists(#recordedOutage) OR #recordedOutage < :since)"
            ),
            values: vec![
                (":generation", number(generation)),
                (":running", word(Status::Running, RECORD)?),
                (":stopping", word(Stage::Stopping, RECORD)?),
                (":since", time(since)),
                (":event", pending(&[PendingEvent::waiting(generation, since)]).map_err(failed(RECORD))?),
            ],
        };
        self.transition(update, |job| own_write::recorded_outage(job, generation, since)).await
    }

    /// UpdateItem of `JOB#id` / `DEFINITION`, if it exists. Condition: `columns` is absent.
    async fn put_columns(
        &self,
        id: JobId,
        columns: &[String],
        reading: Option<Reading>,
        detected: Option<&Detected>,
    ) -> PortResult<Option<Reading>> {
        const PUT: &str = "put_columns";
        let mut set = "SET #columns = :columns".to_owned();
        let mut values = vec![(":columns", nested(&columns).map_err(failed(PUT))?)];
        if let Some(reading) = &reading {
            set.push_str(", #reading = :reading");
            values.push((":reading", nested(reading).map_err(failed(PUT))?));
        }
        if let Some(Detected { found, options }) = detected {
            set.push_str(", #options = :options, #detected = :detected");
            values.extend([(":options", text(options.to_string())), (":detected", text(found.to_string()))]);
        }
        let condition = "attribute_exists(#PK) AND attribute_not_exists(#columns)".to_owned();
        let update = Update { operation: PUT, key: Key::definition(id), update: set, condition, values };
        match self.update(update).await? {
            Updated::Applied(item) | Updated::Refused(item) => optional_nested(&item, "reading").map_err(failed(PUT)),
            Updated::Absent => Ok(None),
        }
    }

    async fn record_preparation(
        &self,
        job: &Job,
        uploaded: &SourceFile,
        preparation: Preparation,
        now: Timestamp,
    ) -> PortResult<Transition> {
        self.record_preparation_of(job, uploaded, preparation, now).await
    }

    async fn end_preparation(&self, job: &Job, prepared: &SourceFile, now: Timestamp) -> PortResult<Transition> {
        self.end_preparation_of(job, prepared, now).await
    }

    async fn commit_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        self.transact_group(job, plan, now).await
    }

    /// Condition: `generation` is the splitter's, `stage` is splitting and `groups` is its committed number. Until
    /// then only the splitter writes issues.
    async fn end_split(&self, job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> PortResult<Transition> {
        let set =
            "SET #stage = :processing, #splitEnded = :true, #sentGroups = :groups, #resends = :zero, #updatedAt = :now";
        let update = Update {
            operation: "end_split",
            key: Key::job(job.job_id),
            update: format!("{set}, #issues = :issues"),
            condition:
                "attribute_exists(#PK) AND #generation = :generation AND #stage = :splitting AND #groups = :groups"
                    .into(),
            values: vec![
                (":generation", number(job.generation)),
                (":processing", word(Stage::Processing, "end_split")?),
                (":splitting", word(Stage::Splitting, "end_split")?),
                (":true", AttributeValue::Bool(true)),
                (":groups", number(groups)),
                (":issues", nested(&job.issues_with(issues)).map_err(failed("end_split"))?),
                (":zero", number(0)),
                (":now", time(now)),
            ],
        };
        self.transition(update, |job| own_write::split_ended(job, groups, issues, now)).await
    }

    /// Condition: `generation` is the caller's, `stage` is queued or splitting, and the message was sent again.
    async fn reset_split_resends(&self, id: JobId, generation: u32) -> PortResult<()> {
        let is_unsplit = "#generation = :generation AND #stage IN (:queued, :splitting)";
        let update = Update {
            operation: "reset_split_resends",
            key: Key::job(id),
            update: "SET #resends = :zero".into(),
            condition: format!("attribute_exists(#PK) AND {is_unsplit} AND #resends > :zero"),
            values: vec![
                (":generation", number(generation)),
                (":queued", word(Stage::Queued, "reset_split_resends")?),
                (":splitting", word(Stage::Splitting, "reset_split_resends")?),
                (":zero", number(0)),
            ],
        };
        self.update(update).await.map(|_| ())
    }

    /// Condition: `generation` is the caller's, `status` is not final and `stage` is not stopping.
    async fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> PortResult<Transition> {
        self.transition(stop_update(id, generation, stop)?, |job| own_write::stopped(job, stop)).await
    }

    /// The same condition, and `status`, `stage`, `generation` and `updatedAt` are as they were read.
    async fn stop_if_unchanged(&self, read: &Job, stop: &Stop) -> PortResult<Transition> {
        let update = if_unchanged(stop_update(read.job_id, read.generation, stop)?, read)?;
        self.transition(update, |job| own_write::stopped(job, stop)).await
    }

    /// Condition: `deletedAt` is absent. `unfinished` puts a job that has ended back on the index.
    async fn delete(&self, id: JobId, now: Timestamp) -> PortResult<Transition> {
        self.transition(delete_update(id, now), |job| own_write::deleted(job, now)).await
    }

    /// The same condition, and `status`, `stage`, `generation` and `updatedAt` are as they were read.
    async fn delete_if_unchanged(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        let update = if_unchanged(delete_update(read.job_id, now), read)?;
        self.transition(update, |job| own_write::deleted(job, now)).await
    }

    /// Condition: `status` is not final, `generation` is the one that ends, and a stopping job is not completed. The
    /// job stays on the index `unfinished` until its events are moved. With a charge, see
    /// `DynamoStore::transition_charged`.
    async fn finish(&self, id: JobId, finish: &Finish) -> PortResult<Transition> {
        let (update, own) = (finish_update(id, finish)?, |job: &Job| own_write::finished(job, finish));
        match &finish.charge {
            Some(charge) => self.transition_charged(id, update, self.add_charge(charge, finish.at)?, own).await,
            None => self.transition(update, own).await,
        }
    }

    /// Condition: the checkpoint is the one from which this completion continued, the generation is its own, and the
    /// status is not final.
    async fn checkpoint(&self, id: JobId, move_to: &MoveCheckpoint) -> PortResult<Transition> {
        let mut update = Update {
            operation: "checkpoint",
            key: Key::job(id),
            update: "SET #checkpoint = :to, #updatedAt = :at".into(),
            condition: "attribute_exists(#PK) AND #status IN (:waiting, :running) AND #generation = :generation".into(),
            values: vec![
                (":to", nested(&move_to.to).map_err(failed("checkpoint"))?),
                (":at", time(move_to.at)),
                (":waiting", word(Status::Waiting, "checkpoint")?),
                (":running", word(Status::Running, "checkpoint")?),
                (":generation", number(move_to.generation)),
            ],
        };
        if move_to.is_progress {
            update.update.push_str(", #resends = :zero");
            update.values.push((":zero", number(0)));
        }
        match &move_to.from {
            None => update.condition.push_str(" AND attribute_not_exists(#checkpoint)"),
            Some(from) => {
                update.condition.push_str(" AND #checkpoint.#token = :from");
                update.values.push((":from", text(&from.token)));
            }
        }
        self.transition(update, |job| own_write::checkpointed(job, move_to)).await
    }

    /// See `DynamoStore::reopen_counted`.
    async fn reopen(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened> {
        self.reopen_counted(job, reopen).await
    }

    /// Condition: `resends` and `generation` are as they were read, and the status is not final. A sweep that read an
    /// earlier state of the job must not change it.
    async fn count_resend(&self, job: &Job, now: Timestamp) -> PortResult<Transition> {
        let update = Update {
            operation: "count_resend",
            key: Key::job(job.job_id),
            update: "SET #resends = :next, #updatedAt = :now".into(),
            condition: "attribute_exists(#PK) AND #status IN (:waiting, :running) AND #generation = :generation \
                        AND #resends = :read"
                .into(),
            values: vec![
                (":waiting", word(Status::Waiting, "count_resend")?),
                (":running", word(Status::Running, "count_resend")?),
                (":generation", number(job.generation)),
                (":read", number(job.resends)),
                (":next", number(job.resends + 1)),
                (":now", time(now)),
            ],
        };
        self.transition(update, |stored| own_write::resend_counted(stored, job, now)).await
    }
}

impl DynamoStore {
    /// An update of a job. A refusal because of this same call's earlier write, whose response was lost, counts as
    /// success.
    pub(super) async fn transition(&self, update: Update, own: impl Fn(&Job) -> bool) -> PortResult<Transition> {
        let operation = update.operation;
        let read = |item| job_item::from_item(item).map_err(failed(operation));
        match self.update(update).await? {
            Updated::Applied(item) => Ok(Transition::Made(Box::new(read(item)?))),
            Updated::Absent => Ok(Transition::Refused),
            Updated::Refused(item) => {
                let job = read(item)?;
                Ok(if own(&job) { Transition::Made(Box::new(job)) } else { Transition::Refused })
            }
        }
    }
}

/// Returns a status or stage as it is stored.
pub(super) fn word(value: impl serde::Serialize, operation: &'static str) -> PortResult<AttributeValue> {
    nested(&value).map_err(|error: ItemError| failed(operation)(error))
}
