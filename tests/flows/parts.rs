//! Jobs over a part of a job that has ended: its failed rows as they stood, and its outputs.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, lines, stack, work};

/// Creates a job over a part, and waits for its end.
fn run(of: &Value, part: &str, options: &Value) -> Result<Value> {
    let id = create(of, part, options)?;
    Watch::new(stack(), &id).end()
}

fn create(of: &Value, part: &str, options: &Value) -> Result<String> {
    let source = json!({ "jobId": of["jobId"], "part": part });
    let request = json!({ "jobType": "import", "source": source, "options": options });
    let job = stack().client.post("/api/jobs", &request)?.expect(202)?;
    let shown = json!({ "kind": "job", "jobId": of["jobId"], "part": part });
    ensure!(job["source"] == shown && job["fileName"].is_null(), "{job}");
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

fn id_of(job: &Value) -> Result<&str> {
    job["jobId"].as_str().context("the job has no id")
}

/// The new job needs nothing of the old one once it is split: not its records, its work files or its upload.
#[test]
fn the_failed_rows_of_a_job_are_imported_as_they_stood_after_it_was_deleted() -> Story {
    let (stack, name) = (stack(), dataset("failed-rows"));
    let rows = (1..=400).map(|n| if n % 2 == 0 { format!("{n},\"=a,\n{n}\"") } else { format!("{n},b") });
    let file = lines(std::iter::once("id,name".to_owned()).chain(rows));
    let schema = json!({ "properties": { "name": { "maxLength": 1 } } });
    let (job, _) = work(stack, "import", &file, &json!({ "dataset": name, "key": "id", "schema": schema }))?;
    assert_eq!(counts(&job), [200, 200, 0], "{job}");
    let id = create(&job, "failed", &json!({ "dataset": name, "key": "id" }))?;
    let mut watch = Watch::new(stack, &id);
    watch.until("split", |job| job["itemCountFinal"] == true)?;
    stack.client.call("DELETE", &format!("/api/jobs/{}", id_of(&job)?), &[], &[])?.expect(204)?;
    let job = watch.end()?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [200, 0, 0]), "{job}");
    let records = stack.client.records(&name)?;
    assert_eq!((records.len(), &records["400"]["record"]["name"]), (400, &json!("=a,\n400")));
    let part = &Report::read(&stack.client, &id)?.document["receipt"]["document"]["part"];
    ensure!(part["part"] == "failed" && part["generation"] == 0, "{part}");
    let audit = stack.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
    ensure!(audit["equal"] == true && audit["unchecked"] == json!([]), "{audit}");
    ensure!(stack.refusals().is_empty(), "{:?}", stack.refusals());
    Ok(())
}

#[test]
fn failed_rows_of_failed_rows_can_be_corrected_and_retried() -> Story {
    let (stack, name) = (stack(), dataset("failed-twice"));
    let file = lines(["id,name", "1,Ann", ",Bob", ",Cid"]);
    let options = json!({ "dataset": name, "key": "id" });
    let (job, _) = work(stack, "import", &file, &options)?;
    let job = run(&job, "failed", &options)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [0, 2, 0]), "{job}");
    let job = run(&job, "failed", &options)?;
    assert_eq!(counts(&job), [0, 2, 0], "{job}");
    let corrected = stack.client.upload("failed.csv", b"row,id,name\n2,3,Cid\n")?;
    stack.client.retry(id_of(&job)?, Some(&corrected))?.expect(202)?;
    let job = Watch::new(stack, id_of(&job)?).end()?;
    assert_eq!(counts(&job), [1, 1, 0], "{job}");
    assert_eq!(stack.client.records(&name)?.keys().collect::<Vec<_>>(), ["1", "3"]);
    let audit = stack.client.get(&format!("/api/jobs/{}/audit", id_of(&job)?))?.expect(200)?;
    ensure!(audit["equal"] == true, "{audit}");
    Ok(())
}

#[test]
fn the_outputs_of_a_job_are_imported() -> Story {
    let (stack, name) = (stack(), dataset("outputs"));
    let items = json!([{ "flight": "LH400" }, { "flight": "XX1" }, { "flight": "NZ5" }]);
    let request = json!({ "jobType": "enrich", "items": items, "options": {}, "results": { "format": "csv" } });
    let enriched = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let enriched = Watch::new(stack, id_of(&enriched)?).end()?;
    let job = run(&enriched, "results", &json!({ "dataset": name, "key": "flight" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 0, 0]), "{job}");
    let records = stack.client.records(&name)?;
    let record = json!({ "flight": "NZ5", "airline": "Air New Zealand", "country": "New Zealand" });
    assert_eq!((records.len(), &records["NZ5"]["record"]), (2, &record));
    Ok(())
}
