//! Invariants: of every response that a client could receive, and of the final state of a job.

use std::collections::{BTreeMap, BTreeSet};

use longshore::ports::JobFolder;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobTimes, Stage, Status};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, JobStore, Ledger};
use longshore_domain::progress::Progress;

use super::customer::Customer;
use super::dead_letters::Message;
use super::function::Work;
use super::replays::LeftOut;
use super::{Task, World, clock, now};
use crate::faults;
use crate::handler::{self, ACTIONS, CONCURRENCY_LIMIT, bit, only};
use crate::kinds::Ended;
use crate::report;
use crate::trace;

/// Pushes without effect before a job is given up.
const PUSHES: u32 = sweep::decide::PUSHES;

/// Earlier observations of the job.
#[derive(Default)]
pub(super) struct Seen {
    job: Option<Job>,
    groups: Vec<Group>,
    progress: (u64, u8),
    /// Progress that the client received after the job's end.
    ended: Option<Progress>,
    pub(super) left_out: LeftOut,
}

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
        let again = CompleteMessage {
            job_id: self.customer().id,
            generation,
            resend: 9,
            step: 0,
            tenant: String::new(),
            failures: 0,
        };
        self.put_again(Message::Complete(again));
        self.run_until_still();
        self.sweep();
        if before.as_ref().is_some_and(|job| !job.is_deleted()) {
            assert_eq!(self.stored(), before, "after a final status nothing changes");
        }
        self.check_dead_letters();
    }

    /// Number and action of each row in one file of the report.
    pub(crate) fn reported(&self, name: &str) -> BTreeMap<usize, String> {
        report::rows(&self.files, &self.job(), name)
    }

    /// Codes of the failed rows, by number.
    pub(crate) fn failed_codes(&self) -> BTreeMap<usize, String> {
        report::codes(&self.files, &self.job())
    }

    /// Checks that succeeded rows and the rows of the files are the input's rows, each exactly once, with the
    /// expected outcome.
    pub(crate) fn check_report(&self, rows: &[usize]) {
        self.check_rows(&only(rows));
    }

    /// Checks that each job has ended for a valid reason, and that every row has its expected outcome.
    pub(crate) fn check_ended(&mut self) {
        self.each(|world| world.check_end_of_one());
    }

    fn check_end_of_one(&self) {
        self.check_expired();
        let Some(job) = self.stored() else { return self.check_removed() };
        if job.is_deleted() || self.customer().expired.is_some() {
            return;
        }
        let code = job.error.as_ref().map(|error| error.code.as_str());
        trace::append(format_args!("the job: {:?} {code:?} {:?}", job.status, job.completion.totals));
        match (job.status, code) {
            (Status::Completed, None) => {}
            (Status::Canceled, Some("canceled" | "deleted")) => {
                assert!(
                    self.shared.canceled.borrow().contains(&(job.job_id, job.generation)),
                    "nobody has canceled it: {job:?}"
                );
            }
            (Status::Failed, Some("too_many_failures")) => assert!(job.tolerance.is_set()),
            (Status::Failed, Some("fatal")) => {
                assert!(self.customer().possible.iter().any(|row| row & bit(handler::FATAL) > 0));
            }
            (Status::Failed, Some("file_empty")) => {
                let Customer { dialect, possible, .. } = self.customer();
                assert!(dialect.json_lines && possible.is_empty(), "the file has rows: {job:?}");
            }
            (Status::Failed, Some("time_limit")) => {
                faults::count_fault("time limit met");
                // The clock of a sweep may be ahead.
                let late = clock().millis_since(job.times.deadline_at) + self.environment.skew_ms;
                assert!(late >= 0, "stopped before its time: {job:?}");
            }
            // Errors and deaths explain both codes. Only functions that die too often lead to this case.
            (Status::Failed, Some("split_failed" | "completion_failed")) => {
                assert!(self.buried.1 > 0 || self.failures() > 0, "nothing has failed: {job:?}");
            }
            other => panic!("an end that nothing explains: {other:?} of {job:?}"),
        }
        // A job ends without a report only if completion failed or died repeatedly. Its final status is the intended
        // one.
        if job.completion.report.is_some() {
            self.check_rows(&self.customer().possible);
        } else {
            assert!(self.failures() > 0, "nothing has failed, and there is no report: {job:?}");
        }
    }

    /// Number of failed calls, dead functions and lost messages.
    fn failures(&self) -> u64 {
        let (tally, _) = faults::tally();
        ["throttled", "reply dropped", "crash", "lost", "delayed"].iter().filter_map(|kind| tally.get(kind)).sum()
    }

    fn check_rows(&self, possible: &[u8]) {
        let (job, result) = (self.job(), report::result(&self.files, &self.job()));
        let [failed, skipped, unprocessed] =
            ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| self.reported(name));
        let named: BTreeSet<_> = failed.keys().chain(skipped.keys()).chain(unprocessed.keys()).copied().collect();
        assert_eq!(named.len(), failed.len() + skipped.len() + unprocessed.len(), "a row is in two files");
        assert!(named.iter().all(|n| (1..=possible.len()).contains(n)), "a row is invented: {named:?}");
        let totals = job.completion.totals.expect("a finished job has totals");
        let succeeded: Vec<_> = (1..=possible.len()).filter(|n| !named.contains(n)).collect();
        assert_eq!(totals.succeeded as usize, succeeded.len(), "rows that succeeded");
        assert_eq!((totals.failed as usize, totals.skipped as usize), (failed.len(), skipped.len()), "failed, skipped");
        assert_eq!(
            (result.status, result.counts.total() as usize),
            (job.status, possible.len()),
            "the result document"
        );
        assert!(
            job.status != Status::Completed || unprocessed.is_empty(),
            "a completed job left rows: {unprocessed:?}"
        );
        let codes = self.failed_codes();
        for (n, action) in failed.iter().chain(&skipped).chain(&unprocessed) {
            let asked =
                ACTIONS.iter().position(|name| name == action).unwrap_or_else(|| panic!("row {n} is {action:?}"));
            assert!(possible[n - 1] & bit(asked) > 0, "row {n} never was {action:?}");
        }
        let kind = self.customer().kind;
        let skips = |action: &String| action == "skip" || !kind.obeys();
        skipped.iter().for_each(|(n, action)| assert!(skips(action), "row {n} was skipped"));
        failed.iter().for_each(|(n, action)| self.check_failure(*n, action, &codes[n]));
        self.check_left_out(&job);
        self.kinds.check(kind, &Ended { job: &job, possible, succeeded: &succeeded, failed: &codes });
        assert_eq!(self.audit(), Some(true), "the audit has checked everything");
    }

    /// The verdict of an audit, which must never find a difference.
    pub(super) fn audit(&self) -> Option<bool> {
        if self.customer().expired.is_some() {
            return None;
        }
        let audit = now(jobs_api::audit(&self.store, &self.files, self.customer().id, &|| true)).unwrap()?;
        assert!(audit.differences.is_empty(), "{audit:?}\n{:?}", self.stored());
        audit.equal
    }

    fn check_failure(&self, row: usize, action: &str, code: &str) {
        match (action, code) {
            ("reject", "asked_to") | ("never", "retries_exhausted") | ("fatal", "fatal") => {}
            (_, "dead_lettered") => {
                let explained = self.buried.0 > 0 || self.disturbances >= PUSHES;
                assert!(explained, "row {row} was given up, and nothing explains it");
            }
            (_, code) if self.customer().kind.explains(code) => {}
            other => panic!("row {row} failed: {other:?}"),
        }
    }

    /// Checks that all stored objects belong to an existing job, or to no job yet.
    pub(super) fn check_removed(&self) {
        let stored = self.customers.iter().filter_map(|customer| now(self.store.job(customer.id)).unwrap());
        // Files of an expired job may still exist: they expire as well.
        let expired = self.customers.iter().filter(|customer| customer.expired.is_some());
        let expired: Vec<_> = expired.filter_map(|customer| customer.seen.job.clone()).collect();
        let stored: Vec<_> = stored.chain(expired).collect();
        let owned = |key: &str| {
            stored.iter().any(|job| {
                let upload = || job.uploads().iter().any(|upload| key.ends_with(&upload.to_string()));
                key.starts_with(&JobFolder::for_job(job).prefix()) || upload()
            })
        };
        let left: Vec<_> = self.left().into_iter().filter(|key| !owned(key) && !self.is_unused(key)).collect();
        assert!(left.is_empty(), "a removed job has left {left:?}");
    }

    /// Returns true if no accepted retry uses this corrected file. It expires later.
    fn is_unused(&self, key: &str) -> bool {
        self.customers.iter().any(|Customer { corrected, seen, .. }| {
            let taken = |job: &Job| job.uploads().iter().any(|upload| key.ends_with(&upload.to_string()));
            corrected.contains(key) && !seen.job.as_ref().is_some_and(taken)
        })
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

impl World {
    /// Appends all stored data to the trace.
    pub(crate) fn trace_what_is_left(&self) {
        if !trace::is_on() {
            return;
        }
        trace::set_function("left", 0);
        for Customer { id, .. } in &self.customers {
            let (groups, job) = now(self.store.progress(*id)).unwrap().unzip();
            trace::append(format_args!("{job:?}"));
            trace::append(format_args!("{groups:?}"));
        }
        for key in self.files.keys() {
            trace::append(format_args!(
                "{key}: {} bytes, {:?}",
                self.files.get(&key).map_or(0, |bytes| bytes.len()),
                now(self.files.info(&key)).unwrap().map(|info| info.etag)
            ));
        }
    }
}
