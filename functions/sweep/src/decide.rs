//! What a job needs, decided from its ledger alone: pure.
//!
//! Everything here answers one question: has this job been still for longer than anything healthy explains? Waiting
//! doubles with each push that was in vain; what three pushes did not move is given up, so that the job ends.

use std::collections::BTreeSet;

use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobError, Stage, Status, Stop};
use longshore_domain::retry::MAX_QUEUE_DELAY_S;
use longshore_domain::time_stamp::Timestamp;

/// Pushes in vain before something is given up.
pub const PUSHES: u32 = 3;
/// While chunk messages wait in their queue, a still group is explained by them for this many times longer.
const BUSY_FACTOR: i64 = 8;

/// What the decision depends on beside the job.
#[derive(Copy, Clone, Debug)]
pub struct Circumstances<'a> {
    /// The time.
    pub now: Timestamp,
    /// Seconds without progress that are still healthy: a visibility timeout and a margin.
    pub stall_s: i64,
    /// The queue of the job's own chunks is empty.
    pub queue_idle: bool,
    /// The job's chunks (group, chunk) that wait at the gate of their type: they are called in, and not pushed.
    pub waiting: &'a BTreeSet<(u32, u32)>,
}

/// One push.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Tell the job to stop.
    Stop(Stop),
    /// Send the create message again: it was lost, or its splitter is dead.
    SendCreate,
    /// Ask for completion again: the message was lost, or completion failed.
    SendComplete,
    /// Take away what belongs to a deleted job: its files, its upload, its records, and the job at last.
    Remove,
    /// Completion failed again and again: give the final status without a report.
    EndWithoutReport(Stop),
    /// Say of a group that it is done: whoever finished it died before.
    RollUp {
        /// The group.
        group: u32,
    },
    /// Send chunks again.
    SendChunks {
        /// Their group.
        group: u32,
        /// How often this was done before.
        seen: u32,
        /// Their numbers.
        chunks: Vec<u32>,
    },
    /// Commit what is left of these chunks as failed.
    GiveUp {
        /// Their group.
        group: u32,
        /// Their numbers.
        chunks: Vec<u32>,
    },
}

/// What a job needs now; nothing if it is well, or has ended and is not deleted. `chunks_of` tells how many chunks a group has.
pub fn decide(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.status.is_final() {
        return remove(job, at).into_iter().collect();
    }
    if job.is_live() && job.is_deleted() {
        return vec![Action::Stop(Stop::deleted(at.now))];
    }
    if job.is_live() && at.now >= job.deadline_at {
        return vec![Action::Stop(failed("time_limit", "the job took longer than a job may take", at.now))];
    }
    match job.stage {
        Stage::Queued => wait_for(job, at, Action::SendCreate).into_iter().collect(),
        Stage::Stopping => complete(job, at).into_iter().collect(),
        Stage::Splitting | Stage::Processing | Stage::Finishing | Stage::Done => running(job, groups, chunks_of, at),
    }
}

/// A deleted job goes once it has been over for a stall's time. That is longer than a function may run: whoever saw the
/// job alive, and could still write a file, is dead by then, so that nothing appears behind the removal.
fn remove(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let ended_at = job.finished_at.unwrap_or(job.updated_at);
    (job.is_deleted() && at.now >= ended_at.plus_seconds(at.stall_s)).then_some(Action::Remove)
}

fn running(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.all_done() {
        return complete(job, at).into_iter().collect();
    }
    let mut actions: Vec<_> = groups.iter().filter_map(|group| push_group(job, group, &chunks_of, at)).collect();
    if job.stage == Stage::Splitting {
        actions.extend(resume_split(job, at));
    }
    actions
}

fn resume_split(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let message = "the file could not be split: the splitter died or failed again and again";
    let stop = || Action::Stop(failed("split_failed", message, at.now));
    wait_for(job, at, Action::SendCreate).map(|push| if job.resends >= PUSHES { stop() } else { push })
}

fn complete(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let message = "the report could not be written: completion died or failed again and again";
    let end =
        || Action::EndWithoutReport(own_stop(job, at).unwrap_or_else(|| failed("completion_failed", message, at.now)));
    wait_for(job, at, Action::SendComplete).map(|push| if job.resends >= 2 * PUSHES { end() } else { push })
}

/// The reason for which a job was told to stop: it ends so, with a report or without one.
fn own_stop(job: &Job, at: &Circumstances<'_>) -> Option<Stop> {
    let stop = job.stop.as_ref().filter(|_| job.stage == Stage::Stopping)?;
    Some(Stop { at: at.now, ..stop.clone() })
}

/// The push, once the job has been still for a stall's time, doubled with each push before.
fn wait_for(job: &Job, at: &Circumstances, push: Action) -> Option<Action> {
    let patience_s = at.stall_s << job.resends.min(6);
    (at.now >= job.updated_at.plus_seconds(patience_s)).then_some(push)
}

fn push_group(job: &Job, group: &Group, chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Option<Action> {
    if group.is_done() {
        let forgotten = !job.done_groups.contains(&group.number);
        return (forgotten && still(group.progressed_at, 0, at)).then_some(Action::RollUp { group: group.number });
    }
    let chunks: Vec<_> = (0..chunks_of(group.number)).filter(|chunk| overdue(group, *chunk, at)).collect();
    if chunks.is_empty() {
        return None;
    }
    let (group, seen) = (group.number, group.resends);
    Some(if seen >= PUSHES { Action::GiveUp { group, chunks } } else { Action::SendChunks { group, seen, chunks } })
}

/// A chunk is overdue when its group is still, or its round is, for longer than the queue explains.
fn overdue(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    let cursor = group.cursors.get(&chunk);
    if cursor.is_some_and(|c| c.finished) || at.waiting.contains(&(group.number, chunk)) {
        return false;
    }
    let Some(due) = cursor.and_then(|c| c.due) else { return still(group.progressed_at, group.resends, at) };
    let sent_by_worker = due.millis_since(group.progressed_at) <= MAX_QUEUE_DELAY_S * 1000;
    let first_push_is_ours = !sent_by_worker && group.resends == 0;
    if first_push_is_ours { at.now >= due } else { still(due.max(group.progressed_at), group.resends, at) }
}

fn still(since: Timestamp, resends: u32, at: &Circumstances<'_>) -> bool {
    let factor = if at.queue_idle { 1 } else { BUSY_FACTOR };
    at.now >= since.plus_seconds((at.stall_s * factor) << resends.min(6))
}

fn failed(code: &str, message: &str, at: Timestamp) -> Stop {
    Stop { status: Status::Failed, error: Some(JobError::new(code, message)), at }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
