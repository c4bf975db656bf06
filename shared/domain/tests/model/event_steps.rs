//! The writes of the functions that change the status of a job and move its events, and their sentences.

use longshore_domain::event::{Event, JobChange, to_move};
use longshore_domain::job::{Finish, Job, Reopen, Selection, Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::timestamp::Timestamp;

use crate::event_moves::{Action, Flaw, Moves, State, Write};
use crate::small::Small;

impl Moves {
    /// Records a change of the status, which a function made that then moves the events of the job.
    pub(crate) fn changed(&self, state: &mut State) {
        let event = state.job.pending_events.iter().next_back().copied();
        state.changes.extend(event.map(|event| (event.generation, event.event_type)));
        if self.flaw == Flaw::EventApart {
            state.job.pending_events.retain(|pending| Some(*pending) != event);
            state.writes.extend(event.map(Write::Add));
        } else {
            state.writes.push(Write::Move(Box::new(state.job.clone())));
        }
    }

    pub(crate) fn write(&self, state: &mut State, write: &Write) {
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
        for JobChange { change, .. } in events.iter().filter_map(Event::job) {
            *state.listed.entry((change.generation, change.event_type)).or_default() += 1;
        }
        let mut left = read.clone();
        left.events_moved(read, &events);
        if !left.needs_sweep() && self.flaw != Flaw::StaysOnIndex {
            state.is_indexed = false;
        }
    }
}

pub(crate) fn finish(job: &mut Job, status: Status) {
    let totals = Counts { succeeded: 0, failed: 1, skipped: 0 };
    job.finish(&Finish { generation: job.generation, ..Finish::new(status, totals, Timestamp(0)) });
}

pub(crate) fn reopen(job: &mut Job) {
    let (generation, at, deadline_at) = (job.generation, Timestamp(0), Timestamp(i64::MAX));
    job.reopen(&Reopen { generation, at, deadline_at, selection: Selection::All, registration: None });
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
