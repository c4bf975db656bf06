//! The events of a job: each is part of the write that changes the status, and is moved to the list by another write.
//!
//! The function that changed the status moves the events that its write returned; the sweeper moves those of a job on its
//! index. Any of them can die before its write, repeat it, or write late. The writes are the domain's own. Without any one
//! of their conditions, an event is missing, is listed twice, or its job is lost from the index or stays there.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use longshore_domain::event::{EventType, PendingEvent, to_move};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Reopen, Selection, Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use stateright::{Model, Property};
use uuid::Uuid;

use crate::small::{Small, holds_everywhere, is_caught};

/// Maximum number of functions that move events at once.
const MOVERS: usize = 2;

/// A configuration: the number of retries, and the flaw.
#[derive(Clone, Debug)]
struct Moves {
    retries: u32,
    flaw: Flaw,
}

/// A missing condition.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Flaw {
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
enum Write {
    /// Moves the events of the job as it was read.
    Move(Box<Job>),
    /// With the flaw [`Flaw::EventApart`]: adds the event of a status that is written.
    Add(PendingEvent),
}

type EventKey = (u32, EventType);

/// One state.
#[derive(Clone, Debug)]
struct State {
    job: Job,
    is_removed: bool,
    /// True if the job is on the index of the sweeper.
    is_indexed: bool,
    writes: Vec<Write>,
    /// Number of entries of each event in the list.
    listed: BTreeMap<EventKey, u8>,
    /// The changes of the status that were made.
    changes: BTreeSet<EventKey>,
}

#[derive(Clone, PartialEq, Debug)]
enum Action {
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

impl Moves {
    /// Records a change of the status, which a function made that then moves the events of the job.
    fn changed(&self, state: &mut State) {
        let event = state.job.pending_events.iter().next_back().copied();
        state.changes.extend(event.map(|event| (event.generation, event.event_type)));
        if self.flaw == Flaw::EventApart {
            state.job.pending_events.retain(|pending| Some(*pending) != event);
            state.writes.extend(event.map(Write::Add));
        } else {
            state.writes.push(Write::Move(Box::new(state.job.clone())));
        }
    }

    fn write(&self, state: &mut State, write: &Write) {
        match write {
            Write::Add(event) => {
                state.job.pending_events.insert(*event);
                state.writes.push(Write::Move(Box::new(state.job.clone())));
            }
            Write::Move(_) if state.is_removed => {}
            Write::Move(read) => self.move_events(state, read),
        }
    }

    /// The transaction of a move; a function whose transaction is refused reads the job again.
    fn move_events(&self, state: &mut State, read: &Job) {
        let (events, mut conditions) = (to_move(read), read.clone());
        if self.flaw == Flaw::MoveUnchecked {
            conditions.pending_events.clone_from(&state.job.pending_events);
        }
        if self.flaw == Flaw::StatusUnchecked {
            (conditions.generation, conditions.status) = (state.job.generation, state.job.status);
            conditions.times.deleted_at = state.job.times.deleted_at;
        }
        if state.job.events_moved(&conditions, &events) == Transition::Refused {
            if !state.job.pending_events.is_empty() {
                state.writes.push(Write::Move(Box::new(state.job.clone())));
            }
            return;
        }
        for event in &events {
            *state.listed.entry((event.change.generation, event.change.event_type)).or_default() += 1;
        }
        let mut left = read.clone();
        left.events_moved(read, &events);
        if !left.needs_sweep() && self.flaw != Flaw::StaysOnIndex {
            state.is_indexed = false;
        }
    }
}

fn finish(job: &mut Job, status: Status) {
    let totals = Counts { succeeded: 0, failed: 1, skipped: 0 };
    let (generation, report, error, at) = (job.generation, None, None, Timestamp(0));
    job.finish(&Finish { generation, status, totals, report, error, at });
}

fn reopen(job: &mut Job) {
    let (generation, at, deadline_at) = (job.generation, Timestamp(0), Timestamp(i64::MAX));
    job.reopen(&Reopen { generation, at, deadline_at, selection: Selection::All, registration: None });
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

impl Small for Moves {
    fn sentence(&self, state: &State, action: &Action) -> String {
        let write = |i: &usize| match &state.writes[*i] {
            Write::Move(read) => format!("writes {} events to the list", read.pending_events.len()),
            Write::Add(_) => "adds the event to the job".into(),
        };
        match action {
            Action::Begin => format!("generation {} starts", state.job.generation),
            Action::Finish(status) => format!("generation {} ends as {}", state.job.generation, status.as_str()),
            Action::Reopen => format!("generation {} begins", state.job.generation + 1),
            Action::Delete => "the client deletes the job".into(),
            Action::Remove => "the sweeper removes the job".into(),
            Action::Sweep => "the sweeper reads the job".into(),
            Action::Write(i) => format!("a function {}", write(i)),
            Action::LoseReply(i) => format!("a function {}, and the reply is lost", write(i)),
            Action::Crash(_) => "a function dies before its write".into(),
        }
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
