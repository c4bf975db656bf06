//! A sound job, and one thing of it changed at a time: the audit names that thing.

use futures::FutureExt;
use longshore::files::MemoryFiles;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::receipt::{Basis, CodeVersion, FileReceipt, InputReceipt};
use longshore::receipt::{RECEIPT_NAME, Receipt};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Base, Finish, Job, SourceFile, Stage, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::records::Format;
use longshore_domain::time_stamp::Timestamp;

use super::document::AuditDocument;
use super::findings::Findings;
use super::ledger::Records;
use super::report::ReportAudit;
use longshore::ports::JobFolder;

const SOURCE: &str = "uploads/t/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a10";
const FAILED: &str = "row,id,code,field,message\r\n2,b,bad,,no\r\n5,e,bad,,no\r\n";
const SKIPPED: &str = "row,id,reason\r\n3,c,asked\r\n";

/// A job of seven items in two groups, of which 2 and 5 failed and 3 was skipped.
struct Audited {
    records: Records,
    files: MemoryFiles,
    in_time: bool,
}

impl Audited {
    fn sound() -> Self {
        let files = MemoryFiles::default();
        files.put(SOURCE, "id\na\nb\nc\nd\ne\nf\ng\n");
        let job = ended(&files);
        let groups = vec![
            group(0, &[(1, 2, 3, 7), (3, 2, 7, 11)], Counts { succeeded: 2, failed: 1, skipped: 1 }),
            group(1, &[(5, 3, 12, 17)], Counts { succeeded: 2, failed: 1, skipped: 0 }),
        ];
        let audited = Self { records: Records { job, groups }, files, in_time: true };
        audited.put("failed.csv", FAILED);
        audited.put("skipped.csv", SKIPPED);
        audited.write_documents();
        audited
    }

    fn key(&self, name: &str) -> String {
        JobFolder::of(&self.records.job).report_key(self.records.job.generation, name)
    }

    fn put(&self, name: &str, text: &str) {
        self.files.put(&self.key(name), text);
    }

    /// Result and receipt as completion writes them for the files that are there.
    fn write_documents(&self) {
        let job = &self.records.job;
        let counts = ResultCounts { succeeded: 4, failed: 2, skipped: 1, unprocessed: 0 };
        let file = |name, rows| Some(ReportFile { key: self.key(name), rows });
        let files = ReportFiles { failed: file("failed.csv", 2), skipped: file("skipped.csv", 1), unprocessed: None };
        let result = ResultDocument::new(job, Report { counts, issues: Vec::new(), files });
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
            input: Some(input),
            corrected: None,
            files: vec![file("failed.csv", 2), file("skipped.csv", 1)],
            code: CodeVersion { version: "0".into(), commit: None },
        };
        self.files.put(&self.key(RESULT_NAME), serde_json::to_vec(&result).unwrap());
        self.files.put(&self.key(RECEIPT_NAME), serde_json::to_vec(&receipt).unwrap());
    }

    /// Changes a document's text.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.files.get(&self.key(name)).unwrap()).unwrap();
        assert!(text.contains(from), "{text}");
        self.put(name, &text.replace(from, to));
    }

    fn audit(&self) -> AuditDocument {
        let mut findings = Findings::default();
        self.records.check(&mut findings);
        let in_time = || self.in_time;
        let (files, records) = (&self.files, &self.records);
        if records.job.status.is_final() {
            let report = ReportAudit { files, records, in_time: &in_time, findings: &mut findings };
            report.check().now_or_never().unwrap().unwrap();
        }
        findings.document(&records.job)
    }

    /// Check, place, expected and found of each difference.
    fn differences(&self) -> Vec<String> {
        let told = self.audit().differences;
        told.iter().map(|d| format!("{} of {}: {} {}", d.check, d.place, d.expected, d.found)).collect()
    }
}

fn print(bytes: &[u8]) -> Fingerprint {
    let mut print = Fingerprinter::default();
    print.take(bytes);
    print.finish()
}

fn ended(files: &MemoryFiles) -> Job {
    let info = longshore_domain::ports::Files::info(files, SOURCE).now_or_never().unwrap().unwrap().unwrap();
    let source = SourceFile {
        key: SOURCE.into(),
        size_bytes: info.size_bytes,
        etag: info.etag,
        format: Format::Csv,
        name: "p.csv".into(),
    };
    let mut job = Job {
        source: Some(source),
        status: Status::Running,
        stage: Stage::Processing,
        split_ended: true,
        split_offset: 17,
        item_count: 7,
        groups: 2,
        sent_groups: 2,
        done_groups: [0, 1].into(),
        ..Job::waiting(JobId::generate(), "t", "import", Timestamp(0))
    };
    let totals = Counts { succeeded: 4, failed: 2, skipped: 1 };
    job.finish(&Finish { generation: 0, status: Status::Completed, totals, error: None, at: Timestamp(9) });
    job
}

/// A group whose chunks (first, items, start, end) are worked to their end.
fn group(number: u32, chunks: &[(u64, u32, u64, u64)], counts: Counts) -> (Group, Option<Manifest>) {
    let plan = |(first, items, start, end)| ChunkPlan { first, items, start, end, oversize: false };
    let manifest = Manifest { group: number, chunks: chunks.iter().copied().map(plan).collect() };
    let cursors = (0..).zip(chunks).map(|(chunk, _)| (chunk, cursor(0, 0, true))).collect();
    let group = Group::new(number, manifest.items(), manifest.bytes(), Timestamp(1));
    (Group { counts, cursors, ..group }, Some(manifest))
}

fn cursor(round: u32, position: u32, finished: bool) -> Cursor {
    Cursor { round, position, token: "n1".into(), file: None, filed: 0, due: None, finished }
}

#[test]
fn a_sound_job_is_equal() {
    let document = Audited::sound().audit();
    assert_eq!((document.differences, document.unchecked, document.equal), (vec![], vec![], Some(true)));
    assert!(document.checks.len() > 30, "{:?}", document.checks);
}

type Tampering = (&'static str, fn(&mut Audited), &'static [&'static str]);

#[test]
fn whatever_is_changed_in_the_table_is_named() {
    let table: [Tampering; 14] = [
        (
            "a group has lost a success",
            |a| a.records.groups[1].0.counts.succeeded -= 1,
            &["cursors of group 1: 2 3", "succeeded of job: 4 3", "completed_items of job: 7 6"],
        ),
        (
            "a success became a failure",
            |a| {
                a.records.groups[0].0.counts = Counts { succeeded: 1, failed: 2, skipped: 1 };
            },
            &["succeeded of job: 4 3", "failed of job: 2 3", "group_rows of group 0 in failed.csv: 2 1"],
        ),
        (
            "a failure went to another group",
            |a| {
                a.records.groups[0].0.counts = Counts { succeeded: 1, failed: 2, skipped: 1 };
                a.records.groups[1].0.counts = Counts { succeeded: 3, failed: 0, skipped: 0 };
            },
            &["group_rows of group 0 in failed.csv: 2 1", "group_rows of group 1 in failed.csv: 0 1"],
        ),
        ("a group has another size", |a| a.records.groups[1].0.items = 4, &["group_items of group 1: 3 4"]),
        ("a group has other bytes", |a| a.records.groups[1].0.bytes = 7, &["group_bytes of group 1: 5 7"]),
        (
            "a cursor went back",
            |a| {
                a.records.groups[0].0.cursors.insert(1, cursor(0, 1, false));
            },
            &["cursors of group 0: 4 3"],
        ),
        (
            "a cursor is gone",
            |a| {
                a.records.groups[0].0.cursors.remove(&1);
            },
            &["cursors of group 0: 4 2"],
        ),
        (
            "a cursor of no chunk",
            |a| {
                a.records.groups[0].0.cursors.insert(2, cursor(0, 0, true));
            },
            &["strange_cursors of group 0: 0 1"],
        ),
        (
            "a group is gone",
            |a| {
                a.records.groups.remove(0);
            },
            &[
                "succeeded of job: 4 2",
                "failed of job: 2 1",
                "skipped of job: 1 0",
                "completed_items of job: 7 3",
                "groups of job: 2 1",
                "item_numbers of chunk 0 of group 1: 1 5",
            ],
        ),
        (
            "a manifest is gone",
            |a| a.records.groups[1].1 = None,
            &["manifests of group 1: 1 0", "item_count of job: 7 4", "split_offset of job: 17 11"],
        ),
        (
            "a manifest has a gap",
            |a| plan(a, 0, 1).first = 4,
            &[
                "item_numbers of chunk 1 of group 0: 3 4",
                "item_numbers of chunk 0 of group 1: 6 5",
                "group_rows of group 0 in skipped.csv: 1 0",
            ],
        ),
        (
            "a manifest has an item more",
            |a| plan(a, 1, 0).items = 4,
            &["group_items of group 1: 4 3", "cursors of group 1: 3 4", "item_count of job: 7 8"],
        ),
        (
            "two ranges overlap",
            |a| plan(a, 1, 0).start = 10,
            &["group_bytes of group 1: 7 5", "byte_ranges of chunk 0 of group 1: at most 10 11"],
        ),
        (
            "the job has other totals",
            |a| a.records.job.totals = Some(Counts { succeeded: 5, failed: 1, skipped: 1 }),
            &[
                "succeeded of job: 5 4",
                "failed of job: 1 2",
                "result_succeeded of result.json: 5 4",
                "result_failed of result.json: 1 2",
            ],
        ),
    ];
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        assert_eq!(audited.differences(), expected, "{what}");
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}

fn plan(audited: &mut Audited, group: usize, chunk: usize) -> &mut ChunkPlan {
    &mut audited.records.groups[group].1.as_mut().unwrap().chunks[chunk]
}

/// Check and place of each difference.
fn places(audited: &Audited) -> Vec<String> {
    audited.audit().differences.iter().map(|d| format!("{} of {}", d.check, d.place)).collect()
}

#[test]
fn whatever_is_changed_in_the_report_is_named() {
    let table: [Tampering; 13] = [
        ("a byte", |a| a.put("failed.csv", &FAILED.replace(",e,", ",E,")), &["sha256 of failed.csv"]),
        (
            "a row is gone",
            |a| a.put("failed.csv", &FAILED.replace("5,e,bad,,no\r\n", "")),
            &[
                "rows of failed.csv",
                "group_rows of group 1 in failed.csv",
                "receipt_rows of failed.csv",
                "size of failed.csv",
                "sha256 of failed.csv",
            ],
        ),
        (
            "a row twice, and its number with it",
            |a| a.put("failed.csv", &FAILED.replace("5,e", "2,e")),
            &[
                "row_numbers of failed.csv",
                "row_numbers of failed.csv",
                "group_rows of group 1 in failed.csv",
                "sha256 of failed.csv",
            ],
        ),
        (
            "a row in two files",
            |a| a.put("skipped.csv", &SKIPPED.replace("3,c", "5,c")),
            &[
                "row_numbers of skipped.csv",
                "row_numbers of skipped.csv",
                "group_rows of group 0 in skipped.csv",
                "sha256 of skipped.csv",
            ],
        ),
        (
            "a row of no item",
            |a| a.put("skipped.csv", &SKIPPED.replace("3,c", "8,c")),
            &[
                "row_numbers of skipped.csv",
                "row_numbers of skipped.csv",
                "group_rows of group 0 in skipped.csv",
                "sha256 of skipped.csv",
            ],
        ),
        ("a file is gone", |a| a.files.remove(&a.key("skipped.csv")), &["rows of skipped.csv"]),
        (
            "the result counts others",
            |a| a.edit(RESULT_NAME, "\"failed\":2,", "\"failed\":3,"),
            &[
                "result_failed of result.json",
                "result_items of result.json",
                "receipt_counts of receipt.json",
                "result_rows of failed.csv",
                "rows of failed.csv",
            ],
        ),
        (
            "the result names another's file",
            |a| a.edit(RESULT_NAME, "jobs/t/", "jobs/u/"),
            &["result_files of failed.csv", "result_files of skipped.csv"],
        ),
        ("the result is damaged", |a| a.put(RESULT_NAME, "{"), &["result of result.json"]),
        ("the receipt is damaged", |a| a.put(RECEIPT_NAME, ""), &["receipt of receipt.json"]),
        (
            "the receipt is another's",
            |a| a.edit(RECEIPT_NAME, &a.records.job.job_id.to_string(), &JobId::generate().to_string()),
            &["receipt of receipt.json"],
        ),
        (
            "the receipt names no skipped rows",
            |a| a.edit(RECEIPT_NAME, "p-skipped.csv", "p-else.csv"),
            &["receipt_files of skipped.csv"],
        ),
        ("the input is another file", |a| a.files.put(SOURCE, "id\na\n"), &["input of p.csv"]),
    ];
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        assert_eq!(places(&audited), expected, "{what}");
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}

/// What could not be checked.
fn unchecked(audited: &Audited) -> (Option<bool>, Vec<String>) {
    let document = audited.audit();
    assert_eq!(document.differences, []);
    (document.equal, document.unchecked.into_iter().map(|unchecked| unchecked.name).collect())
}

#[test]
fn what_could_not_be_checked_is_never_called_equal() {
    type Lack = (&'static str, fn(&mut Audited), &'static [&'static str]);
    let table: [Lack; 4] = [
        ("no time", |a| a.in_time = false, &["failed.csv", "skipped.csv"]),
        ("no report", |a| a.files.remove(&a.key(RESULT_NAME)), &["report"]),
        ("no receipt", |a| a.files.remove(&a.key(RECEIPT_NAME)), &["receipt"]),
        ("no input", |a| a.files.remove(SOURCE), &["input"]),
    ];
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        let (equal, names) = unchecked(&audited);
        assert_eq!((equal, names.iter().map(String::as_str).collect::<Vec<_>>()), (None, expected.to_vec()), "{what}");
    }
}

#[test]
fn of_a_job_that_runs_the_ledger_is_checked() {
    let mut audited = Audited::sound();
    let job = &mut audited.records.job;
    (job.status, job.stage, job.totals) = (Status::Running, Stage::Processing, None);
    let (group, _) = &mut audited.records.groups[1];
    group.cursors.insert(0, cursor(0, 2, false));
    group.counts.succeeded = 1;
    assert_eq!(unchecked(&audited), (None, vec!["totals".to_owned()]));
    // In a later round only the work files know which items have ended.
    let (group, _) = &mut audited.records.groups[1];
    group.cursors.insert(0, cursor(1, 0, false));
    assert_eq!(unchecked(&audited).0, None);
    // A group that was committed after the groups were read.
    audited.records.job.groups = 3;
    audited.records.job.item_count = 9;
    assert_eq!(unchecked(&audited).1, ["totals", "item_count"]);
    audited.records.groups[0].0.counts.succeeded = 9;
    assert_eq!(audited.audit().equal, Some(false));
}

#[test]
fn of_a_retry_the_base_is_what_the_generations_before_have_done() {
    let retried = || {
        let mut audited = Audited::sound();
        let job = &mut audited.records.job;
        job.base = Base {
            counts: Counts { succeeded: 4, failed: 0, skipped: 1 },
            groups: 2,
            split_ended: true,
            ..Base::default()
        };
        (job.generation, job.groups, job.done_groups) = (1, 3, [0, 1, 2].into());
        job.totals = Some(Counts { succeeded: 5, failed: 1, skipped: 1 });
        // The chunk of a work file has a first item, and no range.
        audited.records.groups.push(group(2, &[(2, 2, 0, 0)], Counts { succeeded: 1, failed: 1, skipped: 0 }));
        audited
    };
    assert_eq!(unchecked(&retried()), (None, vec!["report".to_owned()]));
    let mut audited = retried();
    audited.records.job.base.counts.succeeded = 3;
    assert_eq!(places(&audited)[..2], ["base_succeeded of job", "succeeded of job"]);
    let mut audited = retried();
    audited.records.groups[0].0.counts.skipped = 0;
    assert_eq!(places(&audited)[..2], ["cursors of group 0", "base_skipped of job"]);
    let mut audited = retried();
    plan(&mut audited, 1, 0).first = 6;
    assert_eq!(places(&audited), ["item_numbers of chunk 0 of group 1", "item_count of job"]);
}
