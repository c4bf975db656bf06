//! The state machine of a job: all its transitions.
//!
//! Each is a pure function that returns its outcome. The DynamoDB adapter writes the same as one conditional update,
//! and the conformance suite compares the two.

use super::{Job, JobError, Source, Stage, Status, Stop};
use crate::cost::Charge;
use crate::event::{Event, EventType, PendingEvent};
use crate::group::{GroupPlan, SplitStep};
use crate::ids::JobId;
use crate::outcome::Counts;
use crate::timestamp::Timestamp;

/// Maximum number of issues that a job keeps.
const MAX_ISSUES: usize = 20;

/// The outcome of a transition: made now or refused. Neither is an error.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// Made; the job as it is now.
    Made(Box<Job>),
    /// The job was not in a state for it: another writer was first, the job is stopping, or it has ended.
    Refused,
}

impl Stop {
    /// Creates the stop for a cancel by the client.
    pub fn canceled(at: Timestamp) -> Self {
        let error = JobError::new("canceled", "canceled by the client");
        Self { status: Status::Canceled, error: Some(error), at }
    }

    /// Creates the stop for a delete by the client.
    pub fn deleted(at: Timestamp) -> Self {
        let error = JobError::new("deleted", "deleted by the client");
        Self { status: Status::Canceled, error: Some(error), at }
    }
}

/// The final status and counts that end a generation.
#[derive(Clone, PartialEq, Debug)]
pub struct Finish {
    /// The generation that ends.
    pub generation: u32,
    /// The final status.
    pub status: Status,
    /// Final counts of all items.
    pub totals: Counts,
    /// Name of the attempt whose report counts; `None` if no report was written.
    pub report: Option<String>,
    /// The error, if the job did not complete.
    pub error: Option<JobError>,
    /// The cost of the generation, which is added to the month's costs of the tenant; `None` counts nothing.
    pub charge: Option<Charge>,
    /// Time of the end.
    pub at: Timestamp,
}

impl Finish {
    /// Creates the end of the first generation, without a report, an error and a charge.
    pub const fn new(status: Status, totals: Counts, at: Timestamp) -> Self {
        Self { generation: 0, status, totals, report: None, error: None, charge: None, at }
    }

    /// Returns the event that tells of this end; `None` for a status that is not final.
    pub fn event(&self) -> Option<PendingEvent> {
        let event_type = EventType::of_status(self.status).filter(|_| self.status.is_final())?;
        Some(PendingEvent { generation: self.generation, event_type, at: self.at, counts: Some(self.totals) })
    }
}

impl Job {
    /// Returns true if no transition has been made since the job was read as `read`. Ended items are not transitions:
    /// their counts are in the groups.
    pub fn is_unchanged_since(&self, read: &Self) -> bool {
        let parts = |job: &Self| (job.generation, job.status, job.stage, job.times.updated_at);
        parts(self) == parts(read)
    }

    /// Makes a scheduled job wait in the queue: its create message is sent next. Its time limit counts from now, for up to
    /// half an hour more. Refused if another call has done so, and for a job that was stopped or deleted.
    pub fn enqueue(&mut self, now: Timestamp) -> Transition {
        let is_waiting = self.status == Status::Waiting && self.stage == Stage::Queued;
        if !self.is_scheduled || !is_waiting || self.is_deleted() {
            return Transition::Refused;
        }
        self.is_scheduled = false;
        self.times.deadline_at = self.times.deadline_from(now);
        self.touch(now)
    }

    /// Moves from `waiting` to `running`, with its event. Refused if the job was started before or is still scheduled, and
    /// for another generation.
    pub fn begin(&mut self, generation: u32, now: Timestamp) -> Transition {
        let is_queued = self.status == Status::Waiting && self.stage == Stage::Queued && !self.is_scheduled;
        if !is_queued || self.generation != generation {
            return Transition::Refused;
        }
        self.status = Status::Running;
        self.stage = Stage::Splitting;
        self.times.started_at = Some(now);
        self.pending_events.insert(PendingEvent::started(generation, now));
        self.touch(now)
    }

    /// Adds `job.waiting` for an outage that began at `since`. Changes nothing that a client sees. Refused unless this
    /// generation is running and the outage is later than the recorded one.
    pub fn record_outage(&mut self, generation: u32, since: Timestamp) -> Transition {
        let is_recorded = self.recorded_outage.is_some_and(|recorded| recorded >= since);
        if !self.is_live() || self.status != Status::Running || self.generation != generation || is_recorded {
            return Transition::Refused;
        }
        self.recorded_outage = Some(since);
        self.pending_events.insert(PendingEvent::waiting(generation, since));
        Transition::Made(Box::new(self.clone()))
    }

    /// Commits the next group with its manifest, marks all groups before it as sent, and resets the count of re-sends.
    /// Refused unless the group is the next one of this generation and begins at the split's position.
    pub fn commit_group(&mut self, plan: &GroupPlan, now: Timestamp) -> Transition {
        let begins_here = match &plan.step {
            SplitStep::File { from, .. } => self.split.offset == *from,
            SplitStep::Walk { from, .. } => self.split.place == *from,
            SplitStep::Replanned { from, .. } => self.retry.replanned == *from,
        };
        let is_next = self.generation == plan.generation && self.split.groups == plan.manifest.group && begins_here;
        if self.stage != Stage::Splitting || !is_next {
            return Transition::Refused;
        }
        self.split.sent_groups = self.split.groups;
        self.split.groups += 1;
        match &plan.step {
            SplitStep::File { upto, .. } => {
                self.split.item_count += plan.manifest.items();
                self.split.offset = *upto;
            }
            SplitStep::Walk { upto, .. } => {
                self.split.item_count += plan.manifest.items();
                self.split.place = Some(upto.clone());
            }
            SplitStep::Replanned { upto, .. } => self.retry.replanned = *upto,
        }
        if let (Some(reading), Some(Source::File(file))) = (plan.reading, &mut self.source) {
            file.reading = Some(reading);
        }
        self.resends = 0;
        self.touch(now)
    }

    /// Ends the split: every group is committed and sent, and the item count is final. Refused unless the generation is
    /// the current one and exactly these groups exist.
    pub fn end_split(&mut self, generation: u32, groups: u32, issues: &[JobError], now: Timestamp) -> Transition {
        if self.stage != Stage::Splitting || self.generation != generation || self.split.groups != groups {
            return Transition::Refused;
        }
        self.stage = Stage::Processing;
        self.split.ended = true;
        self.split.sent_groups = groups;
        self.issues = self.issues_with(issues);
        self.resends = 0;
        self.touch(now)
    }

    /// Records that a create message has arrived during a pause: the re-sends so far had an effect. Idempotent.
    /// Moves no time, so that a lost message is overdue as before. Without effect unless this generation is queued or
    /// being split: later re-sends are those of the complete message.
    pub fn reset_split_resends(&mut self, generation: u32) {
        if matches!(self.stage, Stage::Queued | Stage::Splitting) && self.generation == generation {
            self.resends = 0;
        }
    }

    /// Returns the job's issues merged with these: each one replaces an earlier one with its code. Idempotent.
    #[must_use]
    pub fn issues_with(&self, issues: &[JobError]) -> Vec<JobError> {
        let mut all: Vec<JobError> = Vec::new();
        for issue in self.issues.iter().filter(|known| !issues.iter().any(|new| new.code == known.code)).chain(issues) {
            if all.len() < MAX_ISSUES && !all.contains(issue) {
                all.push(issue.clone());
            }
        }
        all
    }

    /// Records that a group's items have all ended. Idempotent. Refused once the status is final, because nothing
    /// changes then.
    pub fn group_done(&mut self, group: u32, now: Timestamp) -> Transition {
        if self.status.is_final() {
            return Transition::Refused;
        }
        self.split.done_groups.insert(group);
        self.touch(now)
    }

    /// Requests a stop: no new item may start. Refused if the job is stopping or has ended, and for another generation.
    pub fn stop(&mut self, generation: u32, stop: &Stop) -> Transition {
        if !self.is_live() || self.generation != generation {
            return Transition::Refused;
        }
        self.stage = Stage::Stopping;
        self.is_scheduled = false;
        self.stop = Some(stop.clone());
        self.touch(stop.at)
    }

    /// Sets the final status, with its event, once per generation.
    pub fn finish(&mut self, finish: &Finish) -> Transition {
        let stopping_into_completed = self.stage == Stage::Stopping && finish.status == Status::Completed;
        if self.status.is_final() || self.generation != finish.generation || stopping_into_completed {
            return Transition::Refused;
        }
        self.status = finish.status;
        self.stage = Stage::Done;
        self.is_scheduled = false;
        self.completion.totals = Some(finish.totals);
        self.completion.report.clone_from(&finish.report);
        self.completion.cost = finish.charge.as_ref().map(|charge| charge.cost);
        self.error = finish.error.clone();
        self.times.finished_at = Some(finish.at);
        self.pending_events.extend(finish.event());
        self.touch(finish.at)
    }

    /// Removes these events, which were read with the job and are in the list now. Changes nothing else, because a client
    /// sees none of it. Refused if the job has other pending events now, has another status, or was deleted meanwhile.
    pub fn events_moved(&mut self, read: &Self, events: &[Event]) -> Transition {
        let state = |job: &Self| (job.generation, job.status, job.is_deleted());
        let pending = |job: &Self| (job.pending_events.clone(), job.unknown_events.clone());
        if pending(self) != pending(read) || state(self) != state(read) || events.is_empty() {
            return Transition::Refused;
        }
        events.iter().filter_map(Event::job).for_each(|event| {
            self.pending_events.remove(&event.change);
        });
        Transition::Made(Box::new(self.clone()))
    }

    /// Hides the job from its client for good. Refused if it was deleted before. The caller then stops the job; the
    /// sweeper removes it.
    pub fn delete(&mut self, now: Timestamp) -> Transition {
        if self.is_deleted() {
            return Transition::Refused;
        }
        self.times.deleted_at = Some(now);
        self.is_scheduled = false;
        self.touch(now)
    }

    /// Records the job that was started from this one, and changes nothing else. Refused unless this job is startable.
    pub fn start(&mut self, as_job: JobId, now: Timestamp) -> Transition {
        if !self.is_startable() {
            return Transition::Refused;
        }
        self.validation.started_as = Some(as_job);
        self.touch(now)
    }

    pub(super) fn touch(&mut self, now: Timestamp) -> Transition {
        self.times.updated_at = now;
        Transition::Made(Box::new(self.clone()))
    }
}

#[cfg(test)]
#[path = "transition_tests.rs"]
mod tests;
