//! The job type `undo`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use longshore_domain::ports::{Files, RecordVersions};
use longshore_domain::undo::SkipReason;
use longshore_domain::writer::{Writer, Written};
use serde::Deserialize;

use super::options::UndoOptions;
use super::revert::{Reverted, Reverter, UndoneKey};
use crate::field_error::FieldError;
use crate::handler::{ItemKey, JobContext, JobType, Outcome, Record, Rejection, TypeLimits};
use crate::job_types::import;
use crate::ports::JobFolder;

/// Name of the job type.
pub const NAME: &str = "undo";

/// Undoes an import.
#[derive(Debug)]
pub struct Undo<R, F> {
    records: Arc<R>,
    files: F,
}

impl<R, F> Undo<R, F> {
    /// Creates the job type, which restores records of this store from these files.
    pub fn new(records: Arc<R>, files: F) -> Self {
        Self { records, files }
    }
}

/// The key of a row of the import; `None` if it cannot be read, so that the import cannot have written it.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize)]
pub struct UndoRow(Option<String>);

impl<R: RecordVersions, F: Files + 'static> JobType for Undo<R, F> {
    const NAME: &'static str = NAME;
    const INTERNAL: bool = true;
    // The import has not written them either.
    const SKIPS_UNREADABLE: Option<&'static str> = Some(SkipReason::NotWritten.reason());
    const LIMITS: TypeLimits = import::LIMITS;
    type Options = UndoOptions;
    type Item = UndoRow;
    type Output = ();

    fn check(&self, options: &UndoOptions) -> Vec<FieldError> {
        options.check()
    }

    fn read(&self, options: &UndoOptions, record: &Record<'_>) -> Result<UndoRow, Rejection> {
        Ok(UndoRow(import::read_key(&options.import, record)))
    }

    async fn process(&self, job: &JobContext, options: &UndoOptions, key: ItemKey, item: UndoRow) -> Outcome {
        let mut outcomes = self.process_batch(job, options, vec![(key, item)]).await;
        // A single item always has an outcome.
        outcomes.pop().unwrap_or_else(|| Outcome::Retry { after: None, reason: String::from("not processed") })
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        options: &UndoOptions,
        items: Vec<(ItemKey, UndoRow)>,
    ) -> Vec<Outcome> {
        let (rows, keys) = distinct(items);
        let reverter = Reverter {
            records: &*self.records,
            files: &self.files,
            undone: JobFolder { tenant: &job.tenant, id: options.job_id },
            dataset: &options.import.dataset_of(job),
            preview: options.preview,
            clock: Instant::now,
        };
        let reverted = reverter.revert(&keys).await;
        let result = |row: Option<usize>| row.map_or(Some(&UNWRITTEN), |index| reverted.get(index));
        rows.into_iter().map_while(|row| result(row).and_then(outcome)).collect()
    }
}

/// Result of a row whose key cannot be read.
const UNWRITTEN: Reverted = Reverted::Skipped(SkipReason::NotWritten);

/// Returns the different keys of a batch, and for each row the index of its key. Of the rows with one key, the first is
/// sent; the others have its result.
fn distinct(items: Vec<(ItemKey, UndoRow)>) -> (Vec<Option<usize>>, Vec<UndoneKey>) {
    let (mut keys, mut indexes) = (Vec::with_capacity(items.len()), HashMap::with_capacity(items.len()));
    let rows = items.into_iter().map(|(item, UndoRow(key))| {
        let key = key?;
        let index = *indexes.entry(key.clone()).or_insert(keys.len());
        if index == keys.len() {
            keys.push(UndoneKey { key, row: Writer { job: item.job_id, row: item.number } });
        }
        Some(index)
    });
    (rows.collect(), keys)
}

/// Returns the outcome of a row, or `None` if its key was not tried.
fn outcome(reverted: &Reverted) -> Option<Outcome> {
    Some(match reverted {
        Reverted::Done => Outcome::Ok(()),
        Reverted::Skipped(reason) => Outcome::Skip { reason: reason.reason().to_owned() },
        Reverted::NoPreviousVersion => Outcome::reject("no_previous_version", None, NO_PREVIOUS_VERSION),
        Reverted::Unwritten(written) => match written {
            Written::Untried => return None,
            Written::Throttled(reason) => Outcome::Busy { reason: reason.clone() },
            Written::Unknown(reason) => Outcome::Retry { after: None, reason: reason.clone() },
            Written::Refused(reason) => {
                Outcome::reject("record_refused", None, format!("the records table rejected the record: {reason}"))
            }
            Written::Stored | Written::Missing | Written::Superseded(_) | Written::Taken(_) | Written::Changed => {
                Outcome::Retry { after: None, reason: String::from("other writers keep changing this record") }
            }
        },
    })
}

/// Message of a row whose record cannot be restored.
const NO_PREVIOUS_VERSION: &str =
    "the import has overwritten this record, and its previous version is not stored; the record stays as it is";

#[cfg(test)]
#[path = "job_type_tests.rs"]
mod tests;
