//! The client of a world: acceptance of its jobs as by the API, the current job, immediate requests, corrected files.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use longshore::ports::{JobFolder, upload_key};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{
    FailureFilter, Job, JobTimes, Reopen, Selection, SourceFile, Stop, Tolerance, deadline, has_time,
};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Queues, Reopened};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_testing::MemoryFiles;

use super::acts::Act;
use super::state::{Customer, Seen};
use super::{World, now};
use crate::clock::clock;
use crate::kinds::Kind;
use crate::lying;
use crate::plan::JobPlan;
use crate::report;
use crate::rows::{ACTIONS, Dialect, bit, file_of, line, reading_of, upload_of};

impl World {
    pub(super) fn customer(&self) -> &Customer {
        &self.customers[self.at]
    }

    pub(super) fn customer_mut(&mut self) -> &mut Customer {
        &mut self.customers[self.at]
    }

    /// Makes each job the current one in turn.
    pub(crate) fn each(&mut self, mut action: impl FnMut(&mut Self)) {
        let current = self.at;
        for at in 0..self.customers.len() {
            self.at = at;
            action(self);
        }
        self.at = current;
    }

    /// Returns true if a condition holds for each job.
    pub(crate) fn all(&mut self, mut condition: impl FnMut(&mut Self) -> bool) -> bool {
        let mut holds = true;
        self.each(|world| holds &= condition(world));
        holds
    }

    /// The name of each job's end. A removed job is `None`.
    pub(crate) fn ends_of_jobs(&mut self, name: impl Fn(Option<Job>) -> &'static str) -> Vec<&'static str> {
        let mut ends = Vec::new();
        self.each(|world| ends.push(name(world.stored())));
        ends
    }

    /// Stores a job and its uploaded file, or the items of its request, as the API does.
    pub(super) fn accept(&mut self, plan: &JobPlan) {
        let mut job = self.new_job(plan);
        job.undo.undoable = plan.kind.is_undoable(plan.tolerated);
        job.source = Some(match plan.kind {
            kind if kind.has_dataset() => self.kinds.write_records(kind, &job, &plan.rows),
            Kind::Copied => self.end_source(plan),
            _ => self.write_file(plan, &job).into(),
        });
        let results = plan.kind.results(plan.rows.len());
        let registration = (plan.kind == Kind::Lying).then(crate::lying::registration);
        let (given_reading, options) = (reading_of(plan.dialect), plan.kind.options(plan.tolerated));
        let definition = Definition { given_reading, results, registration, ..Definition::new(options) };
        now(self.store.create_job(&job, &definition, None)).unwrap();
        if !job.is_scheduled {
            now(self.queues.send_create(&CreateMessage::new(&job))).unwrap();
        }
        self.customers.push(Customer {
            id: job.job_id,
            tenant: plan.tenant,
            kind: plan.kind,
            dialect: plan.dialect,
            is_compressed: plan.is_compressed,
            action_rates: plan.action_rates,
            seen: Seen::default(),
            expired: None,
            expires: plan.kept_s.is_some(),
            possible: plan.kind.possible(&plan.rows),
            corrected: BTreeSet::new(),
            changes: 0,
            least: 0,
        });
    }

    /// Stores the file of a job: an upload, or the items of its request.
    fn write_file(&mut self, plan: &JobPlan, job: &Job) -> SourceFile {
        let key = if plan.has_items() { self.write_items(plan, job) } else { self.write_upload(plan) };
        let info = now(self.files.info(&key)).unwrap().unwrap();
        let (format, name) = match plan.dialect.json_lines {
            true => (Format::JsonLines, "file.jsonl"),
            false => (Format::Csv, "file.csv"),
        };
        SourceFile::new(key, info, format, name)
    }

    /// Stores the uploaded file. Jobs with the same upload share it.
    fn write_upload(&self, plan: &JobPlan) -> String {
        let id = format!("0b3d3f5e-7d0c-4e34-9c6c-{:012}", plan.upload);
        let key = upload_key(&TenantId::from_static(plan.tenant), FileGuid::parse(&id).expect("a UUID"));
        self.files.put(&key, packed(upload_of(&plan.rows, plan.dialect), plan.is_compressed));
        key
    }

    /// Stores the items of a request in the folder of its job. An earlier call of the same request died between this
    /// write and the creation of its job, so it has left a file without a job.
    fn write_items(&mut self, plan: &JobPlan, job: &Job) -> String {
        let lines = file_of(&plan.rows, plan.dialect);
        let id = JobId::parse(&format!("00000000-0000-7000-8000-{:012}", self.number())).expect("a UUID");
        let orphan = JobFolder { id, ..JobFolder::for_job(job) }.source_key();
        let key = JobFolder::for_job(job).source_key();
        self.files.put(&orphan, lines.clone());
        self.files.put(&key, lines);
        self.orphans.insert(orphan);
        key
    }

    /// A job without its source.
    pub(super) fn new_job(&mut self, plan: &JobPlan) -> Job {
        let id = format!("{:032x}", (u128::from(self.rng.number()) << 64) | u128::from(self.rng.number()));
        let at = clock();
        let job = Job::waiting(
            JobId::parse(&id).expect("a valid id"),
            TenantId::from_static(plan.tenant),
            plan.kind.name(),
            at,
        );
        let start_at = plan.starts_in_s.map(|seconds| at.plus_seconds(seconds));
        let expires_at = plan.kept_s.map_or(job.times.expires_at, |kept_s| at.plus_seconds(kept_s).seconds());
        Job {
            tolerance: Tolerance { max_failed: plan.tolerated, max_cost: plan.max_cost(), ..Tolerance::default() },
            priority: plan.priority,
            is_registered: plan.kind == Kind::Lying,
            is_scheduled: start_at.is_some(),
            times: JobTimes {
                expires_at,
                timeout_s: plan.time_limit_s,
                start_at,
                deadline_at: deadline(start_at.unwrap_or(at), plan.time_limit_s, expires_at),
                ..job.times.clone()
            },
            ..job
        }
    }
}

/// Returns a file as its client uploads it.
fn packed(file: Vec<u8>, is_compressed: bool) -> Vec<u8> {
    if !is_compressed {
        return file;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&file).and_then(|()| encoder.finish()).expect("the memory takes it")
}

impl World {
    /// Retries the remaining items of the jobs. Returns false if there are none.
    pub(crate) fn retry_remaining(&mut self) -> bool {
        let mut has_retried = false;
        self.each(|world| has_retried |= world.retry_remaining_of_job());
        has_retried
    }

    /// Retries the remaining items of a job, all of them or a selection. Returns false if there are none.
    fn retry_remaining_of_job(&mut self) -> bool {
        if !self.stored().is_some_and(|job| job.is_reopenable()) {
            return false;
        }
        if self.rng.often(500) && self.replay_dead_letters_of_job() {
            return true;
        }
        if self.customer().action_rates.corrects > 0 && self.rng.often(500) {
            self.correct()
        } else {
            let selection = self.random_selection();
            self.reopen(selection)
        }
        true
    }

    /// Retries the remaining items of the job.
    pub(crate) fn retry(&mut self) {
        self.reopen(Selection::All);
    }

    /// Retries the remaining items of the job with a corrected file.
    pub(crate) fn retry_with(&mut self, csv: &str) {
        let file = self.upload(csv);
        self.reopen(Selection::Corrected(file));
    }

    /// Begins the client's cancel of the job. It runs concurrently with the other functions.
    pub(crate) fn cancel(&mut self) {
        self.begin_request(Act::Cancel);
    }

    /// Removes the corrected file of the current generation from the bucket.
    pub(crate) fn lose_corrected(&self) {
        MemoryFiles::remove(
            &self.files,
            &self.job().retry.selection.corrected().expect("the retry has a corrected file").key,
        );
    }

    /// Selects the rows that failed for the reason of a random failed row, or all failed rows.
    pub(super) fn random_selection(&mut self) -> Selection {
        let codes = report::codes(&self.files, &self.job());
        if codes.is_empty() || !self.rng.often(300) {
            return Selection::All;
        }
        let codes: Vec<_> = codes.into_values().collect();
        let code = codes[self.rng.below(codes.len())].clone();
        Selection::Failure(FailureFilter { code, field: None })
    }

    /// Retries with a corrected file of random failed rows with random corrections.
    pub(super) fn correct(&mut self) {
        let job = self.job();
        let failed: Vec<_> =
            if job.has_remaining() { self.report_rows("failed.csv").into_keys().collect() } else { Vec::new() };
        // The API refuses a corrected file for a job without a file.
        if failed.is_empty() || job.record_format().is_none() {
            return;
        }
        let dialect = self.customer().dialect;
        let header = match (dialect.json_lines, dialect.padding > 0) {
            (true, _) => "row,item\n",
            (false, true) => "row,id,action,more\n",
            (false, false) => "row,id,action\n",
        };
        let mut csv = header.to_owned();
        for row in failed {
            if self.rng.often(700) {
                let action = self.rng.below(ACTIONS.len() - 1);
                self.customer_mut().possible[row - 1] |= bit(action);
                csv += &corrected_row(row, ACTIONS[action], dialect);
            }
        }
        let selection = Box::new(Selection::Corrected(self.upload(&csv)));
        self.begin_request(Act::Retry { generation: job.generation, selection });
    }

    /// Stores a corrected file as an upload.
    fn upload(&mut self, csv: &str) -> SourceFile {
        let id = format!("00000000-0000-4000-8000-{:012}", self.number());
        let key = upload_key(&TenantId::from_static(self.customer().tenant), FileGuid::parse(&id).expect("a UUID"));
        self.files.put(&key, packed(csv.into(), self.customer().is_compressed));
        let info = now(self.files.info(&key)).unwrap().unwrap();
        self.customer_mut().corrected.insert(key.clone());
        SourceFile::new(key, info, Format::Csv, "failed.csv")
    }

    fn reopen(&mut self, selection: Selection) {
        let (job, at) = (self.job(), clock());
        if !has_time(at, job.times.expires_at) {
            return;
        }
        let deadline_at = deadline(at, job.times.timeout_s, job.times.expires_at);
        let registration = lying::newest(&job);
        let reopen = Reopen { generation: job.generation, at, deadline_at, selection, registration };
        if let Reopened::Made(job) = now(self.store.reopen(&job, &reopen)).unwrap() {
            now(self.queues.send_create(&CreateMessage::new(&job))).unwrap();
        }
    }

    /// Deletes the job, in a call that crashes before it stops the job.
    pub(crate) fn delete_without_stop(&mut self) {
        now(self.store.delete(self.customer().id, clock())).unwrap();
    }

    /// Deletes the job, and stops it.
    pub(crate) fn delete(&mut self) {
        self.delete_without_stop();
        if self.job().is_live() {
            now(self.store.stop(self.customer().id, self.job().generation, &Stop::deleted(clock()))).unwrap();
        }
    }
}

/// A row of a corrected file.
fn corrected_row(row: usize, action: &str, dialect: Dialect) -> String {
    if dialect.json_lines {
        let json = line(row, action, Dialect { padding: 0, ..dialect });
        return format!("{row},\"{}\"\n", json.replace('"', "\"\""));
    }
    format!("{row},{row},{action}{}\n", if dialect.padding > 0 { ",x" } else { "" })
}
