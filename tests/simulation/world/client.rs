//! What the client does, and what it sees: answers that add up, and a report that is a partition of its rows.

use std::collections::{BTreeMap, BTreeSet};

use longshore::files::MemoryFiles;
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Reopen, SourceFile, Status, Stop};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::{Files, JobTransitions, Ledger, Queues, Reopened};
use longshore_domain::progress::Progress;
use longshore_domain::records::Format;

use super::{Message, World, clock, now};
use crate::handler::ACTIONS;
use crate::report;

impl World {
    /// As the API does it; the message may be lost like any other.
    pub(super) fn retry(&mut self) {
        self.reopen(None);
    }

    /// The same with a corrected file; its upload has the name of its generation.
    pub(crate) fn retry_with(&mut self, csv: &str) {
        let key = upload_key("default", file_of(self.job().generation));
        self.files.put(&key, csv);
        let info = now(self.files.info(&key)).unwrap().unwrap();
        let (size_bytes, etag) = (info.size_bytes, info.etag);
        self.reopen(Some(SourceFile { key, size_bytes, etag, format: Format::Csv, name: "failed.csv".into() }));
    }

    /// The corrected file of the present generation is gone from the bucket.
    pub(crate) fn lose_corrected(&self) {
        MemoryFiles::remove(&self.files, &self.job().corrected.expect("a corrected file").key);
    }

    fn reopen(&mut self, corrected: Option<SourceFile>) {
        let (job, at) = (self.job(), clock());
        let deadline_at = at.plus_seconds(10 * 24 * 3_600);
        let reopen = Reopen { generation: job.generation, at, deadline_at, corrected, only: None };
        if let Reopened::Made(job) = now(self.ports.store.0.reopen(&job, &reopen)).unwrap() {
            let (job_id, generation) = (job.job_id, job.generation);
            let create = CreateMessage { job_id, generation, position: job.groups, resend: 0 };
            now(self.queues.send_create(&create)).unwrap();
        }
    }

    /// The client deletes the job; if `stopped`, the call lives to tell it to stop.
    pub(crate) fn delete(&mut self, stopped: bool) {
        let store = &self.ports.store.0;
        now(store.delete(self.id, clock())).unwrap();
        if stopped && self.job().is_live() {
            now(store.stop(self.id, self.job().generation, &Stop::deleted(clock()))).unwrap();
        }
    }

    pub(super) fn assert_nothing_changes(&mut self) {
        let before = self.job();
        let again = CompleteMessage { job_id: self.id, generation: before.generation, resend: 9 };
        self.messages.push(Message::Complete(again));
        self.run_until_still();
        self.sweep();
        assert_eq!(self.job(), before, "after a final status nothing changes");
    }

    /// What a client sees: it adds up, and never goes back.
    pub(super) fn answer(&mut self) {
        let (groups, job) = now(self.ports.store.0.progress(self.id)).unwrap().unwrap();
        let progress = Progress::of(&job, &groups, clock());
        assert!(progress.item_progress() <= progress.item_count, "{progress:?}");
        let now = (job.generation, progress.item_progress(), progress.percent);
        if let Some(before) = self.seen.replace(now).filter(|before| before.0 == job.generation) {
            assert!(now.1 >= before.1 && now.2 >= before.2, "progress went back from {before:?} to {now:?}");
        }
        if job.status == Status::Completed {
            assert_eq!((progress.item_progress(), progress.percent), (progress.item_count, 100));
        }
    }

    /// Rows of one file of the report: number and action.
    pub(crate) fn reported(&self, name: &str) -> BTreeMap<usize, String> {
        report::rows(&self.files, &self.job(), name)
    }

    /// Codes of the rows that failed, in the report's order.
    pub(crate) fn failed_codes(&self) -> Vec<String> {
        report::codes(&self.files, &self.job())
    }

    /// Succeeded rows and the rows of the files are the input's rows, each exactly once, with the right outcome.
    pub(crate) fn check_report(&self, rows: &[usize]) {
        let (job, result) = (self.job(), report::result(&self.files, &self.job()));
        let [failed, skipped, unprocessed] =
            ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| report::rows(&self.files, &job, name));
        let named: BTreeSet<_> = failed.keys().chain(skipped.keys()).chain(unprocessed.keys()).collect();
        assert_eq!(named.len(), failed.len() + skipped.len() + unprocessed.len(), "no row is in two files");
        assert!(named.iter().all(|n| (1..=rows.len()).contains(*n)), "no row is invented");
        let totals = job.totals.expect("a finished job has totals");
        let succeeded: Vec<_> = (1..=rows.len()).filter(|n| !named.contains(n)).collect();
        assert_eq!(totals.succeeded as usize, succeeded.len());
        assert_eq!((totals.failed as usize, totals.skipped as usize), (failed.len(), skipped.len()));
        assert_eq!((result.status, result.counts.total() as usize), (job.status, rows.len()));
        assert!(
            succeeded.iter().all(|n| ["ok", "retry"].contains(&ACTIONS[rows[n - 1]])),
            "a row that failed counts as done"
        );
        assert!(skipped.values().all(|action| action == "skip"));
        assert!(failed.values().all(|action| ["reject", "never", "fatal"].contains(&action.as_str())), "{failed:?}");
    }
}

/// The upload of a generation's corrected file.
fn file_of(generation: u32) -> FileGuid {
    let text = format!("00000000-0000-4000-8000-{generation:012}");
    FileGuid::parse(&text).expect("a UUID")
}
