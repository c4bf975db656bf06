//! Invariants of every response that a client could receive.

use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobTimes, Stage, Status};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::Ledger;
use longshore_domain::progress::Progress;

use super::customer::{Customer, Seen};
use super::function::{Task, Work};
use super::message::Message;
use super::{World, now};
use crate::clock::clock;
use crate::faults;
use crate::handler::{self, CONCURRENCY_LIMIT};

impl World {
    /// Checks the responses to clients: they add up, never go back, and never change once a job has ended.
    pub(super) fn answer(&mut self) {
        self.each(Self::answer_one);
    }

    fn answer_one(&mut self) {
        let Customer { id, seen, possible, expired, .. } = self.customer();
        if expired.is_some() {
            return;
        }
        let changed = self.store.amend(*id, |job, groups| {
            let same = seen.job.as_ref() == Some(job) && seen.groups.iter().eq(groups.values());
            (!same).then(|| (groups.values().cloned().collect::<Vec<_>>(), job.clone()))
        });
        let Some((groups, job)) = changed.flatten() else { return };
        let progress = Progress::new(&job, &groups, clock());
        assert!(progress.item_progress() <= progress.item_count, "{progress:?}");
        assert!(progress.item_count <= possible.len() as u64, "rows are invented: {progress:?}");
        assert!(handler::most_at_once() <= CONCURRENCY_LIMIT, "more chunks run at once than may");
        let apart = Progress::new(&job, &seen.groups, clock());
        assert!(apart.item_progress() <= apart.item_count, "groups that were read before the job: {apart:?}");
        let now = (progress.item_progress(), progress.percent);
        if let Some(before) = &seen.job {
            follows(before, &job);
            let then = seen.progress;
            let same = before.generation == job.generation;
            assert!(!same || (now.0 >= then.0 && now.1 >= then.1), "progress went back from {then:?} to {now:?}");
        }
        if job.status == Status::Completed {
            assert_eq!(now, (progress.item_count, 100), "a completed job is complete");
        }
        let ended = job.status.is_final().then(|| shown(&job, &groups));
        if let (Some(before), Some(after)) = (&seen.ended, &ended)
            && seen.job.as_ref().is_some_and(|before| before.generation == job.generation && !job.is_deleted())
        {
            assert_eq!(before, after, "what is shown of a job that has ended changes");
        }
        let opened = seen.job.as_ref().filter(|before| before.generation != job.generation);
        let left_out = opened.map(|before| self.left_out(before, &job));
        let seen = &mut self.customer_mut().seen;
        let left_out = left_out.unwrap_or_else(|| std::mem::take(&mut seen.left_out));
        *seen = Seen { job: Some(job), groups, progress: now, ended, left_out };
    }

    /// Checks the end that a function reports.
    pub(super) fn check_end(&self, task: &Task, end: &str) {
        if end == "HandedOver" {
            faults::count_fault("report handed over");
        }
        let Work::Message(Message::Chunk(message), ..) = &task.work else { return };
        let Some((groups, job)) = now(self.store.progress(message.job_id)).unwrap() else { return };
        let group = groups.iter().find(|group| group.number == message.group);
        let finished = group.and_then(|group| group.cursors.get(&message.chunk)).is_some_and(|cursor| cursor.finished);
        let passed = !job.is_live() || !job.owns(message.group);
        assert!(end != "Finished" || finished || passed, "a worker says that its chunk is finished, and it is not");
    }

    /// Delivers the message once more and sweeps again: nothing may change.
    pub(super) fn assert_nothing_changes(&mut self) {
        let before = self.stored();
        let Some(generation) = before.as_ref().map(|job| job.generation) else { return };
        let again =
            CompleteMessage { job_id: self.customer().id, generation, resend: 9, step: 0, tenant: None, failures: 0 };
        self.put_again(Message::Complete(again));
        self.run_until_still();
        self.sweep();
        if before.as_ref().is_some_and(|job| !job.is_deleted()) {
            assert_eq!(self.stored(), before, "after a final status nothing changes");
        }
        self.check_dead_letters();
    }
}

/// The progress shown for an ended job. A completed job contains all its numbers itself.
fn shown(job: &Job, groups: &[Group]) -> Progress {
    Progress::new(job, if job.status == Status::Completed { &[] } else { groups }, clock())
}

/// Checks that a job may have this state after an earlier one.
fn follows(before: &Job, job: &Job) {
    if job.generation != before.generation {
        assert!(before.status.is_final(), "a job that runs was opened again");
        assert!(
            job.retry.selected_chunks.is_none() || before.status != Status::Canceled,
            "a replay opens what its client has canceled"
        );
        return assert_eq!(job.generation, before.generation + 1, "generations go one by one");
    }
    let stopped = before.stage == Stage::Stopping;
    assert!(!stopped || matches!(job.stage, Stage::Stopping | Stage::Done), "a job that stops goes on");
    assert!(!stopped || job.status != Status::Completed, "a job that stops completes");
    assert!(!stopped || job.split.groups == before.split.groups, "a job that stops gets another group");
    assert!(!stopped || job.stop == before.stop, "the first reason stays");
    if before.status.is_final() {
        let same = Job {
            times: JobTimes {
                deleted_at: job.times.deleted_at,
                updated_at: job.times.updated_at,
                ..before.times.clone()
            },
            ..before.clone()
        };
        let touched =
            job.times.updated_at != before.times.updated_at && job.times.deleted_at == before.times.deleted_at;
        assert!(same == *job && !touched, "a job that has ended changes: {before:?} to {job:?}");
    }
}
