//! Jobs that start later, and schedules: the sweeper starts each once, with the permissions of the template.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, dataset, impatient, lines, work};

/// Seconds from a request to the time of its job.
const IN_S: i64 = 4;

/// Returns a time in a moment, in RFC 3339.
fn soon() -> String {
    Timestamp::now().plus_seconds(IN_S).to_rfc3339()
}

fn get(client: &Client, path: &str) -> Result<Value> {
    client.get(path)?.expect(200)
}

fn end(stack: &Stack, id: &str) -> Story {
    let job = Watch::new(stack, id).end()?;
    ensure!(job["status"] == "completed" && job["counts"]["succeeded"] == 2, "{job}");
    Ok(())
}

/// Sweeps twice once the time has come.
fn sweep_later(stack: &Stack) -> Story {
    std::thread::sleep(Duration::from_secs(IN_S.unsigned_abs() + 1));
    stack.sweep()?;
    stack.sweep()?;
    Ok(())
}

#[test]
fn a_job_that_starts_later_and_a_schedule_are_started_by_the_sweeper_once() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let name = dataset("later");
    let file = lines(["id,name", "1,Ann", "2,Bob"]);
    work(stack, "import", &file, &json!({ "dataset": name, "key": "id" }))?;
    let export = json!({ "jobType": "export", "source": { "dataset": name } });

    let mut later = export.clone();
    later["startAt"] = json!(soon());
    let job = stack.client.post("/api/jobs", &later)?.expect(202)?;
    ensure!(job["status"] == "waiting", "{job}");
    let schedule = json!({ "name": "once", "at": soon(), "job": export });
    let schedule = stack.client.post("/api/schedules", &schedule)?.expect(201)?;
    let path = format!("/api/schedules/{}", schedule["scheduleId"].as_str().context("no id")?);
    stack.sweep()?;
    ensure!(get(&stack.client, &format!("{path}/occurrences"))?["occurrences"] == json!([]), "it is not due yet");

    sweep_later(stack)?;
    let occurrences = get(&stack.client, &format!("{path}/occurrences"))?["occurrences"].clone();
    let [occurrence] = occurrences.as_array().context("no occurrences")?.as_slice() else {
        anyhow::bail!("not one occurrence: {occurrences}");
    };
    ensure!(occurrence["result"] == "started", "{occurrence}");
    let made = occurrence["jobId"].as_str().context("no job")?;
    let later = job["jobId"].as_str().context("no job")?;
    for id in [made, later] {
        end(stack, id)?;
    }
    let schedule = get(&stack.client, &path)?;
    ensure!(schedule["nextTimes"] == json!([]) && schedule["lastJobId"] == *made, "{schedule}");

    // A client triggers it again, and deletes it.
    let job = stack.client.post(&format!("{path}/trigger"), &json!({}))?.expect(202)?;
    end(stack, job["jobId"].as_str().context("no job")?)?;
    ensure!(stack.client.call("DELETE", &path, &[], &[])?.status == 204, "not deleted");
    Ok(())
}
