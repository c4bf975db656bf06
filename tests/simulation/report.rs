//! The report as its reader sees it: row numbers by file.

use std::collections::BTreeMap;

use longshore::files::MemoryFiles;
use longshore::ports::report_key;
use longshore::result::ResultDocument;
use longshore_domain::job::Job;

/// The result document of a job.
pub(crate) fn result(files: &MemoryFiles, job: &Job) -> ResultDocument {
    let bytes = files.get(&report_key(job, "result.json")).expect("a finished job has a result document");
    serde_json::from_slice(&bytes).expect("the result document is JSON")
}

/// Number and `action` column of each row of a file; nothing if it is not there.
pub(crate) fn rows(files: &MemoryFiles, job: &Job, name: &str) -> BTreeMap<usize, String> {
    let Some(bytes) = files.get(&report_key(job, name)) else { return BTreeMap::new() };
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let read: Vec<_> = reader.records().map(|row| row.expect("a report is rectangular")).collect();
    let rows: BTreeMap<_, _> =
        read.iter().map(|row| (row[0].parse().expect("the first cell is a number"), row[2].to_owned())).collect();
    assert_eq!(rows.len(), read.len(), "{name} names no row twice");
    rows
}

/// The `code` column of `failed.csv`, by row.
pub(crate) fn codes(files: &MemoryFiles, job: &Job) -> BTreeMap<usize, String> {
    let Some(bytes) = files.get(&report_key(job, "failed.csv")) else {
        return BTreeMap::new();
    };
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let header = reader.headers().expect("a report has a header");
    let code = header.iter().position(|name| name == "code").expect("failures have a code");
    let rows = reader.records().map(|row| row.expect("a report is rectangular"));
    rows.map(|row| (row[0].parse().expect("the first cell is a number"), row[code].to_owned())).collect()
}
