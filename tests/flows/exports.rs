//! Exports: files that are imported and exported again, as they were, and exports while other jobs write.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, lines, stack, work};

/// Exports a dataset, and returns the job and a file of its results.
fn export(stack: &Stack, name: &str, results: &Value, file: &str) -> Result<(Value, Vec<u8>)> {
    let request = json!({ "jobType": "export", "source": { "dataset": name }, "results": results });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = job["jobId"].as_str().context("no id")?;
    let job = Watch::new(stack, id).end()?;
    ensure!(job["status"] == "completed", "{job}");
    let audit = stack.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
    ensure!(audit["equal"] == true, "{audit}");
    Ok((job, stack.client.output(id, file)?))
}

fn import(stack: &Stack, file_name: &str, file: &[u8], options: &Value) -> Result<Value> {
    let id = stack.client.start("import", file_name, file, options)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job)[1..] == [0, 0], "{job}");
    Ok(job)
}

/// The data of the records of a dataset, by key.
fn data(stack: &Stack, name: &str) -> Result<BTreeMap<String, Value>> {
    Ok(stack.client.records(name)?.into_iter().map(|(key, record)| (key, record["record"].clone())).collect())
}

fn unzipped(bytes: &[u8]) -> Result<String> {
    let mut text = String::new();
    MultiGzDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

/// Cells that need care: formulas, quotes, line ends, white space, other scripts, and texts that look like numbers.
const CELLS: [&str; 12] =
    ["=1+1", "+a", "-b", "@c", "\t=d", "\re", "a;=b\n-c", "'=f", "say \"x\", y", " 007 ", "1.50", "Zoë 日本"];

#[test]
fn a_file_of_text_columns_is_exported_byte_for_byte() -> Story {
    let (stack, name) = (stack(), dataset("byte-for-byte"));
    let cell = |text: &str| {
        let is_quoted = text.contains(['"', ',', '\n', '\r']);
        if is_quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let row = |n: usize| format!("k{n:05},{},{}\r\n", cell(CELLS[n % CELLS.len()]), n / CELLS.len());
    let file = format!("id,Zahl \"x\",n\r\n{}", (0..2_500).map(row).collect::<String>());
    let file = file.replace("Zahl \"x\"", &cell("Zahl \"x\""));
    import(stack, "file.csv", file.as_bytes(), &json!({ "dataset": name, "key": "id" }))?;
    let columns = json!([{ "name": "id" }, { "name": "Zahl \"x\"" }, { "name": "n" }]);
    let results = json!({ "format": "csv", "formulas": "raw", "columns": columns });
    let (job, exported) = export(stack, &name, &results, "results.csv")?;
    assert_eq!(counts(&job), [2_500, 0, 0], "{job}");
    ensure!(exported == file.as_bytes(), "{}", String::from_utf8_lossy(&exported[..400]));
    ensure!(stack.refusals().is_empty(), "{:?}", stack.refusals());
    Ok(())
}

#[test]
fn escaped_formulas_are_restored_by_the_import() -> Story {
    let (stack, name, copy) = (stack(), dataset("escaped-formulas"), dataset("escaped-formulas-copy"));
    let schema = json!({ "properties": {
        "id": { "type": "string" }, "=text": { "type": "string" },
        "n": { "type": "number" }, "whole": { "type": "integer" }, "yes": { "type": "boolean" },
    } });
    let item = |(n, text): (usize, &&str)| json!({ "id": format!("-k{n}"), "=text": text, "n": n as f64 * -1.5, "whole": n, "yes": n % 2 == 0 });
    let items: Vec<_> = CELLS.iter().enumerate().map(item).collect();
    let options = json!({ "dataset": name, "key": "id", "schema": schema });
    let request = json!({ "jobType": "import", "items": items, "options": options });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    Watch::new(stack, job["jobId"].as_str().context("no id")?).end()?;

    // Without columns in the request, those of the records are the columns.
    let (_, exported) = export(stack, &name, &json!({ "format": "csv", "bom": true }), "results.csv")?;
    let text = String::from_utf8(exported.clone())?;
    assert_eq!(text.lines().next(), Some("\u{feff}'=text,id,n,whole,yes"));
    ensure!(text.contains("'=1+1,'-k0,"), "{text}");
    let options = json!({ "dataset": copy, "key": "id", "schema": schema, "formulas": "escaped" });
    import(stack, "export.csv", &exported, &options)?;
    assert_eq!(data(stack, &copy)?, data(stack, &name)?);
    Ok(())
}

#[test]
fn the_lines_of_an_export_are_imported_without_a_difference() -> Story {
    let (stack, name, copy) = (stack(), dataset("lines"), dataset("lines-copy"));
    let values = [
        json!(null),
        json!(true),
        json!(-0.25),
        json!(1e100),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("\u{0}\u{1f}\u{2028}\\\""),
        json!([]),
        json!({}),
        json!([1, "1", null, { "a": [{}] }]),
        json!("=1"),
    ];
    let line = |(n, value): (usize, &Value)| json!({ "id": format!("k{n:02}"), "value": value });
    let records: Vec<_> = values.iter().enumerate().map(line).collect();
    import(stack, "file.jsonl", &lines(&records), &json!({ "dataset": name, "key": "id" }))?;
    let (_, exported) = export(stack, &name, &json!({ "gzip": true }), "results.jsonl.gz")?;
    let text = unzipped(&exported)?;
    let exported: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!(exported, records, "value for value, in the order of the keys");
    import(stack, "export.jsonl", text.as_bytes(), &json!({ "dataset": copy, "key": "id" }))?;
    assert_eq!(data(stack, &copy)?, data(stack, &name)?);

    let columns = json!([{ "name": "value", "as": "Wert" }, { "name": "missing" }]);
    let (_, exported) = export(stack, &name, &json!({ "columns": columns }), "results.jsonl")?;
    let first = String::from_utf8(exported)?.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(first, [r#"{"Wert":null}"#, r#"{"Wert":true}"#, r#"{"Wert":-0.25}"#]);
    Ok(())
}

#[test]
fn an_export_with_other_headings_maps_by_itself_when_it_comes_back() -> Story {
    let (stack, name) = (stack(), dataset("headings"));
    let records: Vec<_> = (0..5).map(|n| json!({ "id": format!("k{n}"), "city": "K\u{f6}ln", "note": "x" })).collect();
    import(stack, "file.jsonl", &lines(&records), &json!({ "dataset": name, "key": "id" }))?;
    let before = data(stack, &name)?;
    let columns = json!([{ "name": "city", "as": "Ort" }, { "name": "id", "as": "Nr" }, { "name": "note" }]);
    for (format, file) in [("csv", "results.csv"), ("xlsx", "results.xlsx"), ("jsonl", "results.jsonl")] {
        let (_, exported) = export(stack, &name, &json!({ "format": format, "columns": columns }), file)?;
        let upload = stack.client.upload(file, &exported)?;
        let body = json!({ "jobType": "import", "options": { "dataset": name, "key": "id" } });
        let found = stack.client.post(&format!("/api/uploads/{upload}/inspect"), &body)?.expect(200)?;
        let expected = json!({ "Nr": "id", "Ort": "city" });
        ensure!(found["request"]["options"]["columns"] == expected, "{found}");
        let job = stack.client.post("/api/jobs", &found["request"])?.expect(202)?;
        let ended = Watch::new(stack, job["jobId"].as_str().context("no id")?).end()?;
        assert_eq!(counts(&ended), [5, 0, 0], "{ended}");
        assert_eq!(data(stack, &name)?, before, "{format}");
    }
    Ok(())
}

/// The latency of the first reads keeps the export from passing the other jobs.
#[test]
fn every_key_of_the_walk_is_accounted_for_while_other_jobs_write() -> Story {
    const RECORDS: u64 = 3_000;
    let (stack, name) = (stack(), dataset("exported-meanwhile"));
    let rows = |version: u64, numbers: &mut dyn Iterator<Item = u64>| {
        let header = "id,version".to_owned();
        lines(std::iter::once(header).chain(numbers.map(|n| format!("k{n:05},{version}"))))
    };
    // Without undo, an import is fast enough to change records before they are read.
    let options = |mode: &str| json!({ "dataset": name, "key": "id", "mode": mode, "undo": false });
    work(stack, "import", &rows(1, &mut (0..RECORDS)), &options("upsert"))?;
    // A worker has five seconds: slower reads would leave it too little time on a busy machine.
    let body = format!("contains(KeyConditionExpression, 'BETWEEN') && contains(to_string(@), '{name}')");
    stack.faults()?.add(&json!({
        "service": "dynamodb", "operation": "Query", "body": body, "times": 400, "latency": 300,
    }))?;
    let request = json!({ "jobType": "export", "source": { "dataset": name } });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = job["jobId"].as_str().context("no id")?;
    let mut watch = Watch::new(stack, id);
    watch.until("the walk has ended", |job| job["itemCountFinal"] == true)?;
    // Changed, removed and added while the records are read.
    let gone = |n: &u64| n % 10 == 3;
    let changed = stack.client.start("import", "new.csv", &rows(2, &mut (0..RECORDS + 500)), &options("upsert"))?;
    let removed =
        stack.client.start("import", "gone.csv", &rows(0, &mut (0..RECORDS).filter(gone)), &options("delete"))?;
    for other in [&changed, &removed] {
        Watch::new(stack, other).end()?;
    }
    let job = watch.end()?;
    let [succeeded, failed, skipped] = counts(&job);
    let failures = stack.client.get(&format!("/api/jobs/{id}/failures?limit=2"))?.text();
    ensure!(job["status"] == "completed" && succeeded + skipped == RECORDS && failed == 0, "{job}\n{failures}");
    let exported = String::from_utf8(stack.client.output(id, "results.jsonl")?)?;
    let records: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let keys: BTreeSet<_> = records.iter().filter_map(|record| record["id"].as_str()).collect();
    assert_eq!((keys.len(), records.len() as u64), (records.len(), succeeded), "each key once");
    ensure!(records.iter().all(|record| record["version"] == "1" || record["version"] == "2"), "an unknown version");
    ensure!(skipped > 0 || records.iter().any(|record| record["version"] == "2"), "the jobs ran one after the other");
    let stable = (0..RECORDS).filter(|n| !gone(n)).map(|n| format!("k{n:05}"));
    let missing: Vec<_> = stable.filter(|key| !keys.contains(key.as_str())).collect();
    ensure!(missing.is_empty(), "missing: {missing:?}");
    Ok(())
}
