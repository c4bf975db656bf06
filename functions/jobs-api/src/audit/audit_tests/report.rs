//! Audits of the report's files.

use longshore::receipt::RECEIPT_NAME;
use longshore::result::RESULT_NAME;
use longshore_domain::ids::{ChunkId, JobId};

use super::audited::*;

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
