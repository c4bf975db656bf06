//! Reads after the work: lists of jobs, failed items page by page, uploads and their URLs.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::report::csv_rows;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared::{Story, dataset, lines, stack, work};

/// All pages of a list, by its links: the elements under `name`.
fn all(client: &Client, path: &str, name: &str) -> Result<Vec<Value>> {
    let (mut found, mut path) = (Vec::new(), path.to_owned());
    loop {
        let answer = client.get(&path)?;
        let page = answer.expect(200)?;
        found.extend(page[name].as_array().with_context(|| format!("no {name}: {page}"))?.clone());
        let link = answer.headers.get("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        ensure!(link.is_some() == page["nextCursor"].is_string(), "link and cursor differ: {page}");
        match link {
            Some((next, rel)) => {
                ensure!(rel == "; rel=\"next\"", "{rel}");
                path = next.to_owned();
            }
            None => return Ok(found),
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
    // Other stories have jobs, too, and create more while this one reads.
    let listed = all(&stack.client, "/api/jobs?limit=2", "jobs")?;
    let times: Vec<_> = listed.iter().map(|job| job["createdAt"].as_str().unwrap_or_default()).collect();
    ensure!(times.iter().all(|time| time.len() >= 20), "{times:?}");
    let mine = |jobs: Vec<Value>| -> Vec<Value> {
        jobs.into_iter().filter(|job| own.iter().any(|own| own["jobId"] == job["jobId"])).collect()
    };
    assert_eq!(mine(listed), own, "each as its own call answers it, newest first");
    let completed = all(&stack.client, "/api/jobs?status=completed&jobType=import&limit=100", "jobs")?;
    ensure!(completed.iter().all(|job| job["status"] == "completed" && job["jobType"] == "import"));
    assert_eq!(mine(completed), own);
    assert_eq!(mine(all(&stack.client, "/api/jobs?status=canceled", "jobs")?), Vec::<Value>::new());
    assert_eq!(stack.client.get("/api/jobs?cursor=x&status=x")?.status, 422);
    Ok(())
}

/// Rows with line breaks, quotes, formulas and a text that looks like an escaped formula. All but the first are no
/// integers.
const AWKWARD: &str = "id,\"=a\",b\r\n1,fine,\r\nx,\"two\r\nlines\",\"say \"\"hi\"\"\"\r\n=1+1,'=1,-5\r\n\
                       +x,@y,'quoted'\r\ny,,\"\n\"\r\nz,'',ü\r\n";

#[test]
fn failures_are_paged_with_the_rows_of_the_file_as_they_were() -> Story {
    let stack = stack();
    let schema = json!({ "properties": { "id": { "type": "integer" } } });
    let options = json!({ "dataset": dataset("failures"), "key": "id", "schema": schema });
    let (job, report) = work(stack, "import", AWKWARD.as_bytes(), &options)?;
    let path = job["links"]["failures"].as_str().context("no link to failures")?;
    let input = csv_rows(AWKWARD.as_bytes())?;
    for limit in [1, 2, 5, 100] {
        let failures = all(&stack.client, &format!("{path}?limit={limit}"), "failures")?;
        assert_eq!(failures.len(), 5);
        for (failure, row) in failures.iter().zip(&report.failed) {
            let number = failure["number"].as_u64().context("no number")?;
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
fn json_lines_fail_with_their_values() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("failed-lines"), "key": "id" });
    let id = stack.client.start("import", "people.jsonl", b"{\"name\": [1]}\n{\"id\": 1,\n", &options)?;
    Watch::new(stack, &id).end()?;
    let failures = all(&stack.client, &format!("/api/jobs/{id}/failures"), "failures")?;
    let rows: Vec<_> = failures.iter().map(|failure| &failure["row"]).collect();
    assert_eq!(rows, [&json!({ "name": [1] }), &json!("{\"id\": 1,")]);
    Ok(())
}

#[test]
fn an_upload_shows_its_state_and_gets_another_url_until_it_is_used() -> Story {
    let client = &stack().client;
    let sha256 = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(b"id\n1\n"));
    let upload = client.promise("file.csv", 5, Some(&sha256))?;
    let path = format!("/api/uploads/{}", upload["fileGuid"].as_str().context("no fileGuid")?);
    assert_eq!(client.get(&path)?.expect(200)?["state"], "waiting");
    let renewed = client.post(&format!("{path}/url"), &json!({}))?.expect(200)?;
    assert_eq!(renewed["headers"], upload["headers"], "the same is signed");
    let other = client.put(&renewed, b"id\n2\n")?;
    ensure!(matches!(other.status, 400 | 403), "another file under the new URL: {} {}", other.status, other.text());
    client.put(&renewed, b"id\n1\n")?.expect(200)?;
    assert_eq!(client.put(&upload, b"id\n1\n")?.status, 412, "once, whichever URL");
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
fn one_key_makes_one_upload_and_one_job() -> Story {
    let client = &stack().client;
    let key = longshore_domain::ids::nonce();
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
    assert_eq!(one.expect(202)?["jobId"], two.expect(202)?["jobId"], "the upload's key is another");
    assert_eq!(one.headers["location"], two.headers["location"]);
    Ok(())
}

#[test]
fn an_answer_names_its_request_and_its_trace() -> Story {
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
        let id = answer.json()["requestId"].as_str().context("no requestId")?.to_owned();
        ensure!(!id.is_empty() && ids.insert(id, path).is_none(), "{}", answer.text());
    }
    assert!(!client.call("GET", "/api/jobs/x", &[("traceparent", "x")], &[])?.headers.contains_key("traceparent"));
    Ok(())
}
