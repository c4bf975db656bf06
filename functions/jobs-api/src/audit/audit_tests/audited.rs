//! A consistent job for tests to tamper with, and its audit.

use futures::FutureExt;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::ports::{JobFolder, report_key};
use longshore::receipt::{Basis, CodeVersion, FileReceipt, InputReceipt, PartReceipt, RECEIPT_NAME, Receipt};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Finish, Job, SourceFile, SplitState, Stage, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryFiles;

use crate::audit::document::AuditDocument;
use crate::audit::findings::Findings;
use crate::audit::ledger::Records;
use crate::audit::recount::check_files;

pub(super) const SOURCE: &str = "uploads/t/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a10";
pub(super) const FAILED: &str = "row,id,code,field,message\r\n2,b,bad,,no\r\n5,e,bad,,no\r\n";
pub(super) const SKIPPED: &str = "row,id,reason\r\n3,c,asked\r\n";

/// The groups are separated by a blank line.
pub(super) const INPUT: &str = "id\na\nb\nc\nd\n\ne\nf\ng";

/// A job of seven items in two groups: 2 and 5 failed, 3 was skipped.
pub(super) struct Audited {
    pub(super) records: Records,
    pub(super) files: MemoryFiles,
    pub(super) in_time: bool,
}

impl Audited {
    pub(super) fn sound() -> Self {
        let files = MemoryFiles::default();
        files.put(SOURCE, INPUT);
        let job = ended(&files);
        let groups = vec![
            group(0, &[(1, 2, 3, 7), (3, 2, 7, 11)], Counts { succeeded: 2, failed: 1, skipped: 1 }),
            group(1, &[(5, 3, 12, 17)], Counts { succeeded: 2, failed: 1, skipped: 0 }),
        ];
        let mut audited = Self { records: Records { job, groups, results: None }, files, in_time: true };
        audited.put("failed.csv", FAILED);
        audited.put("skipped.csv", SKIPPED);
        audited.put_work(
            ChunkId::new(0, 0),
            r#"{"n":2,"end":"failed","code":"bad","field":null,"message":"no","raw":"b"}"#,
        );
        audited.put_work(ChunkId::new(0, 1), r#"{"n":3,"end":"skipped","reason":"asked","raw":"c"}"#);
        audited.put_work(
            ChunkId::new(1, 0),
            r#"{"n":5,"end":"failed","code":"bad","field":null,"message":"no","raw":"e"}"#,
        );
        audited.write_documents();
        audited
    }

    pub(super) fn key(&self, name: &str) -> String {
        report_key(&self.records.job, name)
    }

    pub(super) fn put(&self, name: &str, text: &str) {
        self.files.put(&self.key(name), text);
    }

    /// Stores the only work file of a chunk, of its first round, with these lines.
    pub(super) fn put_work(&mut self, id: ChunkId, lines: &str) {
        self.files.put(&self.work_key(id), format!("{{\"round\":0,\"prev\":null}}\n{lines}\n"));
        self.cursor(id).file = Some("w1".into());
    }

    pub(super) fn work_key(&self, id: ChunkId) -> String {
        JobFolder::for_job(&self.records.job).chunk(id).work_key("w1")
    }

    pub(super) fn cursor(&mut self, id: ChunkId) -> &mut Cursor {
        self.records.groups[id.group as usize].0.cursors.get_mut(&id.chunk).unwrap()
    }

    /// Writes the result and the receipt as completion does for the stored files.
    pub(super) fn write_documents(&self) {
        let job = &self.records.job;
        let counts = ResultCounts { succeeded: 4, failed: 2, skipped: 1, unprocessed: 0 };
        let file = |name, rows| Some(ReportFile { key: self.key(name), rows });
        let (failed, skipped) = (file("failed.csv", 2), file("skipped.csv", 1));
        let files = ReportFiles { failed, skipped, ..ReportFiles::default() };
        let result = ResultDocument::new(job, Report { counts, files, ..Report::default() });
        let input = InputReceipt { name: "p.csv".into(), size: 17, sha256: None, basis: Basis::Gone };
        let file = |name: &str, rows| FileReceipt {
            name: format!("p-{name}"),
            rows,
            fingerprint: print(&self.files.get(&self.key(name)).unwrap_or_default()),
        };
        let receipt = Receipt {
            job_id: job.job_id,
            job_type: job.job_type.clone(),
            generation: job.generation,
            item_count: 7,
            counts,
            input: job.file().map(|_| input),
            part: job.part().map(PartReceipt::from),
            corrected: None,
            files: vec![file("failed.csv", 2), file("skipped.csv", 1)],
            results: None,
            code: CodeVersion { version: "0".into(), commit: None },
        };
        self.files.put(&self.key(RESULT_NAME), serde_json::to_vec(&result).unwrap());
        self.files.put(&self.key(RECEIPT_NAME), serde_json::to_vec(&receipt).unwrap());
    }

    /// Replaces text in a document.
    pub(super) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.files.get(&self.key(name)).unwrap()).unwrap();
        assert!(text.contains(from), "{text}");
        self.put(name, &text.replace(from, to));
    }

    pub(super) fn audit(&self) -> AuditDocument {
        let mut findings = Findings::default();
        self.records.check(&mut findings);
        let in_time = || self.in_time;
        let (files, records) = (&self.files, &self.records);
        check_files(files, records, &in_time, &mut findings).now_or_never().unwrap().unwrap();
        findings.document(&records.job)
    }

    /// Returns check, place, expected and found of each difference.
    pub(super) fn differences(&self) -> Vec<String> {
        self.audit()
            .differences
            .iter()
            .map(|d| format!("{} of {}: {} {}", d.check, d.place, d.expected, d.found))
            .collect()
    }
}

pub(super) fn print(bytes: &[u8]) -> Fingerprint {
    let mut print = Fingerprinter::default();
    print.take(bytes);
    print.finish()
}

pub(super) fn ended(files: &MemoryFiles) -> Job {
    let info = longshore_domain::ports::Files::info(files, SOURCE).now_or_never().unwrap().unwrap().unwrap();
    let source = SourceFile::new(SOURCE, info, Format::Csv, "p.csv");
    let mut job = Job {
        source: Some(source.into()),
        status: Status::Running,
        stage: Stage::Processing,
        split: SplitState {
            ended: true,
            offset: 17,
            item_count: 7,
            groups: 2,
            sent_groups: 2,
            done_groups: [0, 1].into(),
            ..SplitState::default()
        },
        ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0))
    };
    let totals = Counts { succeeded: 4, failed: 2, skipped: 1 };
    job.finish(&Finish::new(Status::Completed, totals, Timestamp(9)));
    job
}

/// A group whose chunks (first, items, start, end) are complete.
pub(super) fn group(number: u32, chunks: &[(u64, u32, u64, u64)], counts: Counts) -> (Group, Option<Manifest>) {
    let plan = |(first, items, start, end)| ChunkPlan { first, items, start, end, oversize: false, keys: None };
    let manifest = Manifest { group: number, chunks: chunks.iter().copied().map(plan).collect() };
    let cursors = (0..).zip(chunks).map(|(chunk, _)| (chunk, cursor(0, 0, true))).collect();
    let group = Group::new(number, manifest.items(), manifest.bytes(), Timestamp(1));
    (Group { counts, cursors, ..group }, Some(manifest))
}

pub(super) fn cursor(round: u32, position: u32, finished: bool) -> Cursor {
    Cursor { round, position, token: "n1".into(), file: None, deferred: 0, due: None, finished, by_sweeper: false }
}

pub(super) type Tampering = (&'static str, fn(&mut Audited), &'static [&'static str]);

pub(super) fn plan(audited: &mut Audited, group: usize, chunk: usize) -> &mut ChunkPlan {
    &mut audited.records.groups[group].1.as_mut().unwrap().chunks[chunk]
}

/// Returns check and place of each difference.
pub(super) fn places(audited: &Audited) -> Vec<String> {
    audited.audit().differences.iter().map(|d| format!("{} of {}", d.check, d.place)).collect()
}

/// Returns the differences found without work files and input; `work` covers the others.
pub(super) fn without_files(differences: Vec<String>) -> Vec<String> {
    let found =
        |name: &str| name.starts_with("work_") || name.starts_with("planned_") || name.starts_with("input_items");
    differences.into_iter().filter(|name| !found(name)).collect()
}

/// Returns the verdict and the unchecked parts.
pub(super) fn unchecked(audited: &Audited) -> (Option<bool>, Vec<String>) {
    let document = audited.audit();
    assert_eq!(document.differences, []);
    (document.equal, document.unchecked.into_iter().map(|unchecked| unchecked.name).collect())
}
