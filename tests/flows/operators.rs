//! What operators see of all tenants: failures by code, a retry of exactly one group, queues, and the log. Read-only
//! operators see no rows and change nothing.

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Marks, Story, counts, end, finish, own, probe_file};

fn operator(stack: &Stack) -> Result<Client> {
    let user = stack.users.add_operator(&format!("operator-{}", nonce()))?;
    Ok(stack.client.clone().with_token(&user.token))
}

/// Returns the entries of all pages of a list.
fn all(client: &Client, path: &str, member: &str) -> Result<Vec<Value>> {
    let (mut entries, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let more = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = client.get(&format!("{path}{more}"))?.expect(200)?;
        entries.extend(page[member].as_array().context("the page has no entries")?.iter().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(entries),
        }
    }
}

#[test]
fn exactly_the_rows_of_one_failure_group_run_again_in_all_jobs() -> Story {
    const ROWS: usize = 200;
    let Some(stack) = own() else { return Ok(()) };
    let operator = operator(stack)?;
    let marks = [Marks::new(), Marks::new()];
    let file = |marks: &Marks| {
        let mark = marks.path().display();
        probe_file((1..=ROWS).map(|n| match n % 100 {
            7 => format!("recover,,,{mark}"),
            // Fails with another code, and is not run again.
            8 => format!("unknown,,,{mark}"),
            _ => "ok,,,".to_owned(),
        }))
    };
    let files = [file(&marks[0]), file(&marks[1])];
    let mut ids = Vec::new();
    for file in &files {
        let id = stack.client.start("probe", "file.csv", file, &json!({}))?;
        end(Watch::new(stack, &id), stack, &id, file)?;
        ids.push(id);
    }
    let page = operator.get("/api/operations/failures?type=probe&code=asked_to&limit=100")?.expect(200)?;
    let groups = all(&operator, "/api/operations/failures?type=probe&code=asked_to&limit=100", "groups")?;
    let named = |id: &String| groups.iter().any(|group| group["jobIds"].to_string().contains(id.as_str()));
    ensure!(ids.iter().all(named), "the groups do not name both jobs: {groups:?}, {page}");
    let request = json!({ "type": "probe", "code": "asked_to", "jobIds": ids, "asOf": page["asOf"], "reason": "flow" });
    for _ in 0..2 {
        let retried = operator.post("/api/operations/retries", &request)?.expect(200)?;
        let outcomes: Vec<_> = retried["jobs"].as_array().into_iter().flatten().map(|job| &job["outcome"]).collect();
        // The second call finds them running, or ended since.
        ensure!(outcomes.len() == 2, "{retried}");
    }
    for ((id, file), marks) in ids.iter().zip(&files).zip(&marks) {
        let (job, report) = finish(stack, id, file)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [198, 2, 0]), "{job}");
        assert_eq!((&job["attempts"], report.failed.len()), (&json!(2), 2), "one retry for two calls");
        let calls = marks.calls(ROWS)?;
        let again: Vec<_> = (1..=ROWS).filter(|n| n % 100 == 7 && calls[n - 1] != 2).collect();
        ensure!(again.is_empty(), "rows that did not run exactly twice: {again:?}");
    }
    let log = all(&operator, "/api/operations/log?limit=50", "entries")?;
    let entry = log.iter().find(|entry| entry["reason"] == "flow" && entry["scope"]["jobIds"] == request["jobIds"]);
    let entry = entry.with_context(|| format!("the retry is not in the log: {log:?}"))?;
    ensure!(entry["result"]["status"] == 200, "{entry}");
    Ok(())
}

#[test]
fn operators_see_jobs_of_all_tenants_and_every_queue() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let operator = operator(stack)?;
    let file = probe_file(["ok,,,"]);
    let id = stack.client.start("probe", "secret-name.csv", &file, &json!({}))?;
    finish(stack, &id, &file)?;
    let jobs = all(&operator, "/api/operations/jobs?type=probe&limit=100", "jobs")?;
    let job = jobs.iter().find(|job| job["jobId"] == json!(id)).context("the job is not listed")?;
    ensure!(job["status"] == "completed" && job["counts"]["succeeded"] == 1, "{job}");
    ensure!(!job.to_string().contains("secret-name"), "a list shows the name of a file: {job}");
    let tenant = job["tenant"].as_str().context("the job has no tenant")?;
    let own = all(&operator, &format!("/api/operations/jobs?tenant={tenant}&limit=100"), "jobs")?;
    ensure!(own.iter().any(|job| job["jobId"] == json!(id)), "the job is not listed for its tenant");
    operator.get("/api/operations/jobs?order=oldest")?.expect(200)?;
    let queues = operator.get("/api/operations/queues")?.expect(200)?;
    assert_eq!(queues["queues"].as_array().map(Vec::len), Some(12));
    operator.get("/api/operations/handlers")?.expect(200)?;
    operator.get(&format!("/api/operations/webhooks?tenant={tenant}"))?.expect(200)?;
    Ok(())
}

#[test]
fn a_read_only_operator_sees_the_lists_and_changes_nothing() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let user = stack.users.add_auditor(&format!("auditor-{}", nonce()))?;
    let auditor = stack.client.clone().with_token(&user.token);
    for list in ["operations/jobs", "operations/failures", "operations/queues", "operations/log", "dead-letters"] {
        auditor.get(&format!("/api/{list}"))?.expect(200)?;
    }
    let request = json!({ "type": "probe", "code": "x", "jobIds": [], "reason": "r" });
    for path in ["/api/operations/retries", "/api/dead-letters/replay"] {
        let refused = auditor.post(path, &request)?.expect(403)?;
        ensure!(refused["type"] == "/api/problems/not-an-operator", "{refused}");
    }
    Ok(())
}
