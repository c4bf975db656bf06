//! Decides the pushes that a job needs, from its ledger alone. Pure.
//!
//! A job is pushed if it has made no progress for longer than a healthy job can take. The wait doubles with each push
//! without effect. Work without progress after [`PUSHES`] pushes is given up, so that the job ends.

use longshore_domain::cost::SpendingLimit;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobError, Stage, Status, Stop};
use longshore_domain::message::CreateMessage;
use longshore_domain::timestamp::Timestamp;

use crate::overdue::{Circumstances, is_overdue, is_suspect, is_unsent, wait_s};

/// Pushes without effect before something is given up: 31 stall times after the last progress, or 85 minutes by
/// default. A service that every delivery needs may be unavailable for that long. A message that arrives during a pause
/// resets the count.
pub const PUSHES: u32 = 4;

/// Pushes without effect before a job with a dead create message is stopped. Two, because one push can stay counted
/// throughout a pause: a splitter that acknowledges it before it is counted has nothing to reset.
pub const DEAD_SPLIT_PUSHES: u32 = 2;

/// Seconds for which a handler must be unavailable before `job.waiting` is added.
const OUTAGE_S: i64 = 60;

/// A push.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Stop the job.
    Stop(Stop),
    /// Send the create message again: it was lost, or its splitter died.
    SendCreate,
    /// Request completion again: the message was lost, or completion failed.
    SendComplete,
    /// Add `job.waiting`: the handler of the job's type is unavailable.
    RecordOutage {
        /// Start of the outage.
        since: Timestamp,
    },
    /// Move the pending events to the list: the function that changed the status died before it.
    MoveEvents,
    /// Remove a deleted job: its files, its upload, its records, and finally the job itself.
    Remove,
    /// Set the final status without a report: completion has failed repeatedly.
    EndWithoutReport(Stop),
    /// Mark a group as done: the worker that finished it died before marking it.
    RollUp {
        /// Number of the group.
        group: u32,
    },
    /// Send chunks again.
    SendChunks {
        /// Number of the group.
        group: u32,
        /// Number of earlier pushes of the group.
        seen: u32,
        /// Numbers of the chunks.
        chunks: Vec<u32>,
    },
    /// Commit the remaining items of these chunks as failed.
    GiveUp {
        /// Number of the group.
        group: u32,
        /// Numbers of the chunks.
        chunks: Vec<u32>,
    },
}

impl Action {
    /// Returns the name in metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Stop(_) => "stop",
            Self::SendCreate => "send_create",
            Self::SendComplete => "send_complete",
            Self::RecordOutage { .. } => "record_outage",
            Self::MoveEvents => "move_events",
            Self::Remove => "remove",
            Self::EndWithoutReport(_) => "end_without_report",
            Self::RollUp { .. } => "roll_up",
            Self::SendChunks { .. } => "send_chunks",
            Self::GiveUp { .. } => "give_up",
        }
    }
}

/// Decides the pushes that a job needs now. Returns none if the job is healthy, or has ended, is not deleted and has no
/// pending event. `chunks_of` returns the number of chunks of a group.
pub fn decide(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    let events = (!job.pending_events.is_empty()).then_some(Action::MoveEvents);
    progress(job, groups, chunks_of, at).into_iter().chain(record_outage(job, at)).chain(events).collect()
}

/// Returns the action for an outage that has lasted a minute, unless the job has its event. The outage may have begun
/// before the job.
fn record_outage(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let since = at.outage.filter(|since| at.now >= since.plus_seconds(OUTAGE_S))?;
    let is_recorded = job.recorded_outage.is_some_and(|recorded| recorded >= since);
    let waits = job.is_live() && job.status == Status::Running && !job.all_done();
    (waits && !is_recorded).then_some(Action::RecordOutage { since })
}

fn progress(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.status.is_final() {
        return remove(job, at).into_iter().collect();
    }
    if job.is_live() && job.is_deleted() {
        return vec![Action::Stop(Stop::deleted(at.now))];
    }
    if job.is_live() && at.now >= job.times.deadline_at {
        return vec![Action::Stop(failed("time_limit", "the job exceeded its time limit", at.now))];
    }
    if let Some(error) = cost_exceeded(job, groups).filter(|_| !at.is_paused) {
        return vec![Action::Stop(Stop { status: Status::Failed, error: Some(error), at: at.now })];
    }
    match job.stage {
        Stage::Queued if at.is_paused => Vec::new(),
        Stage::Queued => wait_for(job, at, Action::SendCreate).into_iter().collect(),
        Stage::Stopping => complete(job, at).into_iter().collect(),
        Stage::Splitting | Stage::Processing | Stage::Finishing | Stage::Done => running(job, groups, chunks_of, at),
    }
}

/// Returns the error of a running job that costs too much. Workers check this after their commits; but none commits
/// while a handler is unavailable and the walk over a dataset goes on, or if a worker dies before its check.
fn cost_exceeded(job: &Job, groups: &[Group]) -> Option<JobError> {
    let max = job.tolerance.max_cost.filter(|_| job.is_live() && job.status == Status::Running)?;
    SpendingLimit::without_workers(max).exceeded(job, groups)
}

/// Time for which a file can be prepared, in seconds: the timeout of the function, and a minute.
const PREPARATION_S: i64 = 720;

/// Removes a deleted job a stall time after its end. That is longer than a function can run: every function that could
/// still write a file for the unfinished job has ended by then, so no file appears after the removal.
fn remove(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let ended_at = job.times.finished_at.unwrap_or(job.times.updated_at);
    let may_be_prepared = job.preparation.is_some() || job.file().is_some_and(|file| file.original.is_some());
    let wait_s = if may_be_prepared { at.stall_s.max(PREPARATION_S) } else { at.stall_s };
    (job.is_removable() && at.now >= ended_at.plus_seconds(wait_s)).then_some(Action::Remove)
}

fn running(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.all_done() {
        return complete(job, at).into_iter().collect();
    }
    if at.is_paused {
        // Groups that have ended are marked; everything else begins again after the pause.
        return groups
            .iter()
            .filter(|group| group.is_done())
            .filter_map(|group| push_group(job, group, &chunks_of, at))
            .collect();
    }
    let mut actions: Vec<_> = groups.iter().filter_map(|group| push_group(job, group, &chunks_of, at)).collect();
    if !actions.iter().any(|action| matches!(action, Action::SendChunks { .. })) {
        actions.extend(probe(groups, &chunks_of, at));
    }
    if job.stage == Stage::Splitting {
        actions.extend(resume_split(job, at));
    }
    actions
}

/// Decides the consequence of a dead-lettered create message for its job. Another splitter may be running, or its
/// message may be waiting in its lane: a push of the sweeper, or a continuation of the dead splitter. So the job is
/// stopped only after [`DEAD_SPLIT_PUSHES`] without effect, and not while it is paused, which the caller checks. The
/// dead letter may stay in its queue for days; it is harmless for a job that has ended.
pub fn decide_dead_split(job: &Job, dead_letter: &CreateMessage, now: Timestamp, stall_s: i64) -> Option<Action> {
    let is_pushed = awaits_split(job, dead_letter) && job.resends >= DEAD_SPLIT_PUSHES;
    let wait_s = stall_s << job.resends.min(6);
    (is_pushed && now >= job.times.updated_at.plus_seconds(wait_s)).then(|| Action::Stop(split_failed(now)))
}

/// Returns true if the job still waits for its split by this message, or by another one of its generation.
pub fn awaits_split(job: &Job, dead_letter: &CreateMessage) -> bool {
    job.is_live() && job.generation == dead_letter.generation && !job.split.ended
}

fn split_failed(now: Timestamp) -> Stop {
    failed("split_failed", "the file could not be split: the splitter crashed or failed on every attempt", now)
}

fn resume_split(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let stop = || Action::Stop(split_failed(at.now));
    // A job that waits for its turn to be prepared waits like one in the create queue.
    let is_given_up = job.resends >= PUSHES && !job.awaits_preparation();
    wait_for(job, at, Action::SendCreate).map(|push| if is_given_up { stop() } else { push })
}

fn complete(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let message = "the report could not be written: completion crashed or failed on every attempt";
    let end =
        || Action::EndWithoutReport(own_stop(job, at).unwrap_or_else(|| failed("completion_failed", message, at.now)));
    wait_for(job, at, Action::SendComplete).map(|push| if job.resends >= 2 * PUSHES { end() } else { push })
}

/// Returns the reason for which the job was stopped. The job ends with it, with or without a report.
fn own_stop(job: &Job, at: &Circumstances<'_>) -> Option<Stop> {
    let stop = job.stop.as_ref().filter(|_| job.stage == Stage::Stopping)?;
    Some(Stop { at: at.now, ..stop.clone() })
}

/// Returns the push once the job has made no progress for a stall time, doubled for each earlier push.
fn wait_for(job: &Job, at: &Circumstances, push: Action) -> Option<Action> {
    let wait_s = at.stall_s << job.resends.min(6);
    (at.now >= job.times.updated_at.plus_seconds(wait_s)).then_some(push)
}

fn push_group(job: &Job, group: &Group, chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Option<Action> {
    if group.is_done() {
        let is_unmarked = !job.split.done_groups.contains(&group.number);
        let is_stalled = at.now >= group.progressed_at.plus_seconds(at.stall_s);
        return (is_unmarked && is_stalled).then_some(Action::RollUp { group: group.number });
    }
    let chunks: Vec<_> = (0..chunks_of(group.number)).filter(|chunk| is_overdue(group, *chunk, at)).collect();
    if chunks.is_empty() {
        return None;
    }
    let seen = group.resends;
    if seen < PUSHES {
        return Some(Action::SendChunks { group: group.number, seen, chunks });
    }
    // A round whose message has not been sent yet is neither lost nor dead: the pushes were of other chunks of the
    // group.
    let (unsent, dead): (Vec<_>, Vec<_>) = chunks.into_iter().partition(|chunk| is_unsent(group, *chunk, at));
    let group = group.number;
    Some(if unsent.is_empty() {
        Action::GiveUp { group, chunks: dead }
    } else {
        Action::SendChunks { group, seen, chunks: unsent }
    })
}

/// Returns a push of the first group with a suspect chunk, unless another group was pushed recently: the waits between
/// probes of a job double like those of its groups.
fn probe(groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Option<Action> {
    let pushed = groups.iter().filter(|group| group.resends > 0 && !group.is_done());
    if pushed.clone().any(|group| at.now < group.sent_at.plus_seconds(wait_s(group.resends, at))) {
        return None;
    }
    groups.iter().filter(|group| !group.is_done()).find_map(|group| {
        let chunks: Vec<_> = (0..chunks_of(group.number)).filter(|chunk| is_suspect(group, *chunk, at)).collect();
        let (group, seen) = (group.number, group.resends);
        (!chunks.is_empty()).then_some(Action::SendChunks { group, seen, chunks })
    })
}

fn failed(code: &str, message: &str, at: Timestamp) -> Stop {
    Stop { status: Status::Failed, error: Some(JobError::new(code, message)), at }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "pauses_tests.rs"]
mod pauses_tests;

#[cfg(test)]
#[path = "stops_tests.rs"]
mod stops_tests;
