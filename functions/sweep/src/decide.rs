//! Decides from a job's ledger alone which push it needs. Pure.
//!
//! Every rule answers one question: has this job made no progress for longer than any healthy cause explains? The wait
//! doubles with each push without effect. Work that [`PUSHES`] of them did not move is given up, so that the job ends.
//!
//! A chunk without progress is **overdue** if its message can no longer be waiting: the queue is empty, or a stall time
//! ago workers had already received messages of its tenant that were sent well after it. The stall time is needed
//! because a worker may still be processing the chunk, or may have died and the message is not visible again yet. A
//! chunk is **suspect** if none of its tenant's messages was received for a stall time: either all are lost, or the
//! queue has no turn for this tenant. The sweeper then sends one group again, as a probe. A probe that is received
//! shows that every older message is lost, and no further stall time is needed: before the probe, nothing of the tenant
//! was received for so long that no worker can still be processing it. A suspect chunk is never given up, because it
//! may only be queued.

use std::collections::BTreeSet;

use longshore_domain::cursor::Cursor;
use longshore_domain::deliveries::{Deliveries, INTERVAL_S, INTERVALS, MARGIN_S};
use longshore_domain::group::{CHUNKS_PER_GROUP, Group};
use longshore_domain::job::{Job, JobError, Stage, Status, Stop};
use longshore_domain::message::CreateMessage;
use longshore_domain::time_stamp::Timestamp;

/// Pushes without effect before something is given up: 31 stall times after the last progress, or 85 minutes by
/// default. A service that every delivery needs may be unavailable for that long.
pub const PUSHES: u32 = 4;

/// Time in seconds that the delivery records cover, without the intervals at both ends.
const REACH_S: i64 = (INTERVALS - 2) * INTERVAL_S;

/// Inputs of the decision besides the job.
#[derive(Copy, Clone, Debug)]
pub struct Circumstances<'a> {
    /// The current time.
    pub now: Timestamp,
    /// Stall time: seconds without progress that are still healthy, a visibility timeout plus a margin.
    pub stall_s: i64,
    /// State of the queue of the job's chunks.
    pub queue: Queue,
    /// The job's chunks (group, chunk) that are parked at the concurrency limit of their type: they are woken, not
    /// pushed.
    pub waiting: &'a BTreeSet<(u32, u32)>,
}

/// State of the queue of a job's chunks, as far as it explains a chunk without progress.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Queue {
    /// No message is waiting, delayed or being processed.
    Idle,
    /// The queue has messages.
    Busy {
        /// Newest sending time among the tenant's messages that had been received a stall time ago, or recently after a
        /// quiet period; `None` if unknown.
        passed: Option<Timestamp>,
        /// Nothing of the tenant was received for a stall time.
        quiet: bool,
    },
}

impl Queue {
    /// State of a queue with messages, by the records of its deliveries to a tenant.
    pub fn busy(deliveries: &Deliveries, now: Timestamp, stall_s: i64) -> Self {
        // The records do not cover a longer time, and a stall time is waited for in any case.
        let reach_s = stall_s.min(REACH_S);
        let before = now.plus_seconds(-reach_s);
        let probed = deliveries.newest_after_quiet(reach_s, now.plus_seconds(-MARGIN_S));
        let passed = deliveries.newest_by(before).max(probed);
        Self::Busy { passed, quiet: deliveries.is_quiet_since(before) }
    }

    /// Returns true if a message that was sent at this time can no longer be waiting.
    fn is_past(self, sent_at: Timestamp) -> bool {
        match self {
            Self::Idle => true,
            Self::Busy { passed, .. } => passed.is_some_and(|passed| passed >= sent_at.plus_seconds(MARGIN_S)),
        }
    }
}

/// A push.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Stop the job.
    Stop(Stop),
    /// Send the create message again: it was lost, or its splitter is dead.
    SendCreate,
    /// Request completion again: the message was lost, or completion failed.
    SendComplete,
    /// Remove a deleted job: its files, its upload, its records, and finally the job itself.
    Remove,
    /// Set the final status without a report: completion has failed repeatedly.
    EndWithoutReport(Stop),
    /// Mark a group as done: the worker that finished it died before it could.
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

/// Decides the pushes that a job needs now. Returns none if the job is healthy, or has ended and is not deleted.
/// `chunks_of` returns the number of chunks of a group.
pub fn decide(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.status.is_final() {
        return remove(job, at).into_iter().collect();
    }
    if job.is_live() && job.is_deleted() {
        return vec![Action::Stop(Stop::deleted(at.now))];
    }
    if job.is_live() && at.now >= job.times.deadline_at {
        return vec![Action::Stop(failed("time_limit", "the job took longer than a job may take", at.now))];
    }
    match job.stage {
        Stage::Queued => wait_for(job, at, Action::SendCreate).into_iter().collect(),
        Stage::Stopping => complete(job, at).into_iter().collect(),
        Stage::Splitting | Stage::Processing | Stage::Finishing | Stage::Done => running(job, groups, chunks_of, at),
    }
}

/// Removes a deleted job once it has been over for a stall time. That is longer than a function may run: every function
/// that saw the job alive and could still write a file is dead by then, so no file appears after the removal.
fn remove(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let ended_at = job.times.finished_at.unwrap_or(job.times.updated_at);
    (job.is_deleted() && at.now >= ended_at.plus_seconds(at.stall_s)).then_some(Action::Remove)
}

fn running(job: &Job, groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Vec<Action> {
    if job.all_done() {
        return complete(job, at).into_iter().collect();
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

/// Decides the consequence of a dead create message for its job. Another splitter may be running, or its message may
/// wait in its lane: one that the sweeper sent, or a continuation of the dead splitter. So the job is stopped only
/// after a push had no effect either; a dead-letter message may stay in its queue for days. Harmless for a job that has
/// ended.
pub fn decide_dead_split(job: &Job, dead_letter: &CreateMessage, now: Timestamp, stall_s: i64) -> Option<Action> {
    let is_about_it = awaits_split(job, dead_letter) && job.resends > 0;
    let patience_s = stall_s << job.resends.min(6);
    (is_about_it && now >= job.times.updated_at.plus_seconds(patience_s)).then(|| Action::Stop(split_failed(now)))
}

/// Returns true if the job still has to be split by this message, or by another one like it.
pub fn awaits_split(job: &Job, dead_letter: &CreateMessage) -> bool {
    job.is_live() && job.generation == dead_letter.generation && !job.split.ended
}

fn split_failed(now: Timestamp) -> Stop {
    failed("split_failed", "the file could not be split: the splitter died or failed again and again", now)
}

fn resume_split(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let stop = || Action::Stop(split_failed(at.now));
    wait_for(job, at, Action::SendCreate).map(|push| if job.resends >= PUSHES { stop() } else { push })
}

fn complete(job: &Job, at: &Circumstances<'_>) -> Option<Action> {
    let message = "the report could not be written: completion died or failed again and again";
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
    let patience_s = at.stall_s << job.resends.min(6);
    (at.now >= job.times.updated_at.plus_seconds(patience_s)).then_some(push)
}

fn push_group(job: &Job, group: &Group, chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Option<Action> {
    if group.is_done() {
        let forgotten = !job.split.done_groups.contains(&group.number);
        let still = at.now >= group.progressed_at.plus_seconds(at.stall_s);
        return (forgotten && still).then_some(Action::RollUp { group: group.number });
    }
    let chunks: Vec<_> = (0..chunks_of(group.number)).filter(|chunk| is_overdue(group, *chunk, at)).collect();
    if chunks.is_empty() {
        return None;
    }
    let seen = group.resends;
    if seen < PUSHES {
        return Some(Action::SendChunks { group: group.number, seen, chunks });
    }
    // The pushes were of other chunks of the group: a round whose message has not been sent yet is neither lost nor
    // dead.
    let (unsent, dead): (Vec<_>, Vec<_>) = chunks.into_iter().partition(|chunk| is_unsent(group, *chunk, at));
    let group = group.number;
    Some(if unsent.is_empty() {
        Action::GiveUp { group, chunks: dead }
    } else {
        Action::SendChunks { group, seen, chunks: unsent }
    })
}

fn is_unsent(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    Open::new(group, chunk, at).is_some_and(|open| open.unsent_round().is_some())
}

/// Returns a push of the first group with a suspect chunk, unless another group was pushed recently: the waits between
/// probes of a job double like those of its groups.
fn probe(groups: &[Group], chunks_of: impl Fn(u32) -> u32, at: &Circumstances<'_>) -> Option<Action> {
    let pushed = groups.iter().filter(|group| group.resends > 0 && !group.is_done());
    if pushed.clone().any(|group| at.now < group.sent_at.plus_seconds(patience_s(group.resends, at))) {
        return None;
    }
    groups.iter().filter(|group| !group.is_done()).find_map(|group| {
        let chunks: Vec<_> = (0..chunks_of(group.number)).filter(|chunk| is_suspect(group, *chunk, at)).collect();
        let (group, seen) = (group.number, group.resends);
        (!chunks.is_empty()).then_some(Action::SendChunks { group, seen, chunks })
    })
}

/// Returns true if a group may have overdue or suspect chunks; otherwise its manifest need not be read.
pub fn may_need_push(group: &Group, at: &Circumstances<'_>) -> bool {
    let is_slow = |chunk| is_overdue(group, chunk, at) || is_suspect(group, chunk, at);
    // The numbers of chunks without a cursor are unknown here; `u32::MAX` represents all of them.
    let unbegun = (group.cursors.len() < CHUNKS_PER_GROUP).then_some(u32::MAX);
    !group.is_done() && group.cursors.keys().copied().chain(unbegun).any(is_slow)
}

fn is_overdue(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    let Some(open) = Open::new(group, chunk, at) else { return false };
    if let Some(due) = open.unsent_round() {
        return at.now >= due;
    }
    let is_first = open.cursor.is_none() && at.queue != Queue::Idle;
    // Other chunks of the group may make progress while this one was never begun.
    let since = if is_first { group.sent_at } else { open.still_since() };
    at.queue.is_past(since) && at.now >= since.plus_seconds(patience_s(group.resends, at))
}

fn is_suspect(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    let Some(open) = Open::new(group, chunk, at) else { return false };
    let is_quiet = matches!(at.queue, Queue::Busy { quiet: true, .. });
    let waited = at.now >= open.still_since().plus_seconds(patience_s(group.resends, at));
    is_quiet && waited && open.unsent_round().is_none()
}

/// Returns the wait in seconds for a group with this many pushes without effect.
fn patience_s(resends: u32, at: &Circumstances<'_>) -> i64 {
    at.stall_s << resends.min(6)
}

/// A chunk that has not ended and is not parked at the concurrency limit of its type.
struct Open<'a> {
    group: &'a Group,
    cursor: Option<&'a Cursor>,
}

impl<'a> Open<'a> {
    fn new(group: &'a Group, chunk: u32, at: &Circumstances<'_>) -> Option<Self> {
        let cursor = group.cursors.get(&chunk);
        let ended = cursor.is_some_and(|cursor| cursor.finished) || at.waiting.contains(&(group.number, chunk));
        (!ended).then_some(Self { group, cursor })
    }

    /// Returns the due time of a round whose message has not been sent yet: the sweeper sends it.
    fn unsent_round(&self) -> Option<Timestamp> {
        let due = self.cursor.filter(|cursor| cursor.by_sweeper)?.due?;
        (self.group.sent_at < due).then_some(due)
    }

    /// Returns the latest time at which its message may have entered the queue.
    fn still_since(&self) -> Timestamp {
        let due = self.cursor.and_then(|cursor| cursor.due);
        due.into_iter().fold(self.group.progressed_at.max(self.group.sent_at), Timestamp::max)
    }
}

fn failed(code: &str, message: &str, at: Timestamp) -> Stop {
    Stop { status: Status::Failed, error: Some(JobError::new(code, message)), at }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
