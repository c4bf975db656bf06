//! The steps of the workers of imports and undos at one record, and their sentences.

use longshore_domain::history::{ImportStep, import_step};
use longshore_domain::undo::{UndoStep, undo_step};
use longshore_domain::writer::Rule;

use crate::previous::{Action, Flaw, History, IMPORTS, State, Step, Task, Version, WORKERS, id, row_of};
use crate::small::Small;

impl History {
    /// Does the next step of an import's worker.
    pub(crate) fn import(&self, state: &mut State, job: u8, step: Step) -> Step {
        match step {
            Step::Read => {
                let stored = state.record.as_ref().map(Version::stored);
                match (import_step(Rule::Upsert, stored.as_ref(), row_of(job)), state.record.clone()) {
                    (ImportStep::Insert, _) => Step::Insert,
                    (ImportStep::Overwrite { keeps_version, .. }, Some(version)) => {
                        let keeps_version = keeps_version || self.flaw == Flaw::KeepsOwn;
                        match keeps_version && self.flaw != Flaw::FileLast {
                            true => Step::Keep(version),
                            false => Step::Overwrite(version, None),
                        }
                    }
                    (ImportStep::Overwrite { .. } | ImportStep::Done(_), _) => Step::End,
                }
            }
            Step::Keep(version) => {
                let name = ('a'..='z').map(String::from).find(|name| !state.files.contains_key(&(job, name.clone())));
                // Bounded: an import stores few files.
                let name = name.unwrap_or_default();
                state.files.insert((job, name.clone()), version.clone());
                if self.flaw == Flaw::FileLast { Step::End } else { Step::Overwrite(version, Some(name)) }
            }
            Step::Insert if state.record.is_some() => Step::Read,
            Step::Insert => {
                let (previous, restored_by, updated_at) = (None, None, state.now());
                state.record = Some(Version { writer: job, updated_at, created_by: job, previous, restored_by });
                state.push(job);
                Step::End
            }
            Step::Overwrite(read, file) => self.overwrite(state, job, &read, file),
            Step::Start | Step::Revert(..) | Step::End => Step::End,
        }
    }

    fn overwrite(&self, state: &mut State, job: u8, read: &Version, file: Option<String>) -> Step {
        let is_forced = self.flaw == Flaw::OverwritesAny && state.record.is_some();
        if !is_forced && !state.is_as_read(read) {
            return Step::Read;
        }
        let updated_at = state.now();
        let is_late = self.flaw == Flaw::FileLast && read.writer != job;
        let file = if is_late { Some(String::from("a")) } else { file };
        let Some(holder) = state.record.clone() else { return Step::Read };
        let previous = file.map(|file| (job, file)).or(holder.previous.clone());
        state.record = Some(Version { writer: job, updated_at, previous, ..holder.clone() });
        state.push(job);
        if is_late { Step::Keep(holder) } else { Step::End }
    }

    /// Does the next step of a worker of the undo of an import.
    pub(crate) fn undo(&self, state: &mut State, import: u8, step: Step) -> Step {
        let is_first = (import == IMPORTS[0]) == self.in_order;
        let undo = if is_first { 3 } else { 4 };
        match step {
            Step::Read => {
                let mut stored = state.record.as_ref().map(Version::stored);
                if self.flaw == Flaw::IgnoresLaterUndo {
                    stored.iter_mut().for_each(|version| version.restored_by = None);
                }
                let record = state.record.clone();
                match (undo_step(stored.as_ref(), id(import), id(undo)), record) {
                    (UndoStep::Delete(_), Some(version)) => Step::Revert(version, None),
                    (UndoStep::Restore(..), Some(version)) => {
                        let place = version.previous.as_ref();
                        let previous = place.and_then(|place| state.files.get(place)).cloned();
                        previous.map_or(Step::End, |previous| Step::Revert(version, Some(previous)))
                    }
                    (UndoStep::Skip(_), _) => {
                        state.skipped.insert(import);
                        Step::End
                    }
                    _ => Step::End,
                }
            }
            Step::Revert(read, _) if self.flaw != Flaw::RevertsAny && !state.is_as_read(&read) => {
                if state.record.is_none() { Step::End } else { Step::Read }
            }
            Step::Revert(_, to) => {
                let (updated_at, restored_by) = (state.now(), Some(undo));
                state.record = to.map(|previous| Version { updated_at, restored_by, ..previous });
                state.stack.pop_if(|top| *top == import);
                state.changed_after_skip |= state.skipped.contains(&import);
                Step::End
            }
            Step::Start | Step::Keep(_) | Step::Overwrite(..) | Step::Insert | Step::End => Step::End,
        }
    }
}

impl Small for History {
    fn sentence(&self, state: &State, action: &Action) -> String {
        let (Action::Next(worker) | Action::Crash(worker)) = *action;
        let of = |import: u8| if import == IMPORTS[0] { "A" } else { "B" };
        let actor = match WORKERS[worker] {
            Task::Import(job) => format!("worker {worker} of import {}", of(job)),
            Task::Undo(job) => format!("worker {worker} of the undo of {}", of(job)),
        };
        let does = match &state.workers[worker] {
            _ if *action == Action::Crash(worker) => "dies",
            Step::Start => "begins",
            Step::Read => "reads the record",
            Step::Keep(_) => "writes a file with the version that it has read",
            Step::Overwrite(..) => "overwrites the record",
            Step::Insert => "inserts the record",
            Step::Revert(_, None) => "deletes the record",
            Step::Revert(_, Some(_)) => "restores the previous version",
            Step::End => "has ended",
        };
        format!("{actor} {does}")
    }
}
