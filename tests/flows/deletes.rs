//! A job that its client deletes: hidden immediately, and later removed with everything except the records that it
//! imported.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::leftovers::{items, objects};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Story, dataset, end, impatient, lines, probe_file};

/// Maximum time for a stop, a completion and the stall time before the removal of a deleted job.
const PATIENCE: Duration = Duration::from_secs(90);

#[test]
fn a_job_that_is_deleted_while_it_runs_leaves_nothing() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=600).map(|n| if n % 5 == 0 { "reject,20,," } else { "ok,20,," }));
    let upload = stack.client.upload("file.csv", &file)?;
    let id = started(stack, "probe", &upload, &json!({}))?;
    Watch::new(stack, &id).until("under way", |job| job["itemProgress"].as_u64() > Some(20))?;
    ensure!(!objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?.is_empty(), "no work file was written before");
    let answer = stack.client.delete(&id)?;
    ensure!(answer.status == 204 && answer.body.is_empty(), "{}", answer.text());
    hidden(stack, &id)?;
    gone(stack, &id)?;
    ensure!(objects(stack, "uploads/")?.iter().all(|key| !key.ends_with(&upload)), "the upload is still there");
    ensure!(items(stack, &format!("UPLOAD#{upload}"))?.is_empty(), "the upload's record is still there");
    hidden(stack, &id)
}

#[test]
fn a_deleted_import_leaves_its_records_and_the_file_that_another_job_uses() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let (file, dataset) = (lines(["id,name", "1,Ann", ",no key"]), dataset("deleted"));
    let options = json!({ "dataset": dataset, "key": "id" });
    let upload = stack.client.upload("file.csv", &file)?;
    let [first, second] = [(), ()].map(|()| started(stack, "import", &upload, &options));
    let (first, second) = (first?, second?);
    end(Watch::new(stack, &first), stack, &first, &file)?;
    stack.client.delete(&first)?.expect(204)?;
    gone(stack, &first)?;
    ensure!(stack.client.records(&dataset)?.len() == 1, "the records went with their job");
    let (job, _) = end(Watch::new(stack, &second), stack, &second, &file)?;
    ensure!(job["status"] == "completed", "{job}");
    let key =
        |upload: &str| Ok::<_, anyhow::Error>(objects(stack, "uploads/")?.iter().any(|key| key.ends_with(upload)));
    ensure!(key(&upload)?, "the file went while another job used it");
    stack.client.delete(&second)?.expect(204)?;
    gone(stack, &second)?;
    ensure!(!key(&upload)?, "the file is still there, and nobody uses it");
    Ok(())
}

fn started(stack: &Stack, job_type: &str, upload: &str, options: &serde_json::Value) -> Result<String> {
    let job = stack.client.ask(job_type, Some(upload), options)?.expect(202)?;
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

fn hidden(stack: &Stack, id: &str) -> Story {
    stack.client.get(&format!("/api/jobs/{id}"))?.expect(404)?;
    stack.client.get(&format!("/api/jobs/{id}/output"))?.expect(404)?;
    stack.client.cancel(id)?.expect(404)?;
    stack.client.delete(id)?.expect(404).map(|_| ())
}

/// Sweeps until table and bucket contain nothing of a job.
fn gone(stack: &Stack, id: &str) -> Story {
    let deadline = Instant::now() + PATIENCE;
    loop {
        stack.sweep()?;
        let left = (items(stack, &format!("JOB#{id}"))?, objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?);
        if left.0.is_empty() && left.1.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "this is left: {left:?}\n{}", stack.log_tail(60));
        std::thread::sleep(Duration::from_millis(300));
    }
}
