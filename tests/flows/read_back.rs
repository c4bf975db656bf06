//! Reads: lists of jobs, failed items page by page, uploads and their URLs.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::watch::{Watch, csv_rows};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared::{Story, dataset, lines, stack, work};

/// The elements under `name` of all pages of a list, by following its links.
fn list(client: &Client, path: &str, name: &str) -> Result<Vec<Value>> {
    let (mut elements, mut path) = (Vec::new(), path.to_owned());
    loop {
        let answer = client.get(&path)?;
        let page = answer.expect(200)?;
        elements.extend(page[name].as_array().with_context(|| format!("the page has no {name}: {page}"))?.clone());
        let link = answer.headers.get("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        ensure!(link.is_some() == page["nextCursor"].is_string(), "link and cursor differ: {page}");
        match link {
            Some((next, rel)) => {
                ensure!(rel == "; rel=\"next\"", "{rel}");
                path = next.to_owned();
            }
            None => return Ok(elements),
        }
    }
}

#[test]
fn jobs_are_listed_newest_first_with_filters_and_pages() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("listed"), "key": "id" });
    let mut own = Vec::new();
    for _ in 0..3 {
        let id = stack.client.start("import", "file.csv", &lines(["id", "1"]), &options)?;
        own.push(Watch::new(stack, &id).end()?);
    }
    own.reverse();
    // Other stories create jobs, too, while this one reads.
    let jobs = list(&stack.client, "/api/jobs?limit=2", "jobs")?;
    let times: Vec<_> = jobs.iter().map(|job| job["createdAt"].as_str().unwrap_or_default()).collect();
    ensure!(times.iter().all(|time| time.len() >= 20), "{times:?}");
    let mine = |jobs: Vec<Value>| -> Vec<Value> {
        jobs.into_iter().filter(|job| own.iter().any(|own| own["jobId"] == job["jobId"])).collect()
    };
    assert_eq!(mine(jobs), own, "each element equals the job's document, newest first");
    let completed = list(&stack.client, "/api/jobs?status=completed&jobType=import&limit=100", "jobs")?;
    ensure!(completed.iter().all(|job| job["status"] == "completed" && job["jobType"] == "import"));
    assert_eq!(mine(completed), own);
    assert_eq!(mine(list(&stack.client, "/api/jobs?status=canceled", "jobs")?), Vec::<Value>::new());
    assert_eq!(stack.client.get("/api/jobs?cursor=x&status=x")?.status, 422);
    Ok(())
}

#[test]
fn jobs_are_listed_by_their_metadata() -> Story {
    let stack = stack();
    let run = dataset("run");
    let metadata = json!({ "team": "a&b ü", "run": run });
    let request = json!({ "jobType": "probe-once", "options": { "action": "ok" }, "metadata": metadata });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = job["jobId"].as_str().context("the job has no id")?;
    let ended = Watch::new(stack, id).end()?;
    assert_eq!(ended["metadata"], metadata);
    let listed = |filter: &str| list(&stack.client, &format!("/api/jobs?metadata[run]={run}&{filter}"), "jobs");
    assert_eq!(listed("limit=1")?, std::slice::from_ref(&ended));
    assert_eq!(listed("metadata%5Bteam%5D=a%26b+%C3%BC&status=completed")?, [ended]);
    assert_eq!(listed("metadata[team]=a")?, Vec::<Value>::new());
    Ok(())
}

/// Rows with line breaks, quotes, formulas and a text that looks like an escaped formula. Only the first key is an
/// integer.
const AWKWARD: &str = "id,\"=a\",b\r\n1,fine,\r\nx,\"two\r\nlines\",\"say \"\"hi\"\"\"\r\n=1+1,'=1,-5\r\n\
                       +x,@y,'quoted'\r\ny,,\"\n\"\r\nz,'',ü\r\n";

#[test]
fn failures_are_paged_with_unchanged_rows_of_the_file() -> Story {
    let stack = stack();
    let schema = json!({ "properties": { "id": { "type": "integer" } } });
    let options = json!({ "dataset": dataset("failures"), "key": "id", "schema": schema });
    let (job, report) = work(stack, "import", AWKWARD.as_bytes(), &options)?;
    let path = job["links"]["failures"].as_str().context("the job has no link to its failures")?;
    let input = csv_rows(AWKWARD.as_bytes())?;
    for limit in [1, 2, 5, 100] {
        let failures = list(&stack.client, &format!("{path}?limit={limit}"), "failures")?;
        assert_eq!(failures.len(), 5);
        for (failure, row) in failures.iter().zip(&report.failed) {
            let number = failure["number"].as_u64().context("the failure has no number")?;
            let report_cells =
                ["code", "field", "message"].map(|name| failure[name].as_str().unwrap_or_default().to_owned());
            assert_eq!((number, &report_cells[..]), (row.number, &row.report_cells[..]));
            let cells = ["id", "=a", "b"].map(|name| failure["row"][name].as_str().unwrap_or("absent").to_owned());
            assert_eq!(
                (cells.to_vec(), &cells.to_vec()),
                (input[number as usize - 1].clone(), &row.cells),
                "{failure}"
            );
        }
    }
    let file = stack.client.call("GET", &format!("{path}?format=csv"), &[], &[])?;
    assert_eq!(file.status, 303, "{}", file.text());
    let file = stack.client.get(&file.headers["location"])?;
    ensure!(file.status == 200 && file.text().starts_with("row,id,'=a,b,code,field,message\r\n"), "{}", file.text());
    Ok(())
}

#[test]
fn failures_of_json_lines_have_the_values_of_the_lines() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("failed-lines"), "key": "id" });
    let id = stack.client.start("import", "people.jsonl", b"{\"name\": [1]}\n{\"id\": 1,\n", &options)?;
    Watch::new(stack, &id).end()?;
    let failures = list(&stack.client, &format!("/api/jobs/{id}/failures"), "failures")?;
    let rows: Vec<_> = failures.iter().map(|failure| &failure["row"]).collect();
    assert_eq!(rows, [&json!({ "name": [1] }), &json!("{\"id\": 1,")]);
    Ok(())
}

#[test]
fn an_upload_shows_its_state_and_gets_new_urls_until_the_file_is_received() -> Story {
    let client = &stack().client;
    let sha256 = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(b"id\n1\n"));
    let upload = client.create_upload("file.csv", 5, Some(&sha256))?;
    let path = format!("/api/uploads/{}", upload["fileGuid"].as_str().context("the upload has no id")?);
    assert_eq!(client.get(&path)?.expect(200)?["state"], "waiting");
    let renewed = client.post(&format!("{path}/url"), &json!({}))?.expect(200)?;
    assert_eq!(renewed["headers"], upload["headers"], "the new URL has the same headers");
    let refused = client.put(&renewed, b"id\n2\n")?;
    ensure!(matches!(refused.status, 400 | 403), "a different file: {} {}", refused.status, refused.text());
    client.put(&renewed, b"id\n1\n")?.expect(200)?;
    assert_eq!(client.put(&upload, b"id\n1\n")?.status, 412, "only once, by whichever URL");
    let status = client.get(&path)?.expect(200)?;
    assert_eq!(
        (&status["state"], &status["fileName"], &status["size"]),
        (&json!("received"), &json!("file.csv"), &json!(5))
    );
    let refused = client.post(&format!("{path}/url"), &json!({}))?;
    assert_eq!((refused.status, refused.json()["type"].as_str()), (409, Some("/api/problems/already-uploaded")));
    assert_eq!(client.get("/api/uploads/4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b")?.status, 404);
    Ok(())
}

#[test]
fn one_idempotency_key_creates_one_upload_and_one_job() -> Story {
    let client = &stack().client;
    let key = longshore_domain::random::nonce();
    let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
    let post = |path: &str, body: &Value| client.call("POST", path, &headers, body.to_string().as_bytes());
    let request = json!({ "fileName": "file.csv", "contentType": "text/csv", "size": 5 });
    let first = post("/api/uploads", &request)?.expect(201)?;
    assert_eq!(post("/api/uploads", &request)?.expect(201)?["fileGuid"], first["fileGuid"]);
    assert_eq!(post("/api/uploads", &json!({ "fileName": "f", "contentType": "text/csv", "size": 5 }))?.status, 422);
    client.put(&first, b"id\n1\n")?.expect(200)?;
    let options = json!({ "dataset": dataset("one-key"), "key": "id" });
    let request = json!({ "jobType": "import", "fileGuid": first["fileGuid"], "options": options });
    let (one, two) = (post("/api/jobs", &request)?, post("/api/jobs", &request)?);
    assert_eq!(one.expect(202)?["jobId"], two.expect(202)?["jobId"], "an upload and a job can have the same key");
    assert_eq!(one.headers["location"], two.headers["location"]);
    Ok(())
}

#[test]
fn a_response_has_the_id_of_its_request_and_its_trace() -> Story {
    let client = &stack().client;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut ids = BTreeMap::new();
    for path in ["/api/jobs/x", "/api/uploads/x", "/api/nothing"] {
        let answer = client.call("GET", path, &[("traceparent", trace)], &[])?;
        assert_eq!(
            (answer.status, answer.headers.get("traceparent").map(String::as_str)),
            (404, Some(trace)),
            "{path}"
        );
        let id = answer.json()["requestId"].as_str().context("the problem has no requestId")?.to_owned();
        ensure!(!id.is_empty() && ids.insert(id, path).is_none(), "{}", answer.text());
    }
    assert!(!client.call("GET", "/api/jobs/x", &[("traceparent", "x")], &[])?.headers.contains_key("traceparent"));
    Ok(())
}
