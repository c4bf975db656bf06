//! A sample of the files of `tests/files` on the emulator: inspected, validated and imported. All of them run in memory in
//! `tests/corpus`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, error_code, stack};

/// Number of files with `sample` in the manifest.
const SAMPLE: usize = 20;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/files"))
}

fn sample() -> Result<Vec<Value>> {
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(folder().join("corpus.json"))?)?;
    Ok(cases.into_iter().filter(|case| case["sample"] == true).collect())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Inspects a file, validates it with the request of the inspection, and imports it from the validation.
fn import(case: &Value) -> Story {
    let stack = stack();
    let name = case["name"].as_str().context("a name")?;
    let upload = stack.client.upload(name.rsplit('/').next().unwrap_or(name), &std::fs::read(folder().join(name))?)?;
    let key = case["columns"][0].as_str().unwrap_or("id");
    let mut options = json!({ "dataset": dataset(&name.replace(['/', '.'], "-")), "key": key, "mode": "validate" });
    options.as_object_mut().into_iter().zip(case["options"].as_object()).for_each(|(all, own)| all.extend(own.clone()));
    let body = json!({ "jobType": "import", "options": options, "reading": case["reading"] });
    let found = stack.client.post(&format!("/api/uploads/{upload}/inspect"), &body)?.expect(200)?;
    ensure!(found["error"]["code"] == case["error"], "inspect: {}", found["error"]);
    let request = match &found["request"] {
        Value::Null => {
            json!({ "jobType": "import", "fileGuid": upload, "options": options, "reading": case["reading"] })
        }
        request => request.clone(),
    };
    let started = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = started["jobId"].as_str().unwrap_or_default().to_owned();
    let checked = Watch::new(stack, &id).end()?;
    if let Some(code) = case["error"].as_str() {
        ensure!(checked["status"] == "failed" && error_code(&checked) == code, "{checked}");
        return Ok(());
    }
    let rows = array(&case["rows"]).filter(|row| array(&row["cells"]).any(|cell| cell != "")).count() as u64;
    ensure!(checked["status"] == "completed" && checked["itemCount"] == rows, "{rows} rows: {checked}");
    ensure!(checked["source"]["prepared"]["sheet"] == case["expect"]["sheet"], "{checked}");
    let started = stack.client.start_import(&id)?.expect(202)?;
    let id = started["jobId"].as_str().unwrap_or_default().to_owned();
    let imported = Watch::new(stack, &id).end()?;
    ensure!(imported["status"] == "completed" && counts(&imported) == counts(&checked), "{checked}: {imported}");
    if rows > 0 && !array(&case["columns"]).collect::<Vec<_>>().is_empty() {
        check_first_record(case, options["dataset"].as_str().unwrap_or_default(), key)?;
    }
    Ok(())
}

/// Checks a record of the first row with a key that no other row has.
fn check_first_record(case: &Value, dataset: &str, key: &str) -> Story {
    let mut by_key: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    // Some rows fail by design.
    let is_different = |row: &Value| array(&case["disagreements"]).any(|other| other["row"] == row["row"]);
    for row in array(&case["rows"]).filter(|row| !is_different(row)) {
        by_key.entry(row["cells"][0].as_str().unwrap_or_default()).or_default().push(row);
    }
    let has_values = array(&case["values"]).next().is_some();
    let own = by_key.iter().find(|(key, rows)| !key.is_empty() && rows.len() == 1);
    let Some((value, rows)) = own.filter(|_| !has_values) else { return Ok(()) };
    let records = stack().client.records(dataset)?;
    let record = &records.get(*value).with_context(|| format!("no record {value} of {:?}", records.keys()))?["record"];
    ensure!(record[key] == *value, "{record}");
    for (column, cell) in array(&case["columns"]).zip(array(&rows[0]["cells"])).filter(|(_, cell)| *cell != "") {
        ensure!(record[column.as_str().unwrap_or_default()] == *cell, "{column} is not {cell}: {record}");
    }
    Ok(())
}

#[test]
fn a_sample_of_files_is_inspected_validated_and_imported() -> Story {
    let sample = sample()?;
    assert_eq!(sample.len(), SAMPLE);
    for case in &sample {
        import(case).with_context(|| case["name"].to_string())?;
    }
    Ok(())
}

#[test]
fn failed_rows_of_a_workbook_name_the_row_of_the_sheet_and_are_corrected_by_a_compressed_file() -> Story {
    let stack = stack();
    let file = std::fs::read(folder().join("workbooks/title-above.xlsx"))?;
    let case = sample()?.into_iter().find(|case| case["name"] == "workbooks/title-above.xlsx").context("the case")?;
    let key = case["columns"][0].as_str().unwrap_or_default();
    let options = json!({ "dataset": dataset("sheet"), "key": key });
    let upload = stack.client.upload("title-above.xlsx", &file)?;
    let job = stack.client.request_job("import", Some(&upload), &options)?.expect(202)?;
    let job = Watch::new(stack, job["jobId"].as_str().unwrap_or_default()).end()?;
    ensure!(job["status"] == "completed" && job["source"]["prepared"]["form"] == "workbook", "{job}");
    // All keys exist now, so each row fails.
    let insert = json!({ "dataset": options["dataset"], "key": key, "mode": "insert" });
    let job = stack.client.request_job("import", Some(&upload), &insert)?.expect(202)?;
    let id = job["jobId"].as_str().unwrap_or_default().to_owned();
    let job = Watch::new(stack, &id).end()?;
    let rows = case["rows"].as_array().map_or(0, Vec::len) as u64;
    ensure!(counts(&job) == [0, rows, 0], "{job}");
    let failures = stack.client.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
    let found: Vec<_> = array(&failures["failures"]).map(|failure| failure["sheetRow"].clone()).collect();
    let expected: Vec<_> = array(&case["rows"]).map(|row| row["row"].clone()).collect();
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
