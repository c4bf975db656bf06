//! Audits of a job's stored files: of the report, of the work files and of the input.

use longshore::receipt::RECEIPT_NAME;
use longshore::result::RESULT_NAME;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Source;
use longshore_domain::ports::Files;

use super::audited::*;
use crate::audit::work::largest_chunk;

/// Replaces text in a chunk's work file.
fn edit(audited: &Audited, id: ChunkId, from: &str, to: &str) {
    let key = audited.work_key(id);
    let text = String::from_utf8(audited.files.get(&key).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    audited.files.put(&key, text.replace(from, to));
}

/// Replaces the input, and changes the job as if it had processed the replacement.
fn put_input(audited: &mut Audited, text: &str) {
    let Some(Source::File(source)) = &mut audited.records.job.source else { return };
    audited.files.put(&source.key, text);
    let info = futures::FutureExt::now_or_never(audited.files.info(&source.key)).unwrap().unwrap().unwrap();
    (source.etag, source.size_bytes) = (info.etag, info.size_bytes);
}

#[test]
fn every_change_of_the_report_is_reported() {
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
            "the result has other counts",
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
            "the result names a file of another tenant",
            |a| a.edit(RESULT_NAME, "jobs/t/", "jobs/u/"),
            &["result_files of failed.csv", "result_files of skipped.csv"],
        ),
        ("the result is damaged", |a| a.put(RESULT_NAME, "{"), &["result of result.json"]),
        ("the receipt is damaged", |a| a.put(RECEIPT_NAME, ""), &["receipt of receipt.json"]),
        (
            "the receipt belongs to another job",
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
        assert_eq!(without_files(places(&audited)), expected, "{what}");
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}

#[test]
fn a_job_is_never_equal_if_something_could_not_be_checked() {
    type Missing = (&'static str, fn(&mut Audited), &'static [&'static str]);
    let table: [Missing; 5] = [
        ("no time", |a| a.in_time = false, &["failed.csv", "skipped.csv", "work_files", "input_items"]),
        ("no work file", |a| a.files.remove(&a.work_key(ChunkId::new(0, 1))), &["work_files"]),
        ("no report", |a| a.files.remove(&a.key(RESULT_NAME)), &["report"]),
        ("no receipt", |a| a.files.remove(&a.key(RECEIPT_NAME)), &["receipt"]),
        ("no input", |a| a.files.remove(SOURCE), &["input", "input_items"]),
    ];
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        let (equal, names) = unchecked(&audited);
        assert_eq!((equal, names.iter().map(String::as_str).collect::<Vec<_>>()), (None, expected.to_vec()), "{what}");
    }
}

#[test]
fn the_size_of_a_chunk_includes_the_entries_of_its_work_files() {
    let mut audited = Audited::sound();
    let largest = |audited: &Audited| {
        let (group, manifest) = audited.records.planned().next().unwrap();
        largest_chunk(group, manifest)
    };
    assert_eq!(largest(&audited), 4 + 2 * 3_072, "two items of four bytes");
    audited.cursor(ChunkId::new(0, 0)).file = None;
    audited.cursor(ChunkId::new(0, 1)).file = None;
    assert_eq!(largest(&audited), 4, "no work file");
}

#[test]
fn every_change_of_a_work_file_is_reported() {
    let table: [Tampering; 7] = [
        (
            "a line is gone",
            |a| a.put_work(ChunkId::new(1, 0), ""),
            &["work_failed of group 1: 1 0", "work_rows of failed.csv: 1 2", "work_items of failed.csv"],
        ),
        (
            "a failure of another item",
            |a| edit(a, ChunkId::new(1, 0), "\"n\":5", "\"n\":6"),
            &["work_items of failed.csv"],
        ),
        (
            "a failure is skipped",
            |a| edit(a, ChunkId::new(1, 0), "\"failed\"", "\"skipped\""),
            &[
                "work_failed of group 1: 1 0",
                "work_skipped of group 1: 0 1",
                "work_rows of failed.csv: 1 2",
                "work_items of failed.csv",
                "work_rows of skipped.csv: 2 1",
                "work_items of skipped.csv",
            ],
        ),
        (
            "an ended item is waiting",
            |a| edit(a, ChunkId::new(0, 1), "\"skipped\"", "\"transient\""),
            &[
                "work_ended of group 0: 4 3",
                "work_skipped of group 0: 1 0",
                "work_waiting of group 0: 0 1",
                "work_rows of skipped.csv: 0 1",
                "work_items of skipped.csv",
            ],
        ),
        (
            "a file is damaged",
            |a| edit(a, ChunkId::new(0, 1), "\"n\":", "\"m\":"),
            &["work_files of chunk 1 of group 0"],
        ),
        (
            "the cursor refers to no work file",
            |a| a.cursor(ChunkId::new(0, 0)).file = None,
            &["work_failed of group 0: 1 0", "work_rows of failed.csv: 1 2", "work_items of failed.csv"],
        ),
        (
            "the cursor is behind the last item",
            |a| {
                let cursor = a.cursor(ChunkId::new(1, 0));
                (cursor.position, cursor.finished) = (9, false);
            },
            &["cursors of group 1: 3 9", "work_files of chunk 0 of group 1"],
        ),
    ];
    assert_differences(&table);
}

#[test]
fn a_plan_that_differs_from_the_input_is_reported() {
    let table: [Tampering; 3] = [
        (
            "a record fewer",
            |a| put_input(a, &INPUT.replace("a\nb\n", "aab\n")),
            &[
                "input_items of p.csv: 7 6",
                "planned_items of chunk 0 of group 0: 2 1",
                "planned_numbers of chunk 1 of group 0: 3 2",
                "planned_numbers of chunk 0 of group 1: 5 4",
            ],
        ),
        (
            "a record more",
            |a| put_input(a, &format!("{INPUT}\nh")),
            &["input_items of p.csv: 7 8", "input_size of receipt.json: 19 17"],
        ),
        (
            "a chunk that begins within a record",
            |a| plan(a, 0, 1).start = 8,
            &["planned_items of chunk 1 of group 0: 2 1", "planned_numbers of chunk 1 of group 0: 3 4"],
        ),
    ];
    assert_differences(&table);
}

fn assert_differences(table: &[Tampering]) {
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        let differences = audited.differences();
        for named in *expected {
            assert!(differences.iter().any(|difference| difference.starts_with(named)), "{what}: {differences:?}");
        }
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}
