//! Invariants of all responses that clients receive.

use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobTimes, Stage, Status};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{JobProgress, Ledger};
use longshore_domain::progress::Progress;

use super::function::{Message, Task, Work};
use super::state::{Customer, Seen};
use super::{World, now};
use crate::answers;
use crate::clock::clock;
use crate::faults;
use crate::handler::{self, CONCURRENCY_LIMIT};
use crate::unguarded::without;

impl World {
    /// Checks the responses to clients: they add up, progress never decreases, and a final document never changes.
    pub(super) fn check_responses(&mut self) {
        self.each(Self::check_response);
    }

    fn check_response(&mut self) {
        let Customer { id, seen, possible, expired, .. } = self.customer();
        if expired.is_some() {
            return;
        }
        let changed = self.store.amend(*id, |job, groups| {
            let is_unchanged = seen.job.as_ref() == Some(job) && seen.groups.iter().eq(groups.values());
            (!is_unchanged).then(|| (groups.values().cloned().collect::<Vec<_>>(), job.clone()))
        });
        let Some((groups, job)) = changed.flatten() else { return };
        let progress = Progress::new(&job, &groups, clock());
        assert!(progress.item_progress() <= progress.item_count, "{progress:?}");
        assert!(progress.item_count <= possible.len() as u64, "more items than rows: {progress:?}");
        assert!(handler::max_running() <= CONCURRENCY_LIMIT, "the concurrency limit is exceeded");
        let stale = Progress::new(&job, &seen.groups, clock());
        assert!(stale.item_progress() <= stale.item_count, "with groups read before the job: {stale:?}");
        let now = (progress.item_progress(), progress.percent);
        if let Some(before) = &seen.job {
            check_transition(before, &job);
            self.check_mark(before, &job);
            let earlier = seen.progress;
            let is_reopened = before.generation != job.generation;
            assert!(
                is_reopened || (now.0 >= earlier.0 && now.1 >= earlier.1),
                "progress has decreased from {earlier:?} to {now:?}"
            );
        }
        if job.status == Status::Completed {
            assert_eq!(now, (progress.item_count, 100), "a completed job has no pending items");
        }
        let ended = job.status.is_final().then(|| final_progress(&job, &groups));
        if ended.is_some() && seen.ended.is_none() {
            self.check_preview(&job);
        }
        if let (Some(before), Some(after)) = (&seen.ended, &ended)
            && let Some(earlier) = &seen.job
            && earlier.generation == job.generation
            && !job.is_deleted()
        {
            // The mark of an undo is a change of its import.
            let updated_at = if earlier.undo == job.undo { before.updated_at } else { after.updated_at };
            let before = Progress { updated_at, ..*before };
            assert_eq!(&before, after, "the progress of an ended job has changed");
        }
        let reopened = seen.job.as_ref().filter(|before| before.generation != job.generation);
        let left_out = reopened.map(|before| self.left_out(before, &job));
        self.adopt_undo(&job);
        self.record_status(&job);
        let seen = &mut self.customer_mut().seen;
        let left_out = left_out.unwrap_or_else(|| std::mem::take(&mut seen.left_out));
        *seen = Seen { job: Some(job), groups, progress: now, ended, left_out };
    }

    /// Checks the result that a function reports.
    pub(super) fn check_end(&mut self, task: &Task, end: &str) {
        if end == "HandedOver" {
            faults::count_fault("report handed over");
        }
        if end == "Paused" {
            faults::count_fault("ended by a pause");
        }
        let Work::Message(Message::Chunk(message), ..) = &task.work else { return };
        if end == "Paused" {
            *self.times_paused.entry((message.job_id, message.id())).or_default() += 1;
        }
        if ["Finished", "NextRound", "Continued", "HandlerWait", "Paused"].contains(&end) {
            answers::record_planned_end(task.number, self.numbers);
        }
        let Some(JobProgress { groups, job }) = now(self.store.progress(message.job_id)).unwrap() else { return };
        let group = groups.iter().find(|group| group.number == message.group);
        let finished = group.and_then(|group| group.cursors.get(&message.chunk)).is_some_and(|cursor| cursor.finished);
        let is_outdated = !job.is_live() || !job.owns(message.group);
        assert!(end != "Finished" || finished || is_outdated, "a worker reports an unfinished chunk as finished");
    }

    /// Delivers a complete message and sweeps again, and checks that nothing changes.
    pub(super) fn assert_nothing_changes(&mut self) {
        let before = self.stored();
        let Some(generation) = before.as_ref().map(|job| job.generation) else { return };
        let complete =
            CompleteMessage { job_id: self.customer().id, generation, resend: 9, step: 0, tenant: None, failures: 0 };
        self.put_copy(Message::Complete(complete));
        self.run_until_idle();
        self.sweep();
        if before.as_ref().is_some_and(|job| !job.is_deleted()) {
            let without_events = |job: Option<Job>| job.map(|job| Job { pending_events: [].into(), ..job });
            let stored = self.stored();
            let is_listed = stored.as_ref().is_none_or(|job| job.pending_events.is_empty());
            assert!(is_listed || without("sweeper"), "a sweep has left an event: {stored:?}");
            assert_eq!(
                without_events(stored),
                without_events(before),
                "the job has changed after its final status, but for its listed events"
            );
        }
        self.check_dead_letters();
    }
}

/// The progress of an ended job. A completed job contains all its numbers itself.
fn final_progress(job: &Job, groups: &[Group]) -> Progress {
    Progress::new(job, if job.status == Status::Completed { &[] } else { groups }, clock())
}

/// Checks that a job can have this state after an earlier one.
fn check_transition(before: &Job, job: &Job) {
    if job.generation != before.generation {
        assert!(before.status.is_final(), "an active job was reopened");
        assert!(
            job.retry.selection.chunks().is_none() || before.status != Status::Canceled,
            "a replay has reopened a canceled job"
        );
        return assert_eq!(job.generation, before.generation + 1, "the generation has not increased by one");
    }
    let was_stopping = before.stage == Stage::Stopping;
    assert!(!was_stopping || matches!(job.stage, Stage::Stopping | Stage::Done), "a stopping job continues");
    assert!(!was_stopping || job.status != Status::Completed, "a stopping job is completed");
    assert!(!was_stopping || job.split.groups == before.split.groups, "a stopping job has another group");
    assert!(!was_stopping || job.stop == before.stop, "the reason of a stop has changed");
    if before.status.is_final() {
        let expected = Job {
            times: JobTimes {
                deleted_at: job.times.deleted_at,
                updated_at: job.times.updated_at,
                ..before.times.clone()
            },
            undo: job.undo.clone(),
            pending_events: job.pending_events.clone(),
            ..before.clone()
        };
        assert!(before.pending_events.is_superset(&job.pending_events), "an ended job has another event");
        let is_touched =
            job.times.updated_at != before.times.updated_at && job.times.deleted_at == before.times.deleted_at;
        let is_touched = is_touched && job.undo == before.undo;
        assert!(expected == *job && !is_touched, "an ended job has changed from {before:?} to {job:?}");
    }
}
