//! Canceled jobs: finished items count, and no further item begins.
//!
//! Deleted jobs: they are hidden immediately, and later removed with everything except the records that they imported.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::backdoor::{items, objects, unsent_job};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{
    Marks, Story, counts, dataset, end, error_code, impatient, job_id, lines, own, probe_file, stack, wait_for_removal,
};

/// Maximum time after the response to a cancel in which a row can still begin.
const MAX_DELAY: Duration = Duration::from_secs(5);

#[test]
fn a_job_canceled_under_load_starts_no_row_after_five_seconds_and_has_exact_counts() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    let rows = 200_000;
    let file = probe_file((1..=rows).map(|n| format!("{},20,,{mark}", if n % 7 == 0 { "reject" } else { "ok" })));
    let id = stack.client.start("probe-bulk", "file.csv", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &id);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(100))?;
    let requested = SystemTime::now();
    let stopping = stack.client.cancel(&id)?.expect(202)?;
    let answered = SystemTime::now();
    eprintln!("the cancel was acknowledged after {:?}", answered.duration_since(requested)?);
    ensure!(stopping["stage"] == "stopping" && stopping["links"]["cancel"].is_null(), "{stopping}");
    let (job, report) = end(watch, stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("canceled"), "canceled"), "{job}");
    let [succeeded, failed, skipped] = counts(&job);
    ensure!(succeeded + failed + skipped >= 100, "rows that ended before the cancel are lost: {job}");
    ensure!(succeeded + failed + skipped < rows, "all rows ended before the cancel: {job}");
    ensure!(report.failed.len() as u64 == failed, "{} failed rows are reported, {failed} counted", report.failed.len());
    // The messages of the other chunks are delivered nevertheless, and their workers find that the job is stopped.
    let called = marks.calls(usize::try_from(rows)?)?.iter().sum::<usize>();
    let last = std::fs::metadata(marks.path())?.modified()?;
    let after = last.duration_since(answered).unwrap_or_default();
    eprintln!("{called} rows began, {} ended; the last one began {after:?} after the response", succeeded + failed);
    ensure!(after <= MAX_DELAY, "a row began {after:?} after the cancel was acknowledged");
    stack.client.cancel(&id)?.expect(409).map(|_| ())
}

#[test]
fn a_waiting_job_is_canceled_at_once_and_reports_all_rows_as_unprocessed() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = probe_file((1..=30).map(|_| "ok,,,"));
    let id = unsent_job(stack, "probe", &file, &json!({}))?.job_id.to_string();
    ensure!(stack.client.job(&id)?["links"]["cancel"] == format!("/api/jobs/{id}/cancel"));
    ensure!(stack.client.cancel(&id)?.expect(202)?["status"] == "waiting");
    let (job, report) = end(Watch::new(stack, &id), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("canceled"), [0, 0, 0]), "{job}");
    ensure!(report.unprocessed.len() == 30, "{} rows are unprocessed", report.unprocessed.len());
    Ok(())
}

/// The function crashed after it had marked the job as stopping, and before it sent the message.
#[test]
fn the_sweeper_completes_a_cancel_whose_message_was_never_sent() -> Story {
    use longshore_domain::job::Stop;
    use longshore_domain::ports::JobTransitions;
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=10).map(|_| "ok,,,"));
    let job = unsent_job(stack, "probe", &file, &json!({}))?;
    let id = job.job_id.to_string();
    let stop = Stop::canceled(longshore_domain::timestamp::Timestamp::now());
    stack.run(stack.store()?.stop(job_id(&id)?, 0, &stop))?;
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("canceled"), "canceled"), "{job}");
    Ok(())
}

#[test]
fn a_job_is_stopped_at_its_time_limit() -> Story {
    let stack = stack();
    let file = probe_file((1..=400).map(|_| "ok,250,,"));
    let upload = stack.client.upload("file.csv", &file)?;
    let request = json!({ "jobType": "probe", "fileGuid": upload, "options": {}, "timeoutSeconds": 2 });
    let accepted = stack.client.post("/api/jobs", &request)?.expect(202)?;
    ensure!(accepted["timeoutSeconds"] == 2, "{accepted}");
    let id = accepted["jobId"].as_str().context("the job has no id")?.to_owned();
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "time_limit"), "{job}");
    Ok(())
}

#[test]
fn a_job_deleted_while_it_runs_leaves_nothing() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=600).map(|n| if n % 5 == 0 { "reject,20,," } else { "ok,20,," }));
    let upload = stack.client.upload("file.csv", &file)?;
    let id = start_job(stack, "probe", &upload, &json!({}))?;
    Watch::new(stack, &id).until("in progress", |job| job["itemProgress"].as_u64() > Some(20))?;
    ensure!(!objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?.is_empty(), "the job has written no work file");
    let answer = stack.client.delete(&id)?;
    ensure!(answer.status == 204 && answer.body.is_empty(), "{}", answer.text());
    assert_hidden(stack, &id)?;
    wait_for_removal(stack, &id)?;
    ensure!(objects(stack, "uploads/")?.iter().all(|key| !key.ends_with(&upload)), "the uploaded file still exists");
    ensure!(items(stack, &format!("UPLOAD#{upload}"))?.is_empty(), "the record of the upload still exists");
    assert_hidden(stack, &id)
}

#[test]
fn deleting_an_import_keeps_its_records_and_a_file_that_another_job_uses() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let (file, dataset) = (lines(["id,name", "1,Ann", ",no key"]), dataset("deleted"));
    let options = json!({ "dataset": dataset, "key": "id" });
    let upload = stack.client.upload("file.csv", &file)?;
    let [first, second] = [(), ()].map(|()| start_job(stack, "import", &upload, &options));
    let (first, second) = (first?, second?);
    end(Watch::new(stack, &first), stack, &first, &file)?;
    stack.client.delete(&first)?.expect(204)?;
    wait_for_removal(stack, &first)?;
    ensure!(stack.client.records(&dataset)?.len() == 1, "the records were removed with their job");
    let (job, _) = end(Watch::new(stack, &second), stack, &second, &file)?;
    ensure!(job["status"] == "completed", "{job}");
    let is_stored =
        |upload: &str| Ok::<_, anyhow::Error>(objects(stack, "uploads/")?.iter().any(|key| key.ends_with(upload)));
    ensure!(is_stored(&upload)?, "the file was removed while another job used it");
    stack.client.delete(&second)?.expect(204)?;
    wait_for_removal(stack, &second)?;
    ensure!(!is_stored(&upload)?, "the file still exists, but no job uses it");
    Ok(())
}

fn start_job(stack: &Stack, job_type: &str, upload: &str, options: &serde_json::Value) -> Result<String> {
    let job = stack.client.request_job(job_type, Some(upload), options)?.expect(202)?;
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

fn assert_hidden(stack: &Stack, id: &str) -> Story {
    stack.client.get(&format!("/api/jobs/{id}"))?.expect(404)?;
    stack.client.get(&format!("/api/jobs/{id}/output"))?.expect(404)?;
    stack.client.cancel(id)?.expect(404)?;
    stack.client.delete(id)?.expect(404).map(|_| ())
}
