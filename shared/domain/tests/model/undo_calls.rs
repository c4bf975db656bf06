//! The calls that change an import that has ended: undo, retry, replay, delete. Each reads the import, checks what it
//! has read, and then writes on a condition; others write in between.
//!
//! The writes are the domain's own. Without any one of their conditions, two undos run at once, or the import changes
//! during its undo.

use std::hash::{Hash, Hasher};

use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Selection, Status, Stop};
use longshore_domain::outcome::Counts;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use stateright::{Model, Property};
use uuid::Uuid;

use crate::small::{holds_everywhere, is_caught};

/// A configuration: the numbers of calls, and the flaw.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    pub(crate) left: Left,
    pub(crate) flaw: Flaw,
}

/// Calls that clients and operators may still make.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Left {
    undos: u8,
    retries: u8,
    replays: u8,
    deletes: u8,
}

/// A missing condition.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    None,
    /// An import is marked whatever its last undo is.
    AnyUndoBefore,
    /// An import is marked in any generation.
    AnyGeneration,
    /// The mark names the undo of a later read than the one that was checked.
    CheckedBeforeRead,
    /// A marked import is reopened.
    MarkIgnored,
    /// An import is deleted although it has changed since it was read.
    DeletedUnread,
    /// An undo begins before the stall time.
    NoStallTime,
}

/// A call in flight: its next step.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// Undo: reads the last undo of the import that it has read.
    LookBeforeUndo(Job),
    /// Undo: marks the import.
    Mark(Job),
    /// Retry, or replay: opens the next generation.
    Reopen(u32, Selection),
    /// Delete: reads the last undo of the import that it has read.
    LookBeforeDelete(Job),
    /// Delete: deletes the import.
    Delete(Job),
}

/// An undo job.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Undo {
    pub(crate) id: JobId,
    pub(crate) active: bool,
    /// Generation of the import in which it was created.
    pub(crate) generation: u32,
}

/// One state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) import: Job,
    pub(crate) undos: Vec<Undo>,
    pub(crate) calls: Vec<Call>,
    /// True if a worker of the import's last generation can still write.
    pub(crate) late: bool,
    pub(crate) left: Left,
    /// Number of writes.
    pub(crate) now: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    BeginUndo,
    BeginRetry(Selection),
    BeginDelete,
    Next(usize),
    EndGeneration,
    EndUndo(usize),
    PassStallTime,
}

impl State {
    pub(crate) fn is_active(&self, undo: Option<JobId>) -> bool {
        self.undos.iter().any(|other| other.active && Some(other.id) == undo)
    }

    pub(crate) fn tick(&mut self) -> Timestamp {
        self.now += 1;
        Timestamp(self.now)
    }

    fn key(&self) -> impl Hash + Eq {
        let of = |job: &Job| {
            (job.generation, job.status == Status::Canceled, job.undo.undone_by, job.is_deleted(), job.times.updated_at)
        };
        let call = |call: &Call| match call {
            Call::LookBeforeUndo(job) => (0, of(job)),
            Call::Mark(job) => (1, of(job)),
            Call::LookBeforeDelete(job) => (2, of(job)),
            Call::Delete(job) => (3, of(job)),
            Call::Reopen(generation, selection) => {
                (4, (*generation, *selection == Selection::All, None, false, Timestamp(0)))
            }
        };
        let calls: Vec<_> = self.calls.iter().map(call).collect();
        (of(&self.import), self.undos.clone(), calls, self.late, self.left)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

fn import() -> Job {
    let mut job = Job::waiting(JobId(Uuid::nil()), DEFAULT_TENANT.clone(), "import", Timestamp(0));
    job.split.item_count = 2;
    job
}

/// Ends the current generation with a failed item left.
fn end(state: &mut State) {
    let (generation, at) = (state.import.generation, state.tick());
    state.import.stop(generation, &Stop::canceled(at));
    let totals = Counts { succeeded: 1, failed: 0, skipped: 0 };
    state.import.finish(&Finish { generation, ..Finish::new(Status::Canceled, totals, at) });
    state.late = true;
}

impl Model for Calls {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let (undos, calls) = Default::default();
        let mut state = State { import: import(), undos, calls, late: false, left: self.left, now: 0 };
        end(&mut state);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let State { import, left, undos, calls, late, .. } = state;
        let is_shown = !import.is_deleted();
        let may_undo = import.status.is_final() && (!late || self.flaw == Flaw::NoStallTime);
        for (allowed, action) in [
            (left.undos > 0 && is_shown && may_undo, Action::BeginUndo),
            (left.retries > 0 && import.is_reopenable(), Action::BeginRetry(Selection::All)),
            (left.replays > 0 && import.is_reopenable(), Action::BeginRetry(Selection::Chunks(Default::default()))),
            (left.deletes > 0 && is_shown, Action::BeginDelete),
            (!import.status.is_final(), Action::EndGeneration),
            (*late && import.status.is_final(), Action::PassStallTime),
        ] {
            actions.extend(allowed.then_some(action));
        }
        actions.extend((0..calls.len()).map(Action::Next));
        actions.extend((0..undos.len()).filter(|i| undos[*i].active).map(Action::EndUndo));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::BeginUndo => {
                state.left.undos -= 1;
                state.calls.push(Call::LookBeforeUndo(last.import.clone()));
            }
            Action::BeginRetry(selection) => {
                let left = &mut state.left;
                let calls = if selection == Selection::All { &mut left.retries } else { &mut left.replays };
                *calls -= 1;
                state.calls.push(Call::Reopen(last.import.generation, selection));
            }
            Action::BeginDelete => {
                state.left.deletes -= 1;
                state.calls.push(Call::LookBeforeDelete(last.import.clone()));
            }
            Action::Next(call) => {
                let call = state.calls.remove(call);
                self.advance(&mut state, call);
            }
            Action::EndGeneration => end(&mut state),
            Action::EndUndo(undo) => state.undos[undo].active = false,
            Action::PassStallTime => state.late = false,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let sights: [Property<Self>; 5] = [
            Property::sometimes("an import is undone twice", |_, state: &State| state.undos.len() == 2),
            Property::sometimes("an import is deleted after its undo", |_, state: &State| {
                state.import.is_deleted() && !state.undos.is_empty()
            }),
            Property::sometimes("a retried import is undone", |_, state: &State| {
                state.undos.iter().any(|u| u.generation > 0)
            }),
            Property::sometimes("an undo and a retry at once", |_, state: &State| {
                state.calls.iter().any(|call| matches!(call, Call::Mark(_)))
                    && state.calls.iter().any(|call| matches!(call, Call::Reopen(..)))
            }),
            Property::sometimes("two undo calls at once", |_, state: &State| {
                state.calls.iter().filter(|call| matches!(call, Call::Mark(_))).count() == 2
            }),
        ];
        let properties: [Property<Self>; 4] = [
            Property::always(ONE, |_, state: &State| state.undos.iter().filter(|undo| undo.active).count() <= 1),
            Property::always(KEPT, |_, state: &State| {
                !state.import.is_deleted() || state.undos.iter().all(|undo| !undo.active)
            }),
            Property::always(LAST, |_, state: &State| {
                state.undos.iter().all(|undo| undo.generation == state.import.generation)
            }),
            Property::always(ALONE, |_, state: &State| !state.late || state.undos.iter().all(|undo| !undo.active)),
        ];
        let sights = sights.into_iter().filter(|_| self.flaw == Flaw::None);
        properties.into_iter().chain(sights).collect()
    }
}

const ONE: &str = "an import has at most one active undo";
const KEPT: &str = "an import is not deleted during its undo";
const LAST: &str = "no generation begins after an undo";
const ALONE: &str = "no worker of an import writes during its undo";

const ALL: Left = Left { undos: 3, retries: 1, replays: 1, deletes: 1 };

#[test]
fn an_import_has_one_active_undo_and_does_not_change_meanwhile() {
    holds_everywhere("calls that undo, retry, replay and delete an import", Calls { left: ALL, flaw: Flaw::None });
}

#[test]
fn without_one_of_its_conditions_an_undo_meets_another_change_of_its_import() {
    for (file, flaw, property) in [
        ("undo-after-any-undo", Flaw::AnyUndoBefore, ONE),
        ("undo-of-any-generation", Flaw::AnyGeneration, ALONE),
        ("undo-checked-before-read", Flaw::CheckedBeforeRead, ONE),
        ("undo-mark-ignored", Flaw::MarkIgnored, LAST),
        ("undo-deleted-unread", Flaw::DeletedUnread, KEPT),
        ("undo-without-stall-time", Flaw::NoStallTime, ALONE),
    ] {
        is_caught(file, property, &flaw, &Calls { left: ALL, flaw });
    }
}
