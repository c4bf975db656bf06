//! Invariants of the final state of a job, of its report, and of the data of removed jobs.

use std::collections::{BTreeMap, BTreeSet};

use longshore::ports::JobFolder;
use longshore_domain::cost::{ChunkUsage, NanoDollars, generation_cost};
use longshore_domain::job::{Job, SourceFile, Status};
use longshore_domain::ports::{Files, JobStore, Ledger};
use longshore_domain::results::ResultsForm;

use super::state::Customer;
use super::{World, now};
use crate::clock::clock;
use crate::exports::{self, Listed};
use crate::handler::Output;
use crate::kinds::Kind;
use crate::report::Ended;
use crate::rows::{ACTIONS, FATAL, bit, only};
use crate::{faults, handler, report, trace};

/// Pushes without effect before a job is given up.
const PUSHES: u32 = sweep::decide::PUSHES;

/// Cost of a delivery in nano-dollars: an invocation, its messages, and the commits until it notices a stop. One that
/// comes again records the deliveries before it, too.
const DELIVERY: u64 = 15_000;

impl World {
    /// Number and action of each row in one file of the report.
    pub(crate) fn report_rows(&self, name: &str) -> BTreeMap<usize, String> {
        report::rows(&self.files, &self.job(), name)
    }

    /// Codes of the failed rows, by number.
    pub(crate) fn failed_codes(&self) -> BTreeMap<usize, String> {
        report::codes(&self.files, &self.job())
    }

    /// Checks that the succeeded rows and the rows of the report's files are the rows of the input, each exactly once
    /// and with the expected outcome.
    pub(crate) fn check_report(&self, rows: &[usize]) {
        self.check_rows(&only(rows));
    }

    /// Checks that each job has ended for a valid reason, and that every row has its expected outcome. Items without a
    /// job are still there: no function has acted on them.
    pub(crate) fn check_ended(&mut self) {
        let keys = self.file_keys();
        assert!(self.orphans.iter().all(|orphan| keys.contains(orphan)), "a function removed items without a job");
        self.each(|world| world.check_that_previews_write_nothing());
        self.each(|world| world.check_end_of_job());
    }

    fn check_end_of_job(&self) {
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
                    "no client has canceled the job: {job:?}"
                );
            }
            (Status::Failed, Some("too_many_failures")) => assert!(job.tolerance.limits_failures()),
            (Status::Failed, Some("cost_limit")) => {
                faults::count_fault("cost limit reached");
                assert!(job.tolerance.max_cost.is_some());
            }
            (Status::Failed, Some("fatal")) => {
                assert!(self.customer().possible.iter().any(|row| row & bit(FATAL) > 0));
            }
            (Status::Failed, Some("file_empty")) => {
                let Customer { dialect, possible, .. } = self.customer();
                assert!(dialect.json_lines && possible.is_empty(), "the file has rows: {job:?}");
            }
            (Status::Failed, Some("source_missing")) => {
                assert!(self.has_lost_source(&job), "the job whose items were to be read exists: {job:?}");
            }
            (Status::Failed, Some("time_limit")) => {
                faults::count_fault("time limit exceeded");
                // The clock of a sweep can be ahead.
                let late = clock().millis_since(job.times.deadline_at) + self.environment.skew_ms;
                assert!(late >= 0, "the job was stopped before its deadline: {job:?}");
            }
            // Both codes need repeated errors or kills of functions.
            (Status::Failed, Some("split_failed" | "completion_failed")) => {
                assert!(self.other_dead_letters > 0 || self.failures() > 0, "no call or function has failed: {job:?}");
            }
            other => panic!("unexpected end {other:?} of {job:?}"),
        }
        self.check_cost(&job);
        // A job ends without a report only if its completion failed or was killed repeatedly.
        if job.completion.report.is_some() {
            self.check_rows(&self.customer().possible);
        } else {
            assert!(self.failures() > 0, "there is no report, but no call or function has failed: {job:?}");
        }
    }

    /// Checks that a generation has cost no more than its maximum, besides a delivery of each chunk and one for each
    /// fault. The first deliveries begin before any cost is known, and those of items that are tried again and again
    /// cost more than the average. A fault can hide a check.
    fn check_cost(&self, job: &Job) {
        let (Some(max), Some(cost)) = (job.tolerance.max_cost, job.completion.cost) else { return };
        let mut groups = now(self.store.progress(job.job_id)).unwrap().unwrap().groups;
        groups.retain(|group| job.owns(group.number));
        groups.iter_mut().for_each(|group| group.usage = ChunkUsage::default());
        let chunks: u64 = groups.iter().map(|group| group.cursors.len() as u64).sum();
        let (tally, _) = faults::tally();
        let again: u64 = ["redelivered", "zombie", "duplicate"].iter().filter_map(|kind| tally.get(kind)).sum();
        let slack = NanoDollars((chunks + self.failures() + again) * DELIVERY);
        // The split and the end do not check.
        let max = max.max(generation_cost(job, &groups).total()) + slack;
        assert!(cost.total() <= max, "{cost:?} is more than {max:?}, of which {slack:?} are for faults: {job:?}");
    }

    /// Number of failed calls, killed functions, and lost or delayed messages.
    fn failures(&self) -> u64 {
        let (tally, _) = faults::tally();
        ["throttled", "reply dropped", "crash", "lost", "delayed"].iter().filter_map(|kind| tally.get(kind)).sum()
    }

    fn check_rows(&self, possible: &[u8]) {
        let (job, result) = (self.job(), report::result(&self.files, &self.job()));
        // An item that was not reached by the walk is not part of the job. The items of an undo are the rows that its
        // import has reached, and those that it has filed again; they are counted only when all are planned.
        let items = match job.is_undo() {
            true => result.counts.total() as usize,
            false if job.has_item_files() => job.split.item_count as usize,
            // The job was stopped before its file was converted, so no row of it is known.
            false if self.customer().is_compressed && is_unprepared(&job) => {
                assert!(result.issues.iter().any(|issue| issue.code == "file_not_prepared"), "{:?}", result.issues);
                0
            }
            false => possible.len(),
        };
        let possible = &possible[..items];
        let [failed, skipped, unprocessed] =
            ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| self.report_rows(name));
        let listed: BTreeSet<_> = failed.keys().chain(skipped.keys()).chain(unprocessed.keys()).copied().collect();
        assert_eq!(listed.len(), failed.len() + skipped.len() + unprocessed.len(), "a row is in two files");
        assert!(listed.iter().all(|n| (1..=possible.len()).contains(n)), "an unknown row is listed: {listed:?}");
        let totals = job.completion.totals.expect("a finished job has totals");
        let succeeded: Vec<_> = (1..=possible.len()).filter(|n| !listed.contains(n)).collect();
        assert_eq!(totals.succeeded as usize, succeeded.len(), "number of succeeded rows");
        assert_eq!(
            (totals.failed as usize, totals.skipped as usize),
            (failed.len(), skipped.len()),
            "numbers of failed and skipped rows"
        );
        assert_eq!(
            (result.status, result.counts.total() as usize),
            (job.status, possible.len()),
            "the result document"
        );
        assert!(
            job.status != Status::Completed || unprocessed.is_empty(),
            "a completed job has unprocessed rows: {unprocessed:?}"
        );
        let codes = self.failed_codes();
        let has_lost_import =
            self.has_lost_import(&job) && result.issues.iter().any(|issue| issue.code == "source_gone");
        for (n, action) in failed.iter().chain(&skipped).chain(&unprocessed) {
            if action == report::GONE && has_lost_import {
                continue;
            }
            let index =
                ACTIONS.iter().position(|name| name == action).unwrap_or_else(|| panic!("row {n} is {action:?}"));
            assert!(possible[n - 1] & bit(index) > 0, "row {n} cannot be {action:?}");
        }
        let kind = self.customer().kind;
        let is_skipped = |action: &String| action == "skip" || !kind.obeys();
        skipped.iter().for_each(|(n, action)| assert!(is_skipped(action), "row {n} was skipped"));
        failed.iter().for_each(|(n, action)| self.check_failure(*n, action, &codes[n]));
        self.check_left_out(&job);
        let form = now(self.store.definition(job.job_id)).unwrap().and_then(|definition| definition.results);
        if let Some(form) = form {
            self.check_results(&job, &form, &succeeded);
        }
        let skipped: Vec<_> = skipped.into_keys().collect();
        let ended = Ended { job: &job, possible, succeeded: &succeeded, skipped: &skipped, failed: &codes };
        self.kinds.check(kind, &ended);
        if kind == Kind::Undo {
            self.check_undone(&job);
        }
        // The items of an import's request are gone with the import, which can be deleted after its undo.
        let is_source_gone = job.undo.undoes.is_some_and(|import| self.is_gone(import.job_id));
        assert_eq!(self.audit().or(is_source_gone.then_some(true)), Some(true), "the audit has made all checks");
    }

    /// Checks that the results have the output of each succeeded item once.
    fn check_results(&self, job: &Job, form: &ResultsForm, succeeded: &[usize]) {
        let results = report::results(&self.files, job, form);
        if self.customer().kind == Kind::Export {
            exports::check_issues(form, &results, &report::result(&self.files, job).issues);
            assert_eq!(results.len(), succeeded.len(), "number of exported records");
            let keys = |name| report::keys(&self.files, job, name);
            let [failed, skipped, unprocessed] = ["failed.csv", "skipped.csv", "unprocessed.csv"].map(keys);
            return exports::check(job, &results, &Listed { failed, skipped, unprocessed });
        }
        let outputs: Vec<_> = results.iter().map(Output::of_result).collect();
        assert!(outputs.iter().all(|output| handler::has_returned(*output)), "an output of no call: {outputs:?}");
        let mut items: Vec<_> = outputs.iter().map(|output| output.item as usize).collect();
        items.sort_unstable();
        assert_eq!(items, succeeded, "the results have the output of each succeeded row once");
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
                // A push during which a pause begins has no effect.
                let times_paused = self.times_paused.values().max().copied().unwrap_or(0);
                let is_explained = self.dead_chunks > 0 || self.disturbances + times_paused >= PUSHES;
                assert!(is_explained, "row {row} was given up without a dead letter or pushes");
            }
            (_, "no_previous_version") => {
                assert!(self.has_lost_import(&self.job()), "row {row} has no previous version");
            }
            (_, code) if self.customer().kind.explains(code) => {}
            other => panic!("row {row} failed: {other:?}"),
        }
    }

    /// Checks that all stored objects belong to an existing job, or to no job yet.
    fn check_removed(&self) {
        let stored = self.customers.iter().filter_map(|customer| now(self.store.job(customer.id)).unwrap());
        // Files of an expired job can still exist: they expire, too.
        let expired = self.customers.iter().filter(|customer| customer.expired.is_some());
        let expired: Vec<_> = expired.filter_map(|customer| customer.seen.job.clone()).collect();
        let sources = self.sources.iter().filter_map(|id| now(self.store.job(*id)).unwrap());
        let stored: Vec<_> = stored.chain(expired).chain(sources).collect();
        let has_owner = |key: &str| {
            stored.iter().any(|job| {
                let upload = || job.uploads().iter().any(|upload| key.ends_with(&upload.to_string()));
                key.starts_with(&JobFolder::for_job(job).prefix()) || upload()
            })
        };
        let left: Vec<_> = self.file_keys().into_iter().filter(|key| !has_owner(key) && !self.is_unused(key)).collect();
        assert!(left.is_empty(), "a removed job has left files: {left:?}");
    }

    /// Returns true if no accepted create uses these items, or no accepted retry this corrected file. It expires later.
    fn is_unused(&self, key: &str) -> bool {
        self.orphans.contains(key)
            || self.customers.iter().any(|Customer { corrected, seen, .. }| {
                let is_used = |job: &Job| job.uploads().iter().any(|upload| key.ends_with(&upload.to_string()));
                corrected.contains(key) && !seen.job.as_ref().is_some_and(is_used)
            })
    }

    /// Appends all stored data to the trace.
    pub(crate) fn trace_stored_data(&self) {
        if !trace::is_on() {
            return;
        }
        trace::set_function("left", 0);
        for Customer { id, .. } in &self.customers {
            let progress = now(self.store.progress(*id)).unwrap();
            let (groups, job) = progress.map(|progress| (progress.groups, progress.job)).unzip();
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

/// Returns true if the job's file is still the one that was uploaded.
fn is_unprepared(job: &Job) -> bool {
    let is_uploaded = |file: &SourceFile| file.upload().is_some() && file.original.is_none();
    job.file().is_some_and(is_uploaded) && job.split.groups == 0
}
