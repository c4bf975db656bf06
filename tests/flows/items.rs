//! Jobs from a list of items in the request: progress, failures, corrections, starts and removal.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::backdoor::objects;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, impatient, stack, wait_for_removal};

/// Requests a job over items. Returns its id.
fn create(stack: &Stack, job_type: &str, items: &Value, options: &Value) -> Result<String> {
    let request = json!({ "jobType": job_type, "items": items, "options": options });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    ensure!(job["source"]["kind"] == "items" && job["fileName"].is_null(), "{job}");
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

fn folder(stack: &Stack, id: &str) -> String {
    format!("jobs/{}/{id}/", stack.tenant)
}

#[test]
fn items_are_imported_without_an_upload_and_failed_ones_can_be_corrected() -> Story {
    let stack = stack();
    let items =
        json!([{ "id": 1, "note": "two\nlines \u{0}" }, { "note": "no key" }, { "id": "3", "tags": [{}, null] }]);
    let id = create(stack, "import", &items, &json!({ "dataset": dataset("items"), "key": "id" }))?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 1, 0]), "{job}");
    assert_eq!(job["itemCount"], 3);
    let rows = items.as_array().into_iter().flatten().map(|item| vec![item.to_string()]);
    let report = Report::read(&stack.client, &id)?;
    report.partitions(&rows.collect::<Vec<_>>())?;
    assert_eq!(report.codes()[&2], "missing_key");
    let audit = stack.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
    let basis = &report.document["receipt"]["document"]["input"]["basis"];
    if basis == "read" {
        assert_eq!((&audit["equal"], &audit["unchecked"]), (&json!(true), &json!([])), "{audit}");
    } else {
        // On a busy machine, the completion may have no time for the fingerprint of the file.
        assert!(basis == "too_long" && audit["equal"] != false, "{basis} {audit}");
    }

    let corrected = stack.client.upload("failed.csv", b"row,item\n2,\"{\"\"id\"\":2}\"\n")?;
    stack.client.retry(&id, Some(&corrected))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((counts(&job), &job["issues"]), ([3, 0, 0], &json!([])), "{job}");
    let records = stack.client.records(&dataset("items"))?;
    assert_eq!(records.keys().collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!(records["1"]["record"], items[0]);
    ensure!(stack.refusals().is_empty(), "AWS would have refused calls: {:?}", stack.refusals());
    Ok(())
}

#[test]
fn the_largest_list_of_items_is_worked() -> Story {
    let stack = stack();
    let items: Vec<_> = (1..=10_000).map(|id| json!({ "id": id, "note": "\"".repeat(80) })).collect();
    let id = create(
        stack,
        "import",
        &json!(items),
        &json!({ "dataset": dataset("many"), "key": "id", "mode": "validate" }),
    )?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [10_000, 0, 0]), "{job}");
    Ok(())
}

#[test]
fn an_import_started_from_validated_items_outlives_the_validation_and_leaves_nothing_when_deleted() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let (name, items) = (dataset("started-items"), json!([{ "id": 1 }, { "id": 2 }]));
    let checked = create(stack, "import", &items, &json!({ "dataset": name, "key": "id", "mode": "validate" }))?;
    let job = Watch::new(stack, &checked).end()?;
    assert_eq!(counts(&job), [2, 0, 0], "{job}");
    let started = stack.client.start_import(&checked)?.expect(202)?;
    let id = started["jobId"].as_str().context("the job has no id")?.to_owned();
    stack.client.delete(&checked)?.expect(204)?;
    wait_for_removal(stack, &checked)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((counts(&job), &job["startedFrom"]), ([2, 0, 0], &json!(checked)), "{job}");
    assert_eq!(stack.client.records(&name)?.len(), 2);
    let source = format!("{}source.jsonl", folder(stack, &id));
    ensure!(objects(stack, &folder(stack, &id))?.contains(&source), "the items are not in the folder of the job");
    stack.client.delete(&id)?.expect(204)?;
    wait_for_removal(stack, &id)
}

#[test]
fn a_repeated_request_creates_one_job_and_one_file() -> Story {
    let stack = stack();
    let request = json!({
        "jobType": "import", "items": [{ "id": 1 }], "options": { "dataset": dataset("repeated-items"), "key": "id" },
    });
    let key = longshore_domain::random::nonce();
    let send = |request: &Value| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        stack.client.call("POST", "/api/jobs", &headers, request.to_string().as_bytes())
    };
    let replies = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| send(&request)?.expect(202))).collect();
        calls
            .into_iter()
            .map(|call| call.join().map_err(|_| anyhow::anyhow!("a call panicked"))?)
            .collect::<Result<Vec<_>>>()
    })?;
    ensure!(replies.iter().all(|job| job["jobId"] == replies[0]["jobId"]), "{replies:?}");
    let id = replies[0]["jobId"].as_str().context("the job has no id")?;
    let job = Watch::new(stack, id).end()?;
    assert_eq!(counts(&job), [1, 0, 0], "{job}");
    let mut other = request.clone();
    other["items"][0]["id"] = json!(2);
    send(&other)?.expect(422)?;
    Ok(())
}
