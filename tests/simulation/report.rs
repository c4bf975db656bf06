//! The report as its reader sees it: row numbers by file.

use std::cell::RefCell;
use std::collections::BTreeMap;

use csv_core::{ReadRecordResult, Reader};
use longshore::ports::{report_file_keys, report_key};
use longshore::result::ResultDocument;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use longshore_testing::MemoryFiles;

/// A job that has ended, as its report shows it.
pub(crate) struct Ended<'a> {
    pub(crate) job: &'a Job,
    /// Actions that each row may have had, one bit per action.
    pub(crate) possible: &'a [u8],
    /// Numbers of the rows that succeeded.
    pub(crate) succeeded: &'a [usize],
    /// Codes of the rows that failed.
    pub(crate) failed: &'a BTreeMap<usize, String>,
}

/// The result document of a job.
pub(crate) fn result(files: &MemoryFiles, job: &Job) -> ResultDocument {
    let bytes = files.get(&report_key(job, "result.json")).expect("a finished job has a result document");
    serde_json::from_slice(&bytes).expect("the result document is JSON")
}

/// A file of the report, written whole or uploaded in parts.
fn file(files: &MemoryFiles, job: &Job, name: &str) -> Option<Vec<u8>> {
    report_file_keys(job, name).iter().find_map(|key| files.get(key))
}

/// Number and `action` of each row of a file. Empty if the file does not exist.
pub(crate) fn rows(files: &MemoryFiles, job: &Job, name: &str) -> BTreeMap<usize, String> {
    let Some(bytes) = file(files, job, name) else { return BTreeMap::new() };
    let json = job.source.as_ref().is_some_and(|source| source.format == Format::JsonLines);
    let read = &records(&bytes)[1..];
    let rows: BTreeMap<_, _> =
        read.iter().map(|row| (row[0].parse().expect("the first cell is a number"), action_of(row, json))).collect();
    assert_eq!(rows.len(), read.len(), "{name} names no row twice");
    rows
}

/// The action of a row. A row repeats the columns of its file, or is one cell with its JSON line.
fn action_of(row: &[String], json: bool) -> String {
    if !json {
        return row[2].clone();
    }
    let item: serde_json::Value = serde_json::from_str(&row[1]).expect("the item is JSON");
    item["action"].as_str().expect("the action is a text").to_owned()
}

/// The `code` column of `failed.csv`, by row.
pub(crate) fn codes(files: &MemoryFiles, job: &Job) -> BTreeMap<usize, String> {
    let Some(bytes) = file(files, job, "failed.csv") else {
        return BTreeMap::new();
    };
    let read = records(&bytes);
    let code = read[0].iter().position(|name| name == "code").expect("failures have a code");
    read[1..].iter().map(|row| (row[0].parse().expect("the first cell is a number"), row[code].clone())).collect()
}

thread_local! {
    /// Reader for all reports: building one takes longer than reading a report.
    static READER: RefCell<Reader> = RefCell::new(Reader::new());
}

/// Header and rows of a file.
fn records(mut bytes: &[u8]) -> Vec<Vec<String>> {
    let (mut text, mut ends, mut read) = (vec![0; bytes.len() + 1], vec![0; bytes.len() + 1], Vec::new());
    READER.with_borrow_mut(|reader| {
        reader.reset();
        loop {
            let (result, taken, _, cells) = reader.read_record(bytes, &mut text, &mut ends);
            bytes = &bytes[taken..];
            match result {
                ReadRecordResult::Record => read.push(cells_of(&text, &ends[..cells])),
                ReadRecordResult::InputEmpty => assert!(bytes.is_empty(), "a report ends with a line's end"),
                ReadRecordResult::End => break,
                full => panic!("a report is larger than itself: {full:?}"),
            }
        }
    });
    assert!(!read.is_empty(), "a report has a header");
    assert!(read.iter().all(|row| row.len() == read[0].len()), "a report is rectangular");
    read
}

fn cells_of(text: &[u8], ends: &[usize]) -> Vec<String> {
    let starts = std::iter::once(&0).chain(ends);
    let cell = |(start, end): (&usize, &usize)| String::from_utf8(text[*start..*end].to_vec());
    starts.zip(ends).map(|cells| cell(cells).expect("a report is UTF-8")).collect()
}
