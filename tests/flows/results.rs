//! Results: the outputs of the items, as a file in each format, page by page, and across a retry; and jobs over the
//! items of a request.

use std::io::{Cursor, Read};

use anyhow::{Context, Result, ensure};
use calamine::{Reader as _, Xlsx};
use flate2::read::MultiGzDecoder;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::retries::retry;
use crate::shared::{Marks, Story, counts, stack};

/// Creates a job over items and waits for its end.
fn run(job_type: &str, items: &Value, results: &Value) -> Result<Value> {
    let stack = stack();
    let request = json!({ "jobType": job_type, "items": items, "options": {}, "results": results });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    Watch::new(stack, id_of(&job)?).end()
}

fn id_of(job: &Value) -> Result<&str> {
    job["jobId"].as_str().context("the job has no id")
}

fn flights() -> Value {
    json!([{ "flight": "LH400" }, { "flight": "XX1" }, { "flight": "NZ5" }, { "flight": "AF,1" }])
}

#[test]
fn the_results_are_a_file_in_the_requested_format() -> Story {
    let client = &stack().client;
    let csv = "Flug;country\r\nLH400;Germany\r\nNZ5;New Zealand\r\nAF,1;France\r\n";
    let columns = json!([{ "name": "flight", "as": "Flug" }, { "name": "country" }]);
    let form = json!({ "format": "csv", "delimiter": ";", "columns": columns });
    let job = run("enrich", &flights(), &form)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3, 1, 0]), "{job}");
    let text = String::from_utf8(client.output(id_of(&job)?, "results.csv")?)?;
    let numbered: Vec<_> =
        csv.lines().zip(["number", "1", "3", "4"]).map(|(row, n)| format!("{n};{row}\r\n")).collect();
    assert_eq!(text, numbered.concat());
    let job = run("enrich", &flights(), &json!({ "gzip": true }))?;
    let zipped = client.output(id_of(&job)?, "results.jsonl.gz")?;
    let mut text = String::new();
    MultiGzDecoder::new(&*zipped).read_to_string(&mut text)?;
    let line = r#"{"number":3,"output":{"flight":"NZ5","airline":"Air New Zealand","country":"New Zealand"}}"#;
    assert_eq!(text.lines().nth(1), Some(line));
    let missing = client.get(&format!("/api/jobs/{}/output/results.csv", id_of(&job)?))?.expect(404)?;
    ensure!(missing["detail"].to_string().contains("results.jsonl.gz"), "{missing}");
    let audit = client.get(&format!("/api/jobs/{}/audit", id_of(&job)?))?.expect(200)?;
    assert_eq!(audit["equal"], true, "{audit}");
    Ok(())
}

#[test]
fn the_results_are_a_workbook() -> Story {
    let client = &stack().client;
    let columns = json!([{ "name": "flight", "as": "Flug" }, { "name": "country" }]);
    let job = run("enrich", &flights(), &json!({ "format": "xlsx", "columns": columns }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3, 1, 0]), "{job}");
    let mut workbook = Xlsx::new(Cursor::new(client.output(id_of(&job)?, "results.xlsx")?))?;
    let cells = workbook.worksheet_range("results")?;
    let rows: Vec<Vec<_>> = cells.rows().map(|row| row.iter().map(ToString::to_string).collect()).collect();
    let expected = [
        ["number", "Flug", "country"],
        ["1", "LH400", "Germany"],
        ["3", "NZ5", "New Zealand"],
        ["4", "AF,1", "France"],
    ];
    assert_eq!(rows, expected);
    let page = client.get(&format!("/api/jobs/{}/results", id_of(&job)?))?.expect(200)?;
    assert_eq!(page["results"].as_array().map(Vec::len), Some(3), "{page}");
    let audit = client.get(&format!("/api/jobs/{}/audit", id_of(&job)?))?.expect(200)?;
    assert_eq!(audit["equal"], true, "{audit}");
    Ok(())
}

#[test]
fn the_results_are_read_page_by_page() -> Story {
    let client = &stack().client;
    let items: Vec<_> = (0..70).map(|n| json!({ "flight": format!("LH{n}") })).collect();
    let job = run("enrich", &json!(items), &json!({}))?;
    let (mut rows, mut path) = (Vec::new(), Some(format!("/api/jobs/{}/results?limit=30", id_of(&job)?)));
    while let Some(next) = path.take() {
        let page = client.get(&next)?;
        let body = page.expect(200)?;
        assert_eq!(body["complete"].as_bool(), Some(body["nextCursor"].is_null()), "{body}");
        rows.extend(body["results"].as_array().context("no results")?.clone());
        let link = page.headers.get("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        path = link.map(|(next, _)| next.to_owned());
    }
    let expected: Vec<_> = (0..70).map(|n| (json!(n + 1), json!(format!("LH{n}")))).collect();
    let found: Vec<_> = rows.iter().map(|row| (row["number"].clone(), row["output"]["flight"].clone())).collect();
    assert_eq!(found, expected);
    let file = client.output(id_of(&job)?, "results.jsonl")?;
    let lines: Vec<Value> =
        file.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(serde_json::from_slice).collect::<Result<_, _>>()?;
    assert_eq!(lines, rows);
    assert_eq!(client.get(&format!("/api/jobs/{}/results?cursor=x", id_of(&job)?))?.status, 422);
    Ok(())
}

#[test]
fn large_outputs_are_copied_into_the_results() -> Story {
    const MORE: usize = 200_000;
    let items: Vec<_> = (1..=60).map(|_| json!({ "action": "ok", "output": MORE })).collect();
    let job = run("probe-output", &json!(items), &json!({}))?;
    assert_eq!(counts(&job), [60, 0, 0], "{job}");
    let id = id_of(&job)?;
    let file = String::from_utf8(stack().client.output(id, "results.jsonl")?)?;
    let more = "x".repeat(MORE);
    let expected = (1..=60).map(|n| format!("{{\"number\":{n},\"output\":\"{n}{more}\"}}\n"));
    assert!(file == expected.collect::<String>(), "{} bytes", file.len());
    let output = stack().client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?;
    let receipt = &output["receipt"]["document"]["results"];
    assert_eq!(
        (&receipt["sha256"], &receipt["rows"]),
        (&Value::Null, &json!(60)),
        "S3 has assembled the file: {output}"
    );
    Ok(())
}

#[test]
fn a_retry_adds_the_outputs_of_the_items_that_then_succeed() -> Story {
    let stack = stack();
    let marks = Marks::new();
    let mark = marks.path().display().to_string();
    let item = |action: &str| json!({ "action": action, "mark": mark });
    let items: Vec<_> = (1..=60).map(|n| item(if n % 10 == 0 { "recover" } else { "ok" })).collect();
    let job = run("probe-output", &json!(items), &json!({}))?;
    assert_eq!(counts(&job), [54, 6, 0], "{job}");
    let id = id_of(&job)?;
    let numbers = |client: &Client| -> Result<Vec<u64>> {
        let file = client.output(id, "results.jsonl")?;
        let lines = file.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice::<Value>(line)?["output"].as_u64().context("no number")).collect()
    };
    let first: Vec<u64> = (1..=60).filter(|n| n % 10 != 0).collect();
    assert_eq!(numbers(&stack.client)?, first);
    retry(stack, id)?;
    assert_eq!(counts(&Watch::new(stack, id).end()?), [60, 0, 0]);
    let both: Vec<u64> = first.iter().copied().chain((1..=6).map(|n| n * 10)).collect();
    assert_eq!(numbers(&stack.client)?, both, "the outputs of the second attempt follow");
    Ok(())
}

#[test]
fn a_form_of_results_is_refused_for_a_type_without_output() -> Story {
    let request = json!({ "jobType": "probe-once", "options": { "action": "ok" }, "results": { "format": "csv" } });
    let refused = stack().client.post("/api/jobs", &request)?;
    assert_eq!(
        (refused.status, refused.bad_field()),
        (422, "/results results_not_available".to_owned()),
        "{}",
        refused.text()
    );
    Ok(())
}
