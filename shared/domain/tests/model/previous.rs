//! The versions of one record: two imports with redelivered and late workers, and their undos.
//!
//! The decisions are the domain's own. The state holds what a plain program keeps, a stack of versions. Whenever a
//! process dies, the record and the files that it names must lead to exactly these versions.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::history::{RecordVersion, VersionMark, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::Writer;
use serde_json::Map;
use stateright::{Model, Property};
use uuid::Uuid;

use crate::small::{holds_everywhere, is_caught};

/// A missing condition.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    None,
    /// A record is overwritten before its version is in a file.
    FileLast,
    /// A record is overwritten whatever its version is.
    OverwritesAny,
    /// A record is reverted whatever its version is.
    RevertsAny,
    /// The version that a row of the same job has written is kept as the previous one.
    KeepsOwn,
    /// An undo reverts a version that a later undo has restored.
    IgnoresLaterUndo,
}

/// A configuration: whether the record exists at first, the order of the undos, and the flaw.
#[derive(Copy, Clone, Debug)]
pub(crate) struct History {
    pub(crate) exists: bool,
    /// True if the undo of the first import is created before that of the second.
    pub(crate) in_order: bool,
    pub(crate) flaw: Flaw,
}

/// A job: the earlier import, two imports, and their undos.
const EARLY: u8 = 0;
pub(crate) const IMPORTS: [u8; 2] = [1, 2];

/// The workers: each import has a redelivered row, and so has the undo of the first one.
pub(crate) const WORKERS: [Task; 7] = [
    Task::Import(IMPORTS[0]),
    Task::Import(IMPORTS[0]),
    Task::Import(IMPORTS[1]),
    Task::Import(IMPORTS[1]),
    Task::Undo(IMPORTS[0]),
    Task::Undo(IMPORTS[0]),
    Task::Undo(IMPORTS[1]),
];

#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Task {
    Import(u8),
    /// The undo of this import.
    Undo(u8),
}

/// A version of the record. The data is that of its writer.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Version {
    pub(crate) writer: u8,
    pub(crate) updated_at: i64,
    pub(crate) created_by: u8,
    pub(crate) previous: Option<(u8, String)>,
    pub(crate) restored_by: Option<u8>,
}

/// The next step of a worker.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Step {
    /// Its message is not yet delivered.
    Start,
    /// It reads the record.
    Read,
    /// It writes this version into a file.
    Keep(Version),
    /// It overwrites this version, whose previous version is in the file of this name.
    Overwrite(Version, Option<String>),
    Insert,
    /// It reverts this version to the one before.
    Revert(Version, Option<Version>),
    /// It has died, or its row has ended.
    End,
}

#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) record: Option<Version>,
    /// Previous versions by job and file.
    pub(crate) files: BTreeMap<(u8, String), Version>,
    pub(crate) workers: [Step; WORKERS.len()],
    /// The writers of the versions that a plain program keeps.
    pub(crate) stack: Vec<u8>,
    /// Undos of imports, by the import, that have left the record as it was.
    pub(crate) skipped: BTreeSet<u8>,
    /// True if such an undo has changed the record later.
    pub(crate) changed_after_skip: bool,
    pub(crate) crashes: u8,
}

#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Action {
    Next(usize),
    Crash(usize),
}

pub(crate) fn id(job: u8) -> JobId {
    JobId(Uuid::from_u128(u128::from(job)))
}

pub(crate) fn row_of(job: u8) -> Writer {
    Writer { job: id(job), row: 1 }
}

impl Version {
    pub(crate) fn stored(&self) -> RecordVersion {
        let place = |(job, file): &(u8, String)| VersionPlace { job: id(*job), file: file.clone(), start: 0, end: 1 };
        RecordVersion {
            key: "k".into(),
            data: Map::new(),
            writer: Some(row_of(self.writer)),
            updated_at: Some(Timestamp(self.updated_at)),
            created_by: Some(id(self.created_by)),
            previous: self.previous.as_ref().map(place),
            restored_by: self.restored_by.map(row_of),
        }
    }

    fn mark(&self) -> VersionMark {
        self.stored().mark()
    }
}

impl State {
    /// Follows the record's files down to the version that was inserted. Returns the writers of all versions, the
    /// current one last; `None` if a file is missing.
    fn restorable(&self) -> Option<Vec<u8>> {
        let (mut next, mut writers) = (self.record.as_ref(), Vec::new());
        while let Some(version) = next {
            writers.insert(0, version.writer);
            next = match &version.previous {
                _ if version.created_by == version.writer => None,
                Some(place) if place.0 == version.writer => Some(self.files.get(place)?),
                _ => return None,
            };
        }
        Some(writers)
    }

    fn has_ended(&self, task: Task) -> bool {
        WORKERS.iter().zip(&self.workers).all(|(other, step)| *other != task || *step == Step::End)
    }

    pub(crate) fn is_as_read(&self, read: &Version) -> bool {
        self.record.as_ref().is_some_and(|record| record.mark() == read.mark())
    }

    /// Returns the time of a write, which no version has.
    pub(crate) fn now(&self) -> i64 {
        let known = self.record.iter().chain(self.files.values()).chain(self.workers.iter().filter_map(Step::version));
        known.map(|version| version.updated_at).max().unwrap_or(0) + 1
    }

    pub(crate) fn push(&mut self, job: u8) {
        self.stack.pop_if(|top| *top == job);
        self.stack.push(job);
    }
}

impl Step {
    fn version(&self) -> Option<&Version> {
        match self {
            Self::Keep(version) | Self::Overwrite(version, _) | Self::Revert(version, _) => Some(version),
            Self::Start | Self::Read | Self::Insert | Self::End => None,
        }
    }
}

impl Model for History {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let (previous, restored_by) = (None, None);
        let first = Version { writer: EARLY, updated_at: 1, created_by: EARLY, previous, restored_by };
        let record = Some(first).filter(|_| self.exists);
        let stack = record.iter().map(|_| EARLY).collect();
        let (files, skipped) = Default::default();
        let workers = [const { Step::Start }; WORKERS.len()];
        vec![State { record, files, workers, stack, skipped, changed_after_skip: false, crashes: 1 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (worker, step) in state.workers.iter().enumerate() {
            let may_begin = match WORKERS[worker] {
                Task::Import(_) => true,
                // The undo begins after the stall time of its import.
                Task::Undo(import) => state.has_ended(Task::Import(import)),
            };
            // Of two workers with the same message, the second one is not the first to begin.
            let is_second = worker > 0 && WORKERS[worker - 1] == WORKERS[worker];
            let is_next = !is_second || state.workers[worker - 1] != Step::Start;
            if *step != Step::End && (*step != Step::Start || (may_begin && is_next)) {
                actions.push(Action::Next(worker));
                let can_crash = state.crashes > 0 && matches!(step, Step::Keep(_) | Step::Overwrite(..));
                actions.extend(can_crash.then_some(Action::Crash(worker)));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Next(worker) => {
                state.workers[worker] = match (WORKERS[worker], last.workers[worker].clone()) {
                    (_, Step::Start) => Step::Read,
                    (Task::Import(job), step) => self.import(&mut state, job, step),
                    (Task::Undo(import), step) => self.undo(&mut state, import, step),
                };
            }
            Action::Crash(worker) => {
                state.crashes -= 1;
                state.workers[worker] = Step::End;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let properties: [Property<Self>; 2] = [
            Property::always(KEPT, |_, state: &State| state.restorable().as_ref() == Some(&state.stack)),
            Property::always(ONCE, |history, state: &State| !history.in_order || !state.changed_after_skip),
        ];
        let sights: [Property<Self>; 2] = [
            Property::sometimes("both imports are undone", |history, state: &State| {
                let all = IMPORTS.iter().all(|import| state.has_ended(Task::Undo(*import)));
                all && state.stack.len() == usize::from(history.exists)
            }),
            Property::sometimes("an undo finds a later writer", |_, state: &State| {
                state.skipped.contains(&IMPORTS[0]) && state.stack.last() == Some(&IMPORTS[1])
            }),
        ];
        let sights = sights.into_iter().filter(|_| self.flaw == Flaw::None);
        properties.into_iter().chain(sights).collect()
    }
}

const KEPT: &str = "no previous version is lost";
const ONCE: &str = "an undo leaves a record that it has skipped";

#[test]
fn whatever_dies_or_is_redelivered_no_previous_version_is_lost() {
    for (exists, in_order) in [(false, true), (false, false), (true, true), (true, false)] {
        let name = format!("versions of a record: exists {exists}, undos in order {in_order}");
        holds_everywhere(&name, History { exists, in_order, flaw: Flaw::None });
    }
}

#[test]
fn without_one_of_its_conditions_a_previous_version_is_lost() {
    for (file, flaw, property) in [
        ("version-file-last", Flaw::FileLast, KEPT),
        ("version-overwritten-unread", Flaw::OverwritesAny, KEPT),
        ("version-reverted-unread", Flaw::RevertsAny, KEPT),
        ("version-of-its-own", Flaw::KeepsOwn, KEPT),
        ("version-restored-by-a-later-undo", Flaw::IgnoresLaterUndo, ONCE),
    ] {
        is_caught(file, property, &flaw, &History { exists: true, in_order: true, flaw });
    }
}
