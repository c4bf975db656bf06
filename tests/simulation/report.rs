//! The report as a client reads it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use calamine::{Reader as _, Xlsx};
use csv_core::{ReadRecordResult, Reader};
use flate2::read::MultiGzDecoder;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::job_types::export::NAME as EXPORT;
use longshore::ports::{JobFolder, report_file_keys, report_key};
use longshore::receipt::Receipt;
use longshore::result::{IndexedSlice, RESULTS_INDEX_NAME, ResultDocument};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use longshore_domain::results::{ResultFormat, ResultRow, ResultsForm};
use longshore_testing::MemoryFiles;
use serde_json::Value;

/// The action of a row whose content was removed with the source.
pub(crate) const GONE: &str = "";

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
    let format = job.record_format();
    let is_record = job.dataset().is_some();
    let is_export = job.job_type == EXPORT;
    let records = &records(&bytes)[1..];
    let number = |row: &[String]| row[0].parse::<usize>().expect("the first cell is a number");
    let rows: BTreeMap<_, _> = records
        .iter()
        .map(|row| {
            let action = match (is_export, is_record) {
                (true, _) => "ok".to_owned(),
                (false, true) => action_of_record(row),
                (false, false) => action_of(row, format),
            };
            (number(row), action)
        })
        .collect();
    assert_eq!(rows.len(), records.len(), "{name} lists a row twice");
    rows
}

/// Keys of the records in a file of a job over a dataset.
pub(crate) fn keys(files: &MemoryFiles, job: &Job, name: &str) -> Vec<String> {
    let Some(bytes) = file(files, job, name) else { return Vec::new() };
    records(&bytes)[1..].iter().map(|row| row[1].clone()).collect()
}

/// The action of a row. The row has the columns of its CSV file, or a cell with its JSON line, which is empty if the
/// source is gone.
fn action_of(row: &[String], format: Option<Format>) -> String {
    if format != Some(Format::JsonLines) {
        return row[2].clone();
    }
    if row[1].is_empty() {
        return GONE.to_owned();
    }
    let item: serde_json::Value = serde_json::from_str(&row[1]).expect("the item is JSON");
    item["action"].as_str().expect("the action is a text").to_owned()
}

/// The action of a record, from its key.
fn action_of_record(row: &[String]) -> String {
    let (number, action) = row[1].split_once('-').expect("a key has a number and an action");
    assert_eq!(number.parse::<usize>().ok(), row[0].parse().ok(), "an item has the number of its record");
    action.to_owned()
}

/// The `code` column of `failed.csv`, by row.
pub(crate) fn codes(files: &MemoryFiles, job: &Job) -> BTreeMap<usize, String> {
    column(files, job, "failed.csv", "code")
}

/// A column of a file, by row. Empty if the file does not exist.
fn column(files: &MemoryFiles, job: &Job, name: &str, column: &str) -> BTreeMap<usize, String> {
    let Some(bytes) = file(files, job, name) else { return BTreeMap::new() };
    let records = records(&bytes);
    let column = records[0].iter().position(|name| name == column).expect("the file has the column");
    records[1..].iter().map(|row| (row[0].parse().expect("the first cell is a number"), row[column].clone())).collect()
}

/// The `reason` column of `skipped.csv`, by row.
pub(crate) fn reasons(files: &MemoryFiles, job: &Job) -> BTreeMap<usize, String> {
    column(files, job, "skipped.csv", "reason")
}

/// The rows of the results file of a job, after a comparison of file, index, receipt and objects.
pub(crate) fn results(files: &MemoryFiles, job: &Job, form: &ResultsForm) -> Vec<Value> {
    let index = file(files, job, RESULTS_INDEX_NAME).unwrap_or_default();
    let mut lines = Vec::new();
    for slice in index.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let slice: IndexedSlice = serde_json::from_slice(slice).expect("a line of the index is JSON");
        let folder = JobFolder::for_job(job).chunk(ChunkId::new(slice.group, slice.chunk));
        let object = files.get(&folder.outputs_key(&slice.token)).expect("the object of a slice exists");
        assert_eq!(fingerprint(&object), (slice.outputs.bytes, slice.outputs.sha256), "the object of a slice");
        lines.extend(object);
    }
    // A workbook that invocations have begun too often is CSV.
    let csv = form.as_csv();
    let has_csv = form.format == ResultFormat::Xlsx && file(files, job, csv.file_name()).is_some();
    let form = if has_csv { &csv } else { form };
    let has_issue = result(files, job).issues.iter().any(|issue| issue.code == "results_as_csv");
    assert_eq!(has_issue, has_csv, "the issue says that the results are CSV");
    let text = file(files, job, form.file_name()).unwrap_or_default();
    let receipt = files.get(&report_key(job, "receipt.json")).expect("a finished job has a receipt");
    let receipt: Receipt = serde_json::from_slice(&receipt).expect("the receipt is JSON");
    if let Some(results) = receipt.results {
        let sha256 = results.sha256.unwrap_or_else(|| fingerprint(&text).1);
        assert_eq!((results.size, sha256), fingerprint(&text), "the receipt of the results");
        assert_eq!(fingerprint(&index), (results.index.fingerprint.size, results.index.fingerprint.sha256));
        assert_eq!(results.crc64nvme, STANDARD.encode(longshore::crc64::of(&text).to_be_bytes()));
    } else {
        assert!(text.is_empty() && lines.is_empty(), "results without a receipt");
    }
    let rows: Vec<Value> = match (form.format, form.gzip) {
        (ResultFormat::Jsonl, false) => values_of(&text),
        (ResultFormat::Jsonl, true) if !text.is_empty() => values_of(&unzipped(&text)),
        (ResultFormat::Jsonl, true) => Vec::new(),
        (ResultFormat::Xlsx, _) => values_in_workbook(text, form),
        (ResultFormat::Csv, _) => values_in_csv(&text, form),
    };
    let outputs = values_of(&lines);
    let expected: Vec<_> = outputs.iter().map(|output| selected(output, form)).collect();
    assert_eq!(rows, expected, "the file has the rows of its slices");
    outputs
}

/// An output with the members that are columns of the file, if it has columns.
fn selected(output: &Value, form: &ResultsForm) -> Value {
    if form.columns.is_empty() {
        return output.clone();
    }
    form.columns.iter().map(|column| (column.heading.clone(), output[&column.name].clone())).collect()
}

fn fingerprint(bytes: &[u8]) -> (u64, String) {
    let mut print = Fingerprinter::default();
    print.take(bytes);
    let Fingerprint { size, sha256 } = print.finish();
    (size, sha256)
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut text).expect("the file is gzip");
    text
}

/// The values of lines of JSON.
fn values_of(lines: &[u8]) -> Vec<Value> {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

/// The rows of a CSV file, as objects with its columns, or as the outputs if it has no other columns.
fn values_in_csv(text: &[u8], form: &ResultsForm) -> Vec<Value> {
    if text.is_empty() {
        return Vec::new();
    }
    values_of_rows(&records(text), form)
}

/// The values of rows of cells, of which the first is the header.
fn values_of_rows(records: &[Vec<String>], form: &ResultsForm) -> Vec<Value> {
    let json = |cell: &String| serde_json::from_str(cell).unwrap_or_else(|_| Value::String(cell.clone()));
    let object = |row: &Vec<String>| -> Value { records[0].iter().cloned().zip(row.iter().map(json)).collect() };
    let is_output = form.columns.is_empty() && form.row == ResultRow::Plain;
    records[1..].iter().map(|row| if is_output { json(&row[0]) } else { object(row) }).collect()
}

/// The rows of a workbook, like those of a CSV file.
fn values_in_workbook(bytes: Vec<u8>, form: &ResultsForm) -> Vec<Value> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut workbook = Xlsx::new(Cursor::new(bytes)).expect("the file is a workbook");
    let cells = workbook.worksheet_range("results").expect("the workbook has the sheet");
    values_of_rows(&cells.rows().map(|row| row.iter().map(ToString::to_string).collect()).collect::<Vec<_>>(), form)
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
