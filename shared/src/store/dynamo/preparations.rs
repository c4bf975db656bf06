//! The preparation of a job's file: its progress, and its end.

use longshore_domain::job::{Job, Original, Preparation, SourceFile, Stage, Transition};
use longshore_domain::ports::PortResult;
use longshore_domain::timestamp::Timestamp;

use super::item::{nested, number, text, time};
use super::keys::Key;
use super::transitions::word;
use super::update::Update;
use super::{DynamoStore, failed};
use crate::store::own_write;

/// Condition: `generation` is the caller's, `stage` is splitting, and the generation has no group.
const SPLITTING: &str =
    "attribute_exists(#PK) AND #generation = :generation AND #stage = :splitting AND #groups = :groups";

impl DynamoStore {
    /// The condition above; `source`, or `corrected`, is the uploaded file, not prepared; and `preparation` is absent
    /// or has read less.
    pub(super) async fn record_preparation_of(
        &self,
        job: &Job,
        uploaded: &SourceFile,
        preparation: Preparation,
        now: Timestamp,
    ) -> PortResult<Transition> {
        const RECORD: &str = "record_preparation";
        let name = file_name(job, &uploaded.key);
        let mut update = of_unprepared(RECORD, job, name, (&uploaded.key, &uploaded.etag), now)?;
        update.update = "SET #preparation = :preparation, #updatedAt = :now".into();
        update.condition.push_str(" AND (attribute_not_exists(#preparation) OR #preparation.#readBytes < :read)");
        update.values.extend([
            (":preparation", nested(&preparation).map_err(failed(RECORD))?),
            (":read", number(preparation.read_bytes)),
        ]);
        let own = |stored: &Job| own_write::preparation_recorded(stored, job.generation, preparation, now);
        self.transition(update, own).await
    }

    /// The condition above, and `source`, or `corrected`, is the original of the prepared file, not prepared.
    pub(super) async fn end_preparation_of(
        &self,
        job: &Job,
        prepared: &SourceFile,
        now: Timestamp,
    ) -> PortResult<Transition> {
        const END: &str = "end_preparation";
        let Some(Original { key, etag, .. }) = prepared.original.as_deref() else { return Ok(Transition::Refused) };
        let name = file_name(job, key);
        let mut update = of_unprepared(END, job, name, (key, etag), now)?;
        update.update = format!("SET {name} = :prepared, #resends = :zero, #updatedAt = :now REMOVE #preparation");
        update.values.extend([(":prepared", nested(prepared).map_err(failed(END))?), (":zero", number(0))]);
        self.transition(update, |stored| own_write::preparation_ended(stored, job.generation, prepared)).await
    }
}

/// Returns the attribute of the file with this key.
fn file_name(job: &Job, key: &str) -> &'static str {
    let is_corrected = job.retry.selection.corrected().is_some_and(|file| file.key == key);
    if is_corrected { "#corrected" } else { "#source" }
}

/// An update of a job that is being split, with its condition, and the values of that.
fn of_unprepared(
    operation: &'static str,
    job: &Job,
    name: &str,
    (key, etag): (&str, &str),
    now: Timestamp,
) -> PortResult<Update> {
    let is_uploaded = format!("{name}.#key = :key AND {name}.#etag = :etag AND attribute_not_exists({name}.#original)");
    Ok(Update {
        operation,
        key: Key::job(job.job_id),
        update: String::new(),
        condition: format!("{SPLITTING} AND {is_uploaded}"),
        values: vec![
            (":generation", number(job.generation)),
            (":splitting", word(Stage::Splitting, operation)?),
            (":groups", number(job.retry.carried_over.groups)),
            (":key", text(key)),
            (":etag", text(etag)),
            (":now", time(now)),
        ],
    })
}
