//! The events of a job: each is part of the write that changes the status, and is moved to the list by another write.
//!
//! The function that changed the status moves the events that its write returned; the sweeper moves those of a job on its
//! index. Any of them can die before its write, repeat it, or write late. The writes are the domain's own. Without any one
//! of their conditions, an event is missing, is listed twice, or its job is lost from the index or stays there.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use longshore_domain::event::{EventType, PendingEvent};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use stateright::{Model, Property};
use uuid::Uuid;

use crate::event_steps::{finish, reopen};
use crate::small::{holds_everywhere, is_caught};

/// Maximum number of functions that move events at once.
const MOVERS: usize = 2;

/// A configuration: the number of retries, and the flaw.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    pub(crate) retries: u32,
    pub(crate) flaw: Flaw,
}

/// A missing condition.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    None,
    /// The event is a write of its own, after the write of the status.
    EventApart,
    /// Events are moved although they are no longer pending.
    MoveUnchecked,
    /// Events are moved although the status has changed since it was read.
    StatusUnchecked,
    /// The final status removes the job from the index, although its event is pending.
    LeavesWithStatus,
    /// The move of the last event leaves the job on the index.
    StaysOnIndex,
    /// A deleted job is removed although it has pending events.
    RemovedWithEvents,
}

/// The next write of a function.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// Moves the events of the job as it was read.
    Move(Box<Job>),
    /// With the flaw [`Flaw::EventApart`]: adds the event of a status that is written.
    Add(PendingEvent),
}

pub(crate) type EventKey = (u32, EventType);

/// One state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) job: Job,
    pub(crate) is_removed: bool,
    /// True if the job is on the index of the sweeper.
    pub(crate) is_indexed: bool,
    pub(crate) writes: Vec<Write>,
    /// Number of entries of each event in the list.
    pub(crate) listed: BTreeMap<EventKey, u8>,
    /// The changes of the status that were made.
    pub(crate) changes: BTreeSet<EventKey>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    Begin,
    Finish(Status),
    Reopen,
    Delete,
    Remove,
    Sweep,
    Write(usize),
    LoseReply(usize),
    Crash(usize),
}

impl State {
    fn key(&self) -> impl Hash + Eq {
        let of = |job: &Job| {
            let pending: Vec<_> = job.pending_events.iter().map(|event| (event.generation, event.event_type)).collect();
            (job.generation, job.status, job.is_deleted(), pending)
        };
        let write = |write: &Write| match write {
            Write::Move(job) => (Some(of(job)), None),
            Write::Add(event) => (None, Some((event.generation, event.event_type))),
        };
        let writes: Vec<_> = self.writes.iter().map(write).collect();
        (of(&self.job), self.is_removed, self.is_indexed, writes, self.listed.clone(), self.changes.clone())
    }

    fn is_pending(&self, key: EventKey) -> bool {
        let mut pending = self.job.pending_events.iter();
        !self.is_removed && pending.any(|event| (event.generation, event.event_type) == key)
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

impl Model for Moves {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut job = Job::waiting(JobId(Uuid::nil()), DEFAULT_TENANT.clone(), "import", Timestamp(0));
        job.split.item_count = 1;
        let (writes, listed, changes) = Default::default();
        vec![State { job, is_removed: false, is_indexed: true, writes, listed, changes }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let State { job, writes, is_removed, is_indexed, .. } = state;
        let has_room = writes.len() < MOVERS;
        let is_live = !is_removed && !job.status.is_final() && has_room;
        let is_removable = match self.flaw {
            Flaw::RemovedWithEvents => job.is_deleted() && job.status.is_final(),
            _ => job.is_removable(),
        };
        for (allowed, action) in [
            (is_live && job.status == Status::Waiting, Action::Begin),
            (is_live, Action::Finish(Status::Completed)),
            (is_live, Action::Finish(Status::Canceled)),
            (!is_removed && job.generation < self.retries && job.is_reopenable(), Action::Reopen),
            (!is_removed && !job.is_deleted(), Action::Delete),
            (*is_indexed && !is_removed && is_removable, Action::Remove),
            (*is_indexed && !is_removed && has_room && !job.pending_events.is_empty(), Action::Sweep),
        ] {
            actions.extend(allowed.then_some(action));
        }
        for i in 0..writes.len() {
            actions.extend([Action::Write(i), Action::LoseReply(i), Action::Crash(i)]);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Begin => {
                state.job.begin(last.job.generation, Timestamp(0));
                self.changed(&mut state);
            }
            Action::Finish(status) => {
                finish(&mut state.job, status);
                state.is_indexed = self.flaw != Flaw::LeavesWithStatus || state.job.is_deleted();
                self.changed(&mut state);
            }
            Action::Reopen => {
                reopen(&mut state.job);
                state.is_indexed = true;
            }
            Action::Delete => {
                state.job.delete(Timestamp(0));
                state.is_indexed = true;
            }
            Action::Remove => (state.is_removed, state.is_indexed) = (true, false),
            Action::Sweep => state.writes.push(Write::Move(Box::new(last.job.clone()))),
            Action::Write(i) => {
                let write = state.writes.remove(i);
                self.write(&mut state, &write);
            }
            // The client repeats the call, whose first attempt was executed.
            Action::LoseReply(i) => {
                let write = last.writes[i].clone();
                let mut written = last.clone();
                self.write(&mut written, &write);
                (state.job, state.is_indexed, state.listed) = (written.job, written.is_indexed, written.listed);
            }
            Action::Crash(i) => drop(state.writes.remove(i)),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let sights: [Property<Self>; 5] = [
            Property::sometimes("two events of a job are pending", |_, state: &State| {
                state.job.pending_events.len() == 2
            }),
            Property::sometimes("an event of an earlier generation is moved", |_, state: &State| {
                state.job.generation == 1 && state.is_pending((0, EventType::Completed))
            }),
            Property::sometimes("a job is removed after its events are listed", |_, state: &State| {
                state.is_removed && state.listed.len() == 2
            }),
            Property::sometimes(
                "two functions move the same events",
                |_, state: &State| matches!(&state.writes[..], [Write::Move(one), Write::Move(other)] if one.pending_events == other.pending_events),
            ),
            Property::sometimes("every generation has ended, and nothing is pending", |_, state: &State| {
                state.job.generation == 1 && state.job.status.is_final() && state.job.pending_events.is_empty()
            }),
        ];
        let properties: [Property<Self>; 4] = [
            Property::always(NAMED, |_, state: &State| {
                let is_named = |change: &EventKey| state.listed.contains_key(change) || state.is_pending(*change);
                !state.writes.is_empty() || state.changes.iter().all(is_named)
            }),
            Property::always(ONCE, |_, state: &State| {
                let is_change = |(event, times): (&EventKey, &u8)| *times == 1 && state.changes.contains(event);
                state.listed.iter().all(is_change)
            }),
            Property::always(FOUND, |_, state: &State| {
                state.is_removed || state.is_indexed || !state.job.needs_sweep()
            }),
            Property::always(LEFT, |_, state: &State| state.is_removed || !state.is_indexed || state.job.needs_sweep()),
        ];
        let sights = sights.into_iter().filter(|_| self.flaw == Flaw::None);
        properties.into_iter().chain(sights).collect()
    }
}

const NAMED: &str = "every change of the status has an event";
const ONCE: &str = "an event is listed once, and only if the status has changed";
const FOUND: &str = "a job with work is on the index of the sweeper";
const LEFT: &str = "a job without work is not on the index of the sweeper";

#[test]
fn every_change_of_the_status_is_listed_once_whatever_dies() {
    holds_everywhere("events of a job, moved to the list", Moves { retries: 1, flaw: Flaw::None });
}

#[test]
fn without_one_of_its_conditions_an_event_is_lost_or_doubled_or_its_job_is() {
    for (file, flaw, property) in [
        ("event-apart-from-status", Flaw::EventApart, NAMED),
        ("event-moved-unchecked", Flaw::MoveUnchecked, ONCE),
        ("event-moved-after-reopen", Flaw::StatusUnchecked, FOUND),
        ("event-of-an-unindexed-job", Flaw::LeavesWithStatus, FOUND),
        ("event-moved-and-job-indexed", Flaw::StaysOnIndex, LEFT),
        ("event-of-a-removed-job", Flaw::RemovedWithEvents, NAMED),
    ] {
        is_caught(file, property, &flaw, &Moves { retries: 1, flaw });
    }
}
