//! Reverts records to what they were before the undone import, each only if it still is the version that was read.

use std::collections::HashMap;

use longshore_domain::dataset::Dataset;
use longshore_domain::history::PreviousVersion;
use longshore_domain::ports::{Files, KnownVersions, PortError, RecordVersions, Revert};
use longshore_domain::undo::{Kept, UndoStep, undo_step};
use longshore_domain::writer::{Writer, Written};

use super::previous::{self, Wanted};
use crate::job_types::batch_results::BatchResults;
use crate::ports::JobFolder;
use crate::telemetry;

/// Number of times that a record is read and reverted in one batch before its row is offered again later.
const ROUNDS: usize = 3;

/// Bytes of previous versions that a worker holds at once.
const BYTES: u64 = 8 << 20;

/// A key of the undone import, and the row of the undo that looks at it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct KeyOfRow {
    pub(super) key: String,
    pub(super) row: Writer,
}

/// The result for a key.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Reverted {
    /// Nothing of the import is left.
    Done,
    /// The record stays.
    Kept(Kept),
    /// The record stays, because its previous version is not stored.
    NoPreviousVersion,
    /// The record was not reverted.
    Unwritten(Written),
}

/// An undo of one batch.
pub(super) struct Reverting<'a, R, F> {
    pub(super) records: &'a R,
    pub(super) files: &'a F,
    /// The folder of the undone import.
    pub(super) undone: JobFolder<'a>,
    pub(super) dataset: &'a Dataset,
    /// True if nothing is written.
    pub(super) preview: bool,
}

/// The next write of a record.
struct Planned<'v> {
    index: usize,
    revert: Revert<'v>,
}

impl<R: RecordVersions, F: Files> Reverting<'_, R, F> {
    /// Reverts the records of different keys. Returns one result each, in their order.
    pub(super) async fn revert(&self, keys: &[KeyOfRow]) -> Vec<Reverted> {
        let mut results = BatchResults::new(keys.len());
        for _ in 0..ROUNDS {
            let open = results.open();
            if open.is_empty() {
                break;
            }
            self.round(keys, &mut results, &open).await;
        }
        results.finish(&Reverted::Unwritten(Written::Changed))
    }

    /// Reads and reverts the open records. Those that have changed meanwhile stay open.
    async fn round(&self, keys: &[KeyOfRow], results: &mut BatchResults<Reverted>, open: &[usize]) {
        let wanted: Vec<_> = open.iter().map(|index| keys[*index].key.clone()).collect();
        let KnownVersions { versions, known } = match self.records.read_versions(self.dataset, &wanted).await {
            Ok(known) => known,
            Err(error) => return results.end(open, &unread(&error)),
        };
        let versions: HashMap<_, _> = versions.iter().map(|version| (version.key.as_str(), version)).collect();
        let (open, later) = open.split_at(known.clamp(1, open.len()));
        let (undo, mut steps, mut bytes) = (keys[open[0]].row.job, Vec::new(), 0);
        for index in open {
            let step = undo_step(versions.get(keys[*index].key.as_str()).copied(), self.undone.id, undo);
            if let UndoStep::Restore(_, place) = &step {
                bytes += place.end - place.start;
            }
            if bytes > BYTES && !steps.is_empty() {
                break;
            }
            steps.push((*index, step));
        }
        results.end(&open[steps.len()..], &Reverted::Unwritten(Written::Untried));
        results.end(later, &Reverted::Unwritten(Written::Untried));
        let wanted: Vec<_> = steps.iter().filter_map(|(index, step)| wanted_by(step, &keys[*index])).collect();
        let previous = match previous::read(self.files, self.undone, &wanted).await {
            Ok(previous) => previous,
            Err(error) => return results.end(&open[..steps.len()], &unread(&error)),
        };
        let planned = plan(keys, results, &steps, &previous);
        self.write(results, planned).await;
    }

    async fn write(&self, results: &mut BatchResults<Reverted>, mut planned: Vec<Planned<'_>>) {
        if results.is_late() && planned.len() > 1 {
            let late: Vec<_> = planned.drain(1..).map(|planned| planned.index).collect();
            results.end(&late, &Reverted::Unwritten(Written::Untried));
        }
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

fn wanted_by(step: &UndoStep, of: &KeyOfRow) -> Option<Wanted> {
    let UndoStep::Restore(_, place) = step else { return None };
    Some(Wanted { key: of.key.clone(), place: place.clone() })
}

/// Returns the next write of each record; ends those that need none, and those whose previous version is gone.
fn plan<'v>(
    keys: &'v [KeyOfRow],
    results: &mut BatchResults<Reverted>,
    steps: &[(usize, UndoStep)],
    previous: &'v HashMap<String, PreviousVersion>,
) -> Vec<Planned<'v>> {
    let mut planned = Vec::with_capacity(steps.len());
    for (index, step) in steps {
        let KeyOfRow { key, row: by } = &keys[*index];
        match (step, previous.get(key)) {
            (UndoStep::Done, _) => results.set(*index, Reverted::Done),
            (UndoStep::Skip(kept), _) => results.set(*index, Reverted::Kept(*kept)),
            (UndoStep::Delete(mark), _) => {
                planned.push(Planned { index: *index, revert: Revert { key, mark: *mark, by: *by, to: None } });
            }
            (UndoStep::Restore(mark, _), to @ Some(_)) => {
                planned.push(Planned { index: *index, revert: Revert { key, mark: *mark, by: *by, to } });
            }
            (UndoStep::NoPreviousVersion | UndoStep::Restore(..), _) => {
                results.set(*index, Reverted::NoPreviousVersion);
            }
        }
    }
    planned
}

/// Returns the result of a record that could not be read, or whose previous version could not be.
fn unread(error: &PortError) -> Reverted {
    if error.is_busy() {
        return Reverted::Unwritten(Written::Throttled(String::from("no capacity to read the record")));
    }
    tracing::warn!(error = telemetry::chain(error), "cannot read versions of records");
    Reverted::Unwritten(Written::Unknown(String::from("the record or its previous version could not be read")))
}
