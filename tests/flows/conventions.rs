//! Conventions that users of HTTP APIs expect. Each has a story, named after the document that defines it. The module
//! `limits` has those of 429 and 503.

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::backdoor::unsent_job;
use longshore_tests::harness::client::{Answer, Client};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, dataset, lines, own, probe_file, stack, work};

const JSON: (&str, &str) = ("content-type", "application/json");

fn once() -> Value {
    json!({ "jobType": "probe-once", "options": { "action": "ok" } })
}

fn job_id(answer: &Answer) -> Result<String> {
    Ok(answer.json()["jobId"].as_str().context("the job has no id")?.to_owned())
}

fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> Result<Answer> {
    client.call("GET", path, headers, &[])
}

/// 15.3.3, 10.2.2, 10.2.3: the response to an accepted request has the URL of its outcome, and the time after which to
/// poll it.
#[test]
fn rfc_9110_202_has_location_and_retry_after() -> Story {
    let client = &stack().client;
    let file = probe_file(["reject,,,", "ok,,,"]);
    let (job, _) = work(stack(), "probe", &file, &json!({}))?;
    let path = job["links"]["self"].as_str().context("the job has no link to itself")?;
    for (target, body) in [("/api/jobs", once()), (&format!("{path}/retry"), json!({}))] {
        let answer = client.post(target, &body)?;
        ensure!(answer.status == 202, "{target}: {} {}", answer.status, answer.text());
        let location = answer.headers.get("location").with_context(|| format!("{target}: no Location"))?;
        ensure!(client.get(location)?.expect(200)?["jobId"] == answer.json()["jobId"], "{target}: {location}");
        let wait: u64 =
            answer.headers.get("retry-after").with_context(|| format!("{target}: no Retry-After"))?.parse()?;
        ensure!((1..=30).contains(&wait), "{target}: Retry-After is {wait}");
    }
    Ok(())
}

/// The asynchronous request-reply pattern: the status call is always 200, and redirects with 303 only on request.
#[test]
fn rfc_9110_303_redirects_to_the_result_on_request_and_the_status_call_is_always_200() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let client = &stack.client;
    let waiting = unsent_job(stack, "probe", &probe_file(["ok,,,"]), &json!({}))?.job_id.to_string();
    let path = format!("/api/jobs/{waiting}");
    for query in ["", "?redirect=output"] {
        let answer = client.get(&format!("{path}{query}"))?;
        ensure!(answer.status == 200 && answer.headers.contains_key("retry-after"), "{query}: {}", answer.status);
    }
    client.cancel(&waiting)?.expect(202)?;
    Watch::new(stack, &waiting).end()?;
    let (job, _) = work(stack, "probe", &probe_file(["ok,,,"]), &json!({}))?;
    let path = job["links"]["self"].as_str().context("the job has no link to itself")?;
    let ended = client.get(path)?;
    ensure!(ended.status == 200 && !ended.headers.contains_key("retry-after"), "{:?}", ended.headers);
    let redirect = client.get(&format!("{path}?redirect=output"))?;
    ensure!(redirect.status == 303, "{} {}", redirect.status, redirect.text());
    ensure!(client.get(&redirect.headers["location"])?.expect(200)?["counts"]["succeeded"] == 1);
    Ok(())
}

/// draft-ietf-httpapi-idempotency-key-header: the same request with the same key returns the first response; a
/// different request is refused with 422.
#[test]
fn idempotency_key_draft_replays_the_first_response_and_refuses_a_different_request() -> Story {
    let client = &stack().client;
    let upload = json!({ "fileName": "file.csv", "contentType": "text/csv", "size": 5 });
    let rows = [("/api/jobs", once(), 202, "jobId"), ("/api/uploads", upload, 201, "fileGuid")];
    for (path, body, status, id) in rows {
        let key = nonce();
        let send =
            |body: &Value| client.call("POST", path, &[JSON, ("idempotency-key", &key)], body.to_string().as_bytes());
        // Two concurrent requests, and a later one: one outcome.
        let mut answers = std::thread::scope(|scope| -> Result<Vec<Answer>> {
            let calls: Vec<_> = (0..2).map(|_| scope.spawn(|| send(&body))).collect();
            calls.into_iter().map(|call| call.join().ok().context("a call panicked")?).collect()
        })?;
        answers.push(send(&body)?);
        for answer in &answers {
            ensure!(answer.status == status, "{path}: {} {}", answer.status, answer.text());
            ensure!(answer.json()[id] == answers[0].json()[id], "{path}: two outcomes for one key");
            ensure!(
                answer.headers.get("location") == answers[0].headers.get("location"),
                "{path}: a different Location"
            );
        }
        let mut other = body.clone();
        match path {
            "/api/jobs" => other["timeoutSeconds"] = json!(1),
            _ => other["size"] = json!(6),
        }
        let refused = send(&other)?;
        let kind = refused.json()["type"].clone();
        ensure!((refused.status, kind) == (422, json!("/api/problems/idempotency-key-reused")), "{}", refused.text());
        // A refused create does not use up its key.
        let key = nonce();
        let send =
            |body: &Value| client.call("POST", path, &[JSON, ("idempotency-key", &key)], body.to_string().as_bytes());
        ensure!(
            send(&json!({}))?.status == 422 && send(&body)?.status == status,
            "{path}: the refused request used up its key"
        );
    }
    let bad = client.call("POST", "/api/jobs", &[JSON, ("idempotency-key", "")], once().to_string().as_bytes())?;
    ensure!(bad.status == 400, "an empty key: {} {}", bad.status, bad.text());
    Ok(())
}

/// Problem details for every kind of error that a client can cause, with an RFC 6901 pointer to each invalid field.
#[test]
fn rfc_9457_every_error_is_a_problem_document() -> Story {
    let client = &stack().client;
    let ended = work(stack(), "probe", &probe_file(["ok,,,"]), &json!({}))?.0["jobId"].clone();
    let ended = ended.as_str().context("the job has no id")?;
    let stale = [("if-match", "\"stale\"")];
    let answers = [
        (400, client.call("POST", "/api/jobs", &[JSON], b"{")?),
        (404, client.get("/api/jobs/x")?),
        (404, client.get("/nowhere")?),
        (405, client.call("PATCH", "/api/jobs", &[JSON], b"{}")?),
        (409, client.cancel(ended)?),
        (412, client.call("DELETE", &format!("/api/jobs/{ended}"), &stale, &[])?),
        (413, client.call("POST", "/api/uploads", &[JSON], &vec![b' '; 65 << 10])?),
        (415, client.call("POST", "/api/jobs", &[("content-type", "text/csv")], b"a,b")?),
        (422, client.post("/api/jobs", &json!({ "jobType": "import", "options": { "a/b~c": 1 } }))?),
    ];
    for (status, answer) in &answers {
        let body = answer.json();
        ensure!(answer.status == *status && body["status"] == *status, "{status}: {} {body}", answer.status);
        ensure!(answer.headers["content-type"] == "application/problem+json", "{status}: {:?}", answer.headers);
        let kind = body["type"].as_str().context("the problem has no type")?;
        ensure!(kind.starts_with("/api/problems/"), "{status}: {kind}");
        let text =
            ["title", "detail", "requestId"].iter().all(|name| body[name].as_str().is_some_and(|t| !t.is_empty()));
        ensure!(text, "{status}: {body}");
        ensure!(answer.headers["cache-control"] == "no-store", "{status}: a cache can store it");
    }
    ensure!(answers[3].1.headers.get("allow").is_some_and(|allow| allow.contains("POST")), "405 without Allow");
    let pointers: Vec<_> =
        answers[8].1.json()["errors"].as_array().into_iter().flatten().map(|e| e["pointer"].clone()).collect();
    ensure!(pointers.contains(&json!("/options/a~1b~0c")), "{pointers:?}");
    Ok(())
}

/// 8.8.3, 13.1.2, 15.4.5: the document is not sent again to a client that has its tag.
#[test]
fn rfc_9110_a_matching_etag_is_answered_304() -> Story {
    let client = &stack().client;
    let (job, _) = work(stack(), "probe", &probe_file(["ok,,,"]), &json!({}))?;
    let path = job["links"]["self"].as_str().context("the job has no link to itself")?;
    let tag = client.get(path)?.headers.get("etag").context("the response has no ETag")?.clone();
    for (sent, status) in [
        (tag.clone(), 304),
        (format!("W/{tag}"), 304),
        (format!("\"x\", {tag}"), 304),
        ("*".to_owned(), 304),
        ("\"x\"".to_owned(), 200),
    ] {
        let answer = get(client, path, &[("if-none-match", &sent)])?;
        ensure!(answer.status == status && answer.body.is_empty() == (status == 304), "{sent}: {}", answer.status);
        ensure!(answer.headers.get("etag") == Some(&tag), "{sent}: {:?}", answer.headers);
    }
    Ok(())
}

/// 13.1.1, 15.5.13: a request for an outdated state is refused, and changes nothing.
#[test]
fn rfc_9110_a_change_with_a_stale_if_match_is_answered_412() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let client = &stack.client;
    let id = unsent_job(stack, "probe", &probe_file(["ok,,,"]), &json!({}))?.job_id.to_string();
    let path = format!("/api/jobs/{id}");
    let (document, tag) = (client.job(&id)?, client.get(&path)?.headers["etag"].clone());
    for (method, to) in [("POST", format!("{path}/cancel")), ("DELETE", path.clone())] {
        for stale in ["\"stale\"", &format!("W/{tag}")] {
            let answer = client.call(method, &to, &[JSON, ("if-match", stale)], b"{}")?;
            let kind = answer.json()["type"].clone();
            ensure!(
                (answer.status, kind) == (412, json!("/api/problems/precondition-failed")),
                "{method}: {}",
                answer.text()
            );
        }
    }
    ensure!(client.job(&id)? == document, "a refused request has changed the job");
    client.call("POST", &format!("{path}/cancel"), &[JSON, ("if-match", &tag)], b"{}")?.expect(202)?;
    Watch::new(stack, &id).end().map(|_| ())
}

/// Opaque cursors, and a link with `rel="next"` on every page but the last.
#[test]
fn rfc_8288_lists_link_to_the_next_page() -> Story {
    let client = &stack().client;
    let name = dataset("linked");
    let file = lines(std::iter::once("id".to_owned()).chain((1..=7).map(|n| n.to_string())));
    work(stack(), "import", &file, &json!({ "dataset": name, "key": "id" }))?;
    let records = format!("/api/datasets/{name}/records");
    for (path, min_pages) in [(records.as_str(), 7), ("/api/jobs", 1), ("/api/datasets", 1)] {
        let (mut to, mut pages) = (format!("{path}?limit=1"), 0);
        while pages < 8 {
            let answer = client.get(&to)?;
            let page = answer.expect(200)?;
            pages += 1;
            let Some(link) = answer.headers.get("link") else {
                ensure!(page["nextCursor"].is_null(), "{to}: a cursor without a link");
                break;
            };
            let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
            to = next.with_context(|| format!("{to}: {link}"))?.to_owned();
            let cursor = page["nextCursor"].as_str().with_context(|| format!("{to}: a link without a cursor"))?;
            ensure!(to.contains(cursor) && to.starts_with(path), "{path}: {to} does not have the cursor {cursor}");
        }
        ensure!(pages >= min_pages, "{path}: {pages} pages");
    }
    Ok(())
}

/// CRLF, doubled quotes, a header, and no CSV injection: no cell that a spreadsheet would evaluate (CWE-1236).
#[test]
fn rfc_4180_and_cwe_1236_failures_are_csv_without_formulas() -> Story {
    let client = &stack().client;
    let rows = ["id,note", "\"=1+1\",\"a \"\"b\"\", c\"", "+2a,-x", "@x,\"\tTab\"", "x,plain"];
    let options = json!({ "dataset": dataset("formulas"), "key": "id", "schema": { "properties": { "id": { "type": "integer" } } } });
    let (job, _) = work(stack(), "import", &lines(rows), &options)?;
    let path = job["links"]["failures"].as_str().context("the job has no link to its failures")?;
    let redirect = client.get(&format!("{path}?format=csv"))?;
    let file = client.get(&redirect.headers["location"])?;
    let text = file.text();
    ensure!(file.headers["content-type"].starts_with("text/csv"), "{:?}", file.headers);
    ensure!(text.starts_with("row,id,note,code,field,message\r\n") && text.ends_with("\r\n"), "{text}");
    ensure!(text.matches('\n').count() == text.matches("\r\n").count(), "a line ends without CR: {text:?}");
    ensure!(text.contains("\r\n1,'=1+1,\"a \"\"b\"\", c\",") && text.contains("\r\n2,'+2a,'-x,"), "{text}");
    ensure!(text.contains("\r\n3,'@x,'\tTab,") || text.contains("\r\n3,'@x,\"'\tTab\","), "{text}");
    Ok(())
}

/// W3C Trace Context: the response has the trace of the request.
#[test]
fn trace_context_traceparent_is_returned() -> Story {
    let client = &stack().client;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let post = client.call("POST", "/api/jobs", &[JSON, ("traceparent", trace)], once().to_string().as_bytes())?;
    let id = job_id(&post)?;
    let answers = [post, get(client, &format!("/api/jobs/{id}"), &[("traceparent", trace)])?];
    for answer in answers {
        ensure!(answer.headers.get("traceparent").map(String::as_str) == Some(trace), "{:?}", answer.headers);
    }
    Ok(())
}
