//! A sample of the files of `tests/files` on the emulator: inspected, validated and imported. All of them run in memory
//! in `tests/corpus`.

#[path = "../corpus/case.rs"]
mod case;

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use self::case::{Case, Row};
use crate::shared::{Story, counts, dataset, error_code, stack};

/// Number of files with `sample` in the manifest.
const SAMPLE: usize = 20;

/// Inspects a file, validates it with the request of the inspection, and imports it from the validation.
fn import(case: &Case) -> Story {
    let stack = stack();
    let upload = stack.client.upload(case.file_name(), &case.bytes())?;
    let dataset = dataset(&case.name.replace(['/', '.'], "-"));
    let mut options = case.options();
    options["dataset"] = json!(dataset);
    options["mode"] = json!("validate");
    let body = json!({ "jobType": "import", "options": options, "reading": case.reading });
    let found = stack.client.post(&format!("/api/uploads/{upload}/inspect"), &body)?.expect(200)?;
    ensure!(found["error"]["code"] == json!(case.error), "inspect: {}", found["error"]);
    let request = match &found["request"] {
        Value::Null => {
            json!({ "jobType": "import", "fileGuid": upload, "options": options, "reading": case.reading })
        }
        request => request.clone(),
    };
    let started = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = started["jobId"].as_str().unwrap_or_default().to_owned();
    let checked = Watch::new(stack, &id).end()?;
    if let Some(code) = case.error.as_deref() {
        ensure!(checked["status"] == "failed" && error_code(&checked) == code, "{checked}");
        return Ok(());
    }
    let rows = case.rows().len();
    ensure!(checked["status"] == "completed" && checked["itemCount"] == rows, "{rows} rows: {checked}");
    ensure!(checked["source"]["prepared"]["sheet"] == json!(case.expect.get("sheet")), "{checked}");
    let started = stack.client.start_import(&id)?.expect(202)?;
    let id = started["jobId"].as_str().unwrap_or_default().to_owned();
    let imported = Watch::new(stack, &id).end()?;
    ensure!(imported["status"] == "completed" && counts(&imported) == counts(&checked), "{checked}: {imported}");
    if rows > 0 && !case.columns.is_empty() { check_first_record(case, &dataset) } else { Ok(()) }
}

/// Checks a record of the first row with a key that no other row has.
fn check_first_record(case: &Case, dataset: &str) -> Story {
    // Some rows fail by design.
    let mut by_key: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in case.rows().into_iter().filter(|row| !row.has_error) {
        by_key.entry(row.cells[0].clone()).or_default().push(row);
    }
    let own = by_key.iter().find(|(key, rows)| !key.is_empty() && rows.len() == 1);
    let Some((value, rows)) = own.filter(|_| !case.has_values()) else { return Ok(()) };
    let records = stack().client.records(dataset)?;
    let record = &records.get(value).with_context(|| format!("no record {value} of {:?}", records.keys()))?["record"];
    ensure!(record[case.key()] == *value, "{record}");
    for (column, cell) in case.columns.iter().zip(&rows[0].cells).filter(|(_, cell)| !cell.is_empty()) {
        ensure!(record[column] == *cell, "{column} is not {cell}: {record}");
    }
    Ok(())
}

#[test]
fn a_sample_of_files_is_inspected_validated_and_imported() -> Story {
    let sample: Vec<_> = Case::all().into_iter().filter(|case| case.sample).collect();
    assert_eq!(sample.len(), SAMPLE);
    for case in &sample {
        import(case).with_context(|| case.name.clone())?;
    }
    Ok(())
}

#[test]
fn failed_rows_of_a_workbook_name_the_row_of_the_sheet_and_are_corrected_by_a_compressed_file() -> Story {
    let stack = stack();
    let case = Case::all().into_iter().find(|case| case.name == "workbooks/title-above.xlsx").context("the case")?;
    let options = json!({ "dataset": dataset("sheet"), "key": case.key() });
    let upload = stack.client.upload(case.file_name(), &case.bytes())?;
    let job = stack.client.request_job("import", Some(&upload), &options)?.expect(202)?;
    let job = Watch::new(stack, job["jobId"].as_str().unwrap_or_default()).end()?;
    ensure!(job["status"] == "completed" && job["source"]["prepared"]["form"] == "workbook", "{job}");
    // All keys exist now, so each row fails.
    let insert = json!({ "dataset": options["dataset"], "key": case.key(), "mode": "insert" });
    let job = stack.client.request_job("import", Some(&upload), &insert)?.expect(202)?;
    let id = job["jobId"].as_str().unwrap_or_default().to_owned();
    let job = Watch::new(stack, &id).end()?;
    let expected: Vec<_> = case.rows().iter().map(|row| json!(row.row)).collect();
    let rows = expected.len() as u64;
    ensure!(counts(&job) == [0, rows, 0], "{job}");
    let failures = stack.client.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
    let failed = failures["failures"].as_array().into_iter().flatten();
    let found: Vec<_> = failed.map(|failure| failure["sheetRow"].clone()).collect();
    assert_eq!(found, expected, "{failures}");
    let file = stack.client.output(&id, "failed.csv")?;
    let text = String::from_utf8(file)?;
    let (header, lines) = text.split_once("\r\n").context("a header")?;
    ensure!(header.starts_with("row,sheet_row,"), "{header}");
    let corrected = lines.lines().map(|line| {
        let mut cells = line.splitn(3, ',');
        let mut next = || cells.next().unwrap_or_default();
        format!("{},{},new-{}\r\n", next(), next(), next().trim_start_matches('\''))
    });
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(format!("{header}\r\n{}", corrected.collect::<String>()).as_bytes())?;
    let upload = stack.client.upload("failed.csv.gz", &encoder.finish()?)?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [rows, 0, 0], "{job}");
    ensure!(Report::read(&stack.client, &id)?.failed.is_empty(), "a row is left");
    Ok(())
}
