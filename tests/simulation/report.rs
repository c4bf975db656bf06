//! The report as its reader sees it: row numbers by file.

use std::collections::BTreeMap;

use longshore::files::MemoryFiles;
use longshore::ports::report_key;
use longshore::result::ResultDocument;
use longshore_domain::job::Job;
use longshore_domain::records::Format;

/// The result document of a job.
pub(crate) fn result(files: &MemoryFiles, job: &Job) -> ResultDocument {
    let bytes = files.get(&report_key(job, "result.json")).expect("a finished job has a result document");
    serde_json::from_slice(&bytes).expect("the result document is JSON")
}

/// Number and `action` of each row of a file; nothing if it is not there.
pub(crate) fn rows(files: &MemoryFiles, job: &Job, name: &str) -> BTreeMap<usize, String> {
    let Some(bytes) = files.get(&report_key(job, name)) else { return BTreeMap::new() };
    let json = job.source.as_ref().is_some_and(|source| source.format == Format::JsonLines);
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let read: Vec<_> = reader.records().map(|row| row.expect("a report is rectangular")).collect();
    let rows: BTreeMap<_, _> =
        read.iter().map(|row| (row[0].parse().expect("the first cell is a number"), action_of(row, json))).collect();
    assert_eq!(rows.len(), read.len(), "{name} names no row twice");
    rows
}

/// A row repeats the columns of its file, or is one cell with its JSON line.
fn action_of(row: &csv::StringRecord, json: bool) -> String {
    if !json {
        return row[2].to_owned();
    }
    let item: serde_json::Value = serde_json::from_str(&row[1]).expect("the item is JSON");
    item["action"].as_str().expect("the action is a text").to_owned()
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
