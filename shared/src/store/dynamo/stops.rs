//! The updates that stop, end or delete a job.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Stage, Status, Stop};
use longshore_domain::ports::PortResult;
use longshore_domain::timestamp::Timestamp;

use super::events::pending;
use super::failed;
use super::item::{nested, number, text, time};
use super::keys::Key;
use super::transitions::word;
use super::update::Update;

/// Removes a job from the index `due`; a clause of an update.
pub(super) const UNSCHEDULE: &str = "REMOVE #isScheduled, #due, #dueAt";

pub(super) fn stop_update(id: JobId, generation: u32, stop: &Stop) -> PortResult<Update> {
    let live = "#status IN (:waiting, :running) AND #stage <> :stopping";
    Ok(Update {
        operation: "stop",
        key: Key::job(id),
        update: format!("SET #stage = :stopping, #stop = :stop, #updatedAt = :now, #unfinished = :one {UNSCHEDULE}"),
        condition: format!("attribute_exists(#PK) AND #generation = :generation AND {live}"),
        values: vec![
            (":generation", number(generation)),
            (":stopping", word(Stage::Stopping, "stop")?),
            (":waiting", word(Status::Waiting, "stop")?),
            (":running", word(Status::Running, "stop")?),
            (":stop", nested(stop).map_err(failed("stop"))?),
            (":one", text("1")),
            (":now", time(stop.at)),
        ],
    })
}

pub(super) fn finish_update(id: JobId, finish: &Finish) -> PortResult<Update> {
    let cost = finish.charge.as_ref().map_or("", |_| ", #cost = :cost");
    let set = "SET #status = :status, #stage = :done, #totals = :totals, #report = :report, #error = :error";
    let end = "#finishedAt = :at, #updatedAt = :at, #unfinished = :one";
    let mut update = Update {
        operation: "finish",
        key: Key::job(id),
        update: format!("{set}, {end}{cost} ADD #pendingEvents :event {UNSCHEDULE}"),
        condition: "attribute_exists(#PK) AND #status IN (:waiting, :running) AND #generation = :generation".into(),
        values: vec![
            (":one", text("1")),
            (":status", word(finish.status, "finish")?),
            (":done", word(Stage::Done, "finish")?),
            (":waiting", word(Status::Waiting, "finish")?),
            (":running", word(Status::Running, "finish")?),
            (":generation", number(finish.generation)),
            (":totals", nested(&finish.totals).map_err(failed("finish"))?),
            (":report", nested(&finish.report).map_err(failed("finish"))?),
            (":error", nested(&finish.error).map_err(failed("finish"))?),
            (":event", pending(&finish.event()).map_err(failed("finish"))?),
            (":at", time(finish.at)),
        ],
    };
    if let Some(charge) = &finish.charge {
        update.values.push((":cost", nested(&charge.cost).map_err(failed("finish"))?));
    }
    if finish.status == Status::Completed {
        update.condition.push_str(" AND #stage <> :stopping");
        update.values.push((":stopping", word(Stage::Stopping, "finish")?));
    }
    Ok(update)
}

pub(super) fn delete_update(id: JobId, now: Timestamp) -> Update {
    Update {
        operation: "delete",
        key: Key::job(id),
        update: format!("SET #deletedAt = :now, #updatedAt = :now, #unfinished = :one {UNSCHEDULE}"),
        condition: "attribute_exists(#PK) AND attribute_not_exists(#deletedAt)".into(),
        values: vec![(":now", time(now)), (":one", text("1"))],
    }
}

/// See [`Job::is_unchanged_since`].
pub(super) fn if_unchanged(mut update: Update, read: &Job) -> PortResult<Update> {
    update.condition.push_str(
        " AND #generation = :readGeneration AND #status = :readStatus AND #stage = :readStage AND #updatedAt = :readAt",
    );
    update.values.extend([
        (":readGeneration", number(read.generation)),
        (":readStatus", word(read.status, update.operation)?),
        (":readStage", word(read.stage, update.operation)?),
        (":readAt", time(read.times.updated_at)),
    ]);
    Ok(update)
}
