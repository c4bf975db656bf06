//! The updates that stop or delete a job.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Stage, Status, Stop};
use longshore_domain::ports::PortResult;
use longshore_domain::timestamp::Timestamp;

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
