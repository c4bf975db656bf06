//! Undo of imports on the stack.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, lines, stack, work};

/// Longer than the stall time of the stack.
const PATIENCE: Duration = Duration::from_secs(120);

fn import(stack: &Stack, options: &Value, rows: impl Iterator<Item = (u64, &'static str)>) -> Result<String> {
    let rows = rows.map(|(n, value)| format!("k{n:05},{value}"));
    let (job, _) = work(stack, "import", &lines(std::iter::once("id,value".to_owned()).chain(rows)), options)?;
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

/// Requests an undo until no worker of the import can write any more.
pub(crate) fn undo(stack: &Stack, import: &str) -> Result<String> {
    let started = Instant::now();
    loop {
        let answer = stack.client.call("POST", &format!("/api/jobs/{import}/undo"), &[], &[])?;
        if answer.status != 409 {
            let undo = answer.expect(202)?;
            return Ok(undo["jobId"].as_str().context("the undo has no id")?.to_owned());
        }
        ensure!(answer.text().contains("undo-too-early"), "{}", answer.text());
        ensure!(answer.headers.contains_key("retry-after") && started.elapsed() < PATIENCE, "still too early");
        sleep(Duration::from_secs(1));
    }
}

fn values(stack: &Stack, name: &str) -> Result<Vec<(String, String)>> {
    let records = stack.client.records(name)?;
    let value = |record: &Value| record["record"]["value"].as_str().unwrap_or_default().to_owned();
    Ok(records.iter().map(|(key, record)| (key.clone(), value(record))).collect())
}

#[test]
fn an_import_is_previewed_and_undone() -> Story {
    let (stack, name) = (stack(), dataset("undone"));
    let options = json!({ "dataset": name, "key": "id" });
    import(stack, &options, (1..=300).map(|n| (n, "first")))?;
    let second = import(stack, &options, (201..=500).map(|n| (n, "second")))?;
    let preview =
        stack.client.post(&format!("/api/jobs/{second}/undo"), &json!({ "mode": "validate" }))?.expect(202)?;
    let preview = Watch::new(stack, preview["jobId"].as_str().context("no id")?).end()?;
    ensure!(preview["undoes"] == json!({ "jobId": second, "preview": true }), "{preview}");
    ensure!(counts(&preview) == [300, 0, 0], "{preview}");
    ensure!(values(stack, &name)?.len() == 500, "a preview writes nothing");
    let items = json!([{ "id": "k00250", "value": "third" }]);
    let request = json!({ "jobType": "import", "items": items, "options": options });
    let third = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let third = third["jobId"].as_str().context("no id")?.to_owned();
    let done = Watch::new(stack, &third).end()?;
    ensure!(counts(&done) == [1, 0, 0], "{done}");

    let id = undo(stack, &second)?;
    let done = Watch::new(stack, &id).end()?;
    ensure!(done["status"] == "completed" && counts(&done) == [299, 0, 1], "{done}");
    let report = Report::read(&stack.client, &id)?;
    ensure!(report.skipped.len() == 1, "{:?}", report.skipped);
    let expected = (1..=300).map(|n| (format!("k{n:05}"), if n == 250 { "third" } else { "first" }.to_owned()));
    assert_eq!(values(stack, &name)?, expected.collect::<Vec<_>>());
    let import = stack.client.job(&second)?;
    ensure!(import["undoneBy"] == json!(id), "{import}");
    let retried = stack.client.retry(&second, None)?;
    ensure!(retried.status == 409, "{}", retried.text());
    let audit = stack.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
    ensure!(audit["equal"] == true, "{audit}");

    // In the other order, the data of the undone import comes back with the undo of the later one.
    Watch::new(stack, &undo(stack, &third)?).end()?;
    let again = Watch::new(stack, &undo(stack, &second)?).end()?;
    ensure!(counts(&again)[1] == 0, "{again}");
    assert_eq!(values(stack, &name)?, (1..=300).map(|n| (format!("k{n:05}"), "first".to_owned())).collect::<Vec<_>>());
    ensure!(stack.refusals().is_empty(), "{:?}", stack.refusals());
    Ok(())
}

#[test]
fn the_rows_of_a_corrected_file_are_undone_too() -> Story {
    let (stack, name) = (stack(), dataset("undone-corrected"));
    let schema = json!({ "properties": { "value": { "pattern": "^good" } } });
    let options = json!({ "dataset": name, "key": "id", "schema": schema });
    let id = import(stack, &options, [(1, "good"), (2, "bad")].into_iter())?;
    let upload = stack.client.upload("corrected.csv", b"row,id,value\n2,k00009,good\n")?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(counts(&job) == [2, 0, 0], "{job}");
    let keys: Vec<_> = stack.client.records(&name)?.into_keys().collect();
    assert_eq!(keys, ["k00001", "k00009"]);
    let done = Watch::new(stack, &undo(stack, &id)?).end()?;
    ensure!(done["itemCount"] == 3 && counts(&done) == [3, 0, 0], "two rows of the file, and one behind it: {done}");
    ensure!(stack.client.records(&name)?.is_empty(), "a record is left");
    Ok(())
}
