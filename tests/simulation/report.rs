//! The report as a client reads it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use csv_core::{ReadRecordResult, Reader};
use longshore::ports::{report_file_keys, report_key};
use longshore::result::ResultDocument;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use longshore_testing::MemoryFiles;

/// A job that has ended, with the content of its report.
pub(crate) struct Ended<'a> {
    pub(crate) job: &'a Job,
    /// Possible actions of each row, one bit per action.
    pub(crate) possible: &'a [u8],
    /// Numbers of the rows that succeeded.
    pub(crate) succeeded: &'a [usize],
    /// Numbers of the rows that were skipped.
    pub(crate) skipped: &'a [usize],
    /// Codes of the rows that failed.
    pub(crate) failed: &'a BTreeMap<usize, String>,
}

/// The result document of a job.
pub(crate) fn result(files: &MemoryFiles, job: &Job) -> ResultDocument {
    let bytes = files.get(&report_key(job, "result.json")).expect("a finished job has a result document");
    serde_json::from_slice(&bytes).expect("the result document is JSON")
}

/// A file of the report, written in one call or in parts.
fn file(files: &MemoryFiles, job: &Job, name: &str) -> Option<Vec<u8>> {
    report_file_keys(job, name).iter().find_map(|key| files.get(key))
}

/// Number and `action` of each row of a file. Empty if the file does not exist.
pub(crate) fn rows(files: &MemoryFiles, job: &Job, name: &str) -> BTreeMap<usize, String> {
    let Some(bytes) = file(files, job, name) else { return BTreeMap::new() };
    let format = job.source.as_ref().map(|source| source.format);
    let records = &records(&bytes)[1..];
    let number = |row: &[String]| row[0].parse::<usize>().expect("the first cell is a number");
    let rows: BTreeMap<_, _> = records.iter().map(|row| (number(row), action_of(row, format))).collect();
    assert_eq!(rows.len(), records.len(), "{name} lists a row twice");
    rows
}

/// The action of a row. The row has the columns of its CSV file, or a cell with its JSON line.
fn action_of(row: &[String], format: Option<Format>) -> String {
    if format != Some(Format::JsonLines) {
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
    let records = records(&bytes);
    let code = records[0].iter().position(|name| name == "code").expect("failures have a code");
    records[1..].iter().map(|row| (row[0].parse().expect("the first cell is a number"), row[code].clone())).collect()
}

thread_local! {
    /// Reader for all reports, because creating one takes longer than reading a report.
    static READER: RefCell<Reader> = RefCell::new(Reader::new());
}

/// Header and rows of a file.
fn records(mut bytes: &[u8]) -> Vec<Vec<String>> {
    let (mut text, mut ends, mut rows) = (vec![0; bytes.len() + 1], vec![0; bytes.len() + 1], Vec::new());
    READER.with_borrow_mut(|reader| {
        reader.reset();
        loop {
            let (result, consumed, _, cells) = reader.read_record(bytes, &mut text, &mut ends);
            bytes = &bytes[consumed..];
            match result {
                ReadRecordResult::Record => rows.push(cells_of(&text, &ends[..cells])),
                ReadRecordResult::InputEmpty => assert!(bytes.is_empty(), "a report ends with a line end"),
                ReadRecordResult::End => break,
                full => panic!("a record does not fit into the buffers: {full:?}"),
            }
        }
    });
    assert!(!rows.is_empty(), "a report has a header");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "all rows of a report have the same number of cells");
    rows
}

fn cells_of(text: &[u8], ends: &[usize]) -> Vec<String> {
    let starts = std::iter::once(&0).chain(ends);
    let cell = |(start, end): (&usize, &usize)| String::from_utf8(text[*start..*end].to_vec());
    starts.zip(ends).map(|cells| cell(cells).expect("a report is UTF-8")).collect()
}
