//! Reverts records to what they were before the undone import, each only if it still is the version that was read.

use std::collections::HashMap;

use longshore_domain::dataset::Dataset;
use longshore_domain::history::{PreviousVersion, RecordVersion};
use longshore_domain::ports::{Files, KnownVersions, RecordVersions, Revert};
use longshore_domain::undo::{SkipReason, UndoStep, undo_step};
use longshore_domain::writer::{Writer, Written};

use super::previous::{self, Wanted};
use crate::job_types::batch_results::{BatchResults, Clock, ROUNDS, unwritten};
use crate::ports::JobFolder;

/// Bytes of previous versions that a worker holds at once.
const BYTES: u64 = 8 << 20;

/// A key of the undone import, and the row of the undo that looks at it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct UndoneKey {
    pub(super) key: String,
    pub(super) row: Writer,
}

/// The result for a key.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Reverted {
    /// Nothing of the import is left.
    Done,
    /// The record stays.
    Skipped(SkipReason),
    /// The record stays, because its previous version is not stored.
    NoPreviousVersion,
    /// The record was not reverted.
    Unwritten(Written),
}

impl From<Written> for Reverted {
    fn from(written: Written) -> Self {
        Self::Unwritten(written)
    }
}

/// An undo of one batch.
pub(super) struct Reverter<'a, R, F> {
    pub(super) records: &'a R,
    pub(super) files: &'a F,
    /// The folder of the undone import.
    pub(super) undone: JobFolder<'a>,
    pub(super) dataset: &'a Dataset,
    /// True if nothing is written.
    pub(super) preview: bool,
    pub(super) clock: Clock,
}

/// The next write of a record.
struct Planned<'v> {
    index: usize,
    revert: Revert<'v>,
}

impl<R: RecordVersions, F: Files> Reverter<'_, R, F> {
    /// Reverts the records of different keys. Returns one result each, in their order.
    pub(super) async fn revert(&self, keys: &[UndoneKey]) -> Vec<Reverted> {
        let mut results = BatchResults::new(keys.len(), self.clock);
        for _ in 0..ROUNDS {
            let open = results.open_in_time();
            if open.is_empty() {
                break;
            }
            self.round(keys, &mut results, &open).await;
        }
        results.finish()
    }

    /// Reads and reverts the open records. Those that have changed meanwhile stay open.
    async fn round(&self, keys: &[UndoneKey], results: &mut BatchResults<Reverted>, open: &[usize]) {
        let wanted: Vec<_> = open.iter().map(|index| keys[*index].key.clone()).collect();
        let KnownVersions { versions, known } = match self.records.read_versions(self.dataset, &wanted).await {
            Ok(known) => known,
            Err(error) => return results.end(open, &unwritten(&error).into()),
        };
        let (open, later) = open.split_at(known.clamp(1, open.len()));
        results.end(later, &Written::Untried.into());
        let steps = self.steps(keys, results, open, &versions);
        // Files are read only for what can still be written.
        if results.open_in_time().is_empty() {
            return;
        }
        let wanted: Vec<_> = steps.iter().filter_map(|(index, step)| wanted_version(step, &keys[*index])).collect();
        let previous = match previous::read(self.files, self.undone, &wanted).await {
            Ok(previous) => previous,
            Err(error) => {
                let indexes: Vec<_> = steps.iter().map(|(index, _)| *index).collect();
                return results.end(&indexes, &unwritten(&error).into());
            }
        };
        let planned = plan(keys, results, &steps, &previous);
        if !results.open_in_time().is_empty() {
            self.write(results, planned).await;
        }
    }

    /// Decides the steps of the first open records, as many as have [`BYTES`] of previous versions; the others are
    /// processed again later. Returns the steps that write, and ends the records that stay.
    fn steps(
        &self,
        keys: &[UndoneKey],
        results: &mut BatchResults<Reverted>,
        open: &[usize],
        versions: &[RecordVersion],
    ) -> Vec<(usize, UndoStep)> {
        let versions: HashMap<_, _> = versions.iter().map(|version| (version.key.as_str(), version)).collect();
        let (mut steps, mut bytes) = (Vec::with_capacity(open.len()), 0);
        for (position, index) in open.iter().enumerate() {
            let UndoneKey { key, row } = &keys[*index];
            let step = undo_step(versions.get(key.as_str()).copied(), self.undone.id, row.job);
            match &step {
                UndoStep::Done => results.set(*index, Reverted::Done),
                UndoStep::Skip(reason) => results.set(*index, Reverted::Skipped(*reason)),
                UndoStep::NoPreviousVersion => results.set(*index, Reverted::NoPreviousVersion),
                UndoStep::Delete(_) => steps.push((*index, step)),
                UndoStep::Restore(_, place) => {
                    bytes += place.end - place.start;
                    if bytes > BYTES && !steps.is_empty() {
                        results.end(&open[position..], &Written::Untried.into());
                        break;
                    }
                    steps.push((*index, step));
                }
            }
        }
        steps
    }

    async fn write(&self, results: &mut BatchResults<Reverted>, planned: Vec<Planned<'_>>) {
        let (indexes, reverts): (Vec<_>, Vec<_>) =
            planned.into_iter().map(|planned| (planned.index, planned.revert)).unzip();
        if self.preview {
            return results.end(&indexes, &Reverted::Done);
        }
        if reverts.is_empty() {
            return;
        }
        for (index, written) in indexes.into_iter().zip(self.records.revert(self.dataset, &reverts).await) {
            match written {
                Written::Stored => results.set(index, Reverted::Done),
                Written::Changed => {}
                written => results.set(index, Reverted::Unwritten(written)),
            }
        }
    }
}

fn wanted_version(step: &UndoStep, of: &UndoneKey) -> Option<Wanted> {
    let UndoStep::Restore(_, place) = step else { return None };
    Some(Wanted { key: of.key.clone(), place: place.clone() })
}

/// Returns the next write of each record; ends those whose previous version is gone.
fn plan<'v>(
    keys: &'v [UndoneKey],
    results: &mut BatchResults<Reverted>,
    steps: &[(usize, UndoStep)],
    previous: &'v HashMap<String, PreviousVersion>,
) -> Vec<Planned<'v>> {
    let mut planned = Vec::with_capacity(steps.len());
    for (index, step) in steps {
        let UndoneKey { key, row: by } = &keys[*index];
        let revert = match step {
            UndoStep::Delete(mark) => Some(Revert { key, mark: *mark, by: *by, to: None }),
            UndoStep::Restore(mark, _) => {
                previous.get(key).map(|to| Revert { key, mark: *mark, by: *by, to: Some(to) })
            }
            UndoStep::Done | UndoStep::Skip(_) | UndoStep::NoPreviousVersion => None,
        };
        match revert {
            Some(revert) => planned.push(Planned { index: *index, revert }),
            None => results.set(*index, Reverted::NoPreviousVersion),
        }
    }
    planned
}

#[cfg(test)]
#[path = "revert_tests.rs"]
mod tests;
