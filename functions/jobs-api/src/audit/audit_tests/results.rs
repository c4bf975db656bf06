//! Audits of the results: of the index, the outputs and the results file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::crc64;
use longshore::ports::JobFolder;
use longshore::receipt::{FileReceipt, RECEIPT_NAME, Receipt, ResultsReceipt};
use longshore::result::{IndexedSlice, RESULT_NAME, RESULTS_INDEX_NAME, ReportFile, ResultDocument};
use longshore_domain::ids::ChunkId;
use longshore_domain::results::{ResultFormat, ResultRow, ResultsForm};
use longshore_domain::work_file::{OutputSlice, WorkFileHeader};

use super::audited::*;

/// Chunk and lines of each slice: the outputs of 1, 4, 6 and 7.
const SLICES: [(ChunkId, &str); 3] = [
    (ChunkId::new(0, 0), "{\"number\":1,\"output\":\"a\"}\n"),
    (ChunkId::new(0, 1), "{\"number\":4,\"output\":\"d\"}\n"),
    (ChunkId::new(1, 0), "{\"number\":6,\"output\":\"f\"}\n{\"number\":7,\"output\":\"g\"}\n"),
];

pub(super) const CSV: &str = "number,output\r\n1,a\r\n4,d\r\n6,f\r\n7,g\r\n";

fn jsonl() -> String {
    SLICES.map(|(_, lines)| lines).concat()
}

fn outputs_of(lines: &str) -> OutputSlice {
    let rows = lines.lines().count() as u64;
    let (bytes, sha256) = (lines.len() as u64, print(lines.as_bytes()).sha256);
    OutputSlice { rows, bytes, sha256, crc64: crc64::of(lines.as_bytes()) }
}

/// The job of the other audits, with outputs.
pub(super) fn with_results(form: ResultsForm, file: &str) -> Audited {
    let mut audited = Audited::sound();
    for (id, lines) in SLICES {
        audited.files.put(&outputs_key(&audited, id), lines);
        let header = WorkFileHeader { outputs: Some(outputs_of(lines)), ..WorkFileHeader::default() };
        let work_file = String::from_utf8(audited.files.get(&audited.work_key(id)).unwrap()).unwrap();
        let header = serde_json::to_string(&header).unwrap();
        let work_file = work_file.replacen("{\"round\":0,\"prev\":null}", &header, 1);
        audited.files.put(&audited.work_key(id), work_file);
    }
    let index = SLICES.map(|(ChunkId { group, chunk }, lines)| {
        let slice = IndexedSlice { group, chunk, token: "w1".into(), outputs: outputs_of(lines) };
        serde_json::to_string(&slice).unwrap() + "\n"
    });
    audited.put(RESULTS_INDEX_NAME, &index.concat());
    audited.put(form.file_name(), file);
    add_to_documents(&audited, form.file_name(), file, &index.concat());
    audited.records.results = Some(form);
    audited
}

fn add_to_documents(audited: &Audited, name: &str, file: &str, index: &str) {
    let read = |name| audited.files.get(&audited.key(name)).unwrap();
    let mut result: ResultDocument = serde_json::from_slice(&read(RESULT_NAME)).unwrap();
    result.files.results = Some(ReportFile { key: audited.key(name), rows: 4 });
    result.files.results_index = Some(ReportFile { key: audited.key(RESULTS_INDEX_NAME), rows: 3 });
    let mut receipt: Receipt = serde_json::from_slice(&read(RECEIPT_NAME)).unwrap();
    let fingerprint = print(index.as_bytes());
    receipt.results = Some(ResultsReceipt {
        name: format!("p-{name}"),
        rows: 4,
        size: file.len() as u64,
        sha256: Some(print(file.as_bytes()).sha256),
        crc64nvme: STANDARD.encode(crc64::of(file.as_bytes()).to_be_bytes()),
        index: FileReceipt { name: format!("p-{RESULTS_INDEX_NAME}"), rows: 3, fingerprint },
    });
    audited.put(RESULT_NAME, &serde_json::to_string(&result).unwrap());
    audited.put(RECEIPT_NAME, &serde_json::to_string(&receipt).unwrap());
}

fn sound() -> Audited {
    with_results(ResultsForm::default(), &jsonl())
}

fn outputs_key(audited: &Audited, id: ChunkId) -> String {
    JobFolder::for_job(&audited.records.job).chunk(id).outputs_key("w1")
}

fn put_outputs(audited: &Audited, id: ChunkId, lines: &str) {
    audited.files.put(&outputs_key(audited, id), lines);
}

#[test]
fn sound_results_are_equal_in_every_format() {
    let csv = ResultsForm { format: ResultFormat::Csv, ..ResultsForm::default() };
    let zipped = ResultsForm { gzip: true, ..ResultsForm::default() };
    let plain = ResultsForm { row: ResultRow::Plain, ..ResultsForm::default() };
    let forms = [(ResultsForm::default(), &jsonl()), (csv, &CSV.into()), (zipped, &"zip".into()), (plain, &jsonl())];
    for (form, file) in forms {
        let document = with_results(form.clone(), file).audit();
        assert_eq!(
            (document.differences, document.unchecked, document.equal),
            (vec![], vec![], Some(true)),
            "{form:?}"
        );
    }
}

const TAMPERINGS: [Tampering; 15] = [
    (
        "the worker lost an output",
        |a| put_outputs(a, ChunkId::new(1, 0), "{\"number\":6,\"output\":\"f\"}\n"),
        &[
            "output_rows of outputs w1 of chunk 0 of group 1: 2 1",
            "output_size of outputs w1 of chunk 0 of group 1: 52 26",
            "output_sha256 of outputs w1 of chunk 0 of group 1",
            "result_items of results.jsonl",
        ],
    ),
    (
        "an output has another byte",
        |a| put_outputs(a, ChunkId::new(0, 0), "{\"number\":1,\"output\":\"A\"}\n"),
        &["output_sha256 of outputs w1 of chunk 0 of group 0"],
    ),
    (
        "an output of a failed item",
        |a| put_outputs(a, ChunkId::new(0, 0), "{\"number\":2,\"output\":\"a\"}\n"),
        &[
            "output_sha256 of outputs w1 of chunk 0 of group 0",
            "row_numbers of results.jsonl: 4 3",
            "row_numbers of results.jsonl: one row for each item of the job row 2",
            "result_items of results.jsonl",
        ],
    ),
    (
        "the outputs are gone",
        |a| a.files.remove(&outputs_key(a, ChunkId::new(0, 1))),
        &["output_rows of outputs w1 of chunk 1 of group 0: 1 0", "result_items of results.jsonl"],
    ),
    (
        "a byte of the file",
        |a| a.edit("results.jsonl", "\"d\"", "\"D\""),
        &["sha256 of results.jsonl", "crc64nvme of results.jsonl"],
    ),
    (
        "a row of the file is gone",
        |a| a.edit("results.jsonl", SLICES[1].1, ""),
        &[
            "rows of results.jsonl: 4 3",
            "result_items of results.jsonl",
            "size of results.jsonl: 104 78",
            "sha256 of results.jsonl",
            "crc64nvme of results.jsonl",
        ],
    ),
    (
        "a row of the file twice",
        |a| a.edit("results.jsonl", SLICES[1].1, SLICES[0].1),
        &["result_items of results.jsonl", "sha256 of results.jsonl", "crc64nvme of results.jsonl"],
    ),
    ("the file is gone", |a| a.files.remove(&a.key("results.jsonl")), &["rows of results.jsonl: 4 0"]),
    ("the index is gone", |a| a.files.remove(&a.key(RESULTS_INDEX_NAME)), &["rows of results-index.jsonl: 3 0"]),
    (
        "the index has a row fewer",
        |a| a.edit(RESULTS_INDEX_NAME, "\"rows\":2", "\"rows\":1"),
        &[
            "index_rows of results-index.jsonl: 4 3",
            "group_rows of group 1 in results-index.jsonl: 2 1",
            "sha256 of results-index.jsonl",
            "work_outputs of results-index.jsonl",
            "output_rows of outputs w1 of chunk 0 of group 1: 1 2",
        ],
    ),
    (
        "the index names another chunk",
        |a| a.edit(RESULTS_INDEX_NAME, "\"chunk\":1", "\"chunk\":0"),
        &[
            "sha256 of results-index.jsonl",
            "work_outputs of results-index.jsonl",
            "output_sha256 of outputs w1 of chunk 0 of group 0",
            "row_numbers of results.jsonl: 4 3",
            "row_numbers of results.jsonl: one row for each item of the job row 1",
            "result_items of results.jsonl",
        ],
    ),
    (
        "the index is damaged",
        |a| a.edit(RESULTS_INDEX_NAME, "{\"group\":1", "[\"group\":1"),
        &[
            "index_lines of results-index.jsonl: 3 2",
            "index_rows of results-index.jsonl: 4 2",
            "group_rows of group 1 in results-index.jsonl: 2 0",
            "sha256 of results-index.jsonl",
            "work_slices of results-index.jsonl: 3 2",
            "work_outputs of results-index.jsonl",
            "result_items of results.jsonl",
        ],
    ),
    (
        "a commit names no outputs",
        |a| {
            let key = a.work_key(ChunkId::new(0, 1));
            let lines = String::from_utf8(a.files.get(&key).unwrap()).unwrap();
            let (_, lines) = lines.split_once('\n').unwrap();
            a.files.put(&key, format!("{{\"round\":0,\"prev\":null}}\n{lines}"));
        },
        &[
            "work_succeeded of group 0: 2 1",
            "work_slices of results-index.jsonl: 2 3",
            "work_outputs of results-index.jsonl",
        ],
    ),
    (
        "the result names no results",
        |a| a.edit(RESULT_NAME, "\"results\":", "\"other\":"),
        &["result_files of results.jsonl", "result_rows of results.jsonl: 4 0"],
    ),
    (
        "the receipt has other results",
        |a| {
            a.edit(RECEIPT_NAME, "p-results.jsonl", "q-results.jsonl");
            a.edit(RECEIPT_NAME, "\"rows\":4", "\"rows\":5");
            a.edit(RECEIPT_NAME, "\"rows\":3,", "\"rows\":2,");
        },
        &[
            "receipt_results of results.jsonl",
            "receipt_rows of results.jsonl: 5 4",
            "receipt_rows of results-index.jsonl: 2 3",
        ],
    ),
];

#[test]
fn every_change_of_the_results_is_reported() {
    for (what, change, expected) in TAMPERINGS {
        let mut audited = sound();
        change(&mut audited);
        let differences = audited.differences();
        assert_eq!(differences.len(), expected.len(), "{what}: {differences:?}");
        for (difference, expected) in differences.iter().zip(expected) {
            assert!(difference.starts_with(expected), "{what}: {differences:?}");
        }
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}

#[test]
fn rows_of_csv_results_are_compared_with_the_outputs() {
    let csv = ResultsForm { format: ResultFormat::Csv, ..ResultsForm::default() };
    for (file, expected) in [
        (CSV.replace("4,d\r\n", ""), &["rows of results.csv: 4 3", "result_items of results.csv"][..]),
        (CSV.replace("4,d", "5,d"), &["result_items of results.csv"]),
    ] {
        let differences = with_results(csv.clone(), &file).differences();
        assert_eq!(differences.len(), expected.len(), "{differences:?}");
        assert!(
            differences.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)),
            "{differences:?}"
        );
    }
}

#[test]
fn results_of_a_job_without_outputs_are_reported() {
    let mut audited = sound();
    audited.records.results = None;
    let expected = [
        "result_files of results",
        "result_rows of results",
        "result_files of results-index.jsonl",
        "result_rows of results-index.jsonl",
        "receipt_files of results",
        "receipt_results of results",
        "receipt_rows of results",
        "work_slices of results-index.jsonl",
        "work_outputs of results-index.jsonl",
    ];
    assert_eq!(places(&audited), expected);
}

#[test]
fn results_that_cannot_be_read_in_time_are_unchecked() {
    let mut audited = sound();
    audited.in_time = false;
    let (equal, names) = unchecked(&audited);
    assert_eq!(equal, None);
    assert!(names.contains(&RESULTS_INDEX_NAME.to_owned()), "{names:?}");
}
