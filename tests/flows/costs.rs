//! The cost of a job on the stack: its estimate, its parts, its maximum, and the costs of the month.

use anyhow::{Context, Result, ensure};
use longshore_domain::cost::{Prices, Units};
use serde_json::{Value, json};

use crate::shared::{Story, dataset, error_code, finish, lines, probe_file, stack};

/// Dollars of a million records of up to 1 KB.
const MILLION_WRITES: f64 = 0.625;

fn dollars(cost: &Value) -> Result<f64> {
    cost.as_f64().with_context(|| format!("{cost} is no amount"))
}

#[test]
fn an_import_states_its_cost_before_and_after_and_in_the_month() -> Story {
    let client = &stack().client;
    let file = lines(["id,name".to_owned()].into_iter().chain((1..=200).map(|n| format!("{n},Ann"))));
    let upload = client.upload("people.csv", &file)?;
    let options = json!({ "dataset": dataset("costs"), "key": "id" });
    let request = json!({ "jobType": "import", "fileGuid": upload, "options": options, "maxCost": 1 });
    let created = client.post("/api/jobs", &request)?.expect(202)?;
    ensure!(dollars(&created["costEstimate"]["total"])? > 0.0, "{created}");
    let (job, _) = finish(stack(), created["jobId"].as_str().context("the job has no id")?, &file)?;
    ensure!(job["costEstimate"] == created["costEstimate"], "{job} has not the estimate of {created}");
    let cost = &job["cost"];
    let (total, database) = (dollars(&cost["total"])?, dollars(&cost["parts"]["database"])?);
    let writes = 200.0 * MILLION_WRITES / 1e6;
    ensure!(job["status"] == "completed" && database > writes && database < 2.0 * writes && total > database, "{job}");
    let month = client.get("/api/costs")?.expect(200)?;
    ensure!(month["runs"].as_u64() > Some(0) && dollars(&month["cost"]["total"])? >= total, "{month}");
    Ok(())
}

#[test]
fn a_job_stops_before_it_costs_more_than_its_maximum() -> Story {
    let client = &stack().client;
    // Forty seconds of work with half a GB cost a third more than this maximum.
    let max = Prices::current().cost(&Units { gb_ms: 15_000, ..Units::NONE }).total().dollars();
    let file = probe_file((1..=400).map(|_| "ok,100,,"));
    let upload = client.upload("file.csv", &file)?;
    let request = json!({ "jobType": "probe", "fileGuid": upload, "options": {}, "maxCost": max });
    let created = client.post("/api/jobs", &request)?.expect(202)?;
    let (job, report) = finish(stack(), created["jobId"].as_str().context("the job has no id")?, &file)?;
    ensure!((job["status"] == "failed") && error_code(&job) == "cost_limit", "{job}");
    ensure!(!report.unprocessed.is_empty() && dollars(&job["cost"]["total"])? <= max, "{job}");
    Ok(())
}
