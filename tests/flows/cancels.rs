//! A job that its client cancels: finished items count, and no further item begins.

use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use longshore_tests::harness::crafted::unsent_job;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Marks, Story, counts, end, error_code, impatient, job_id, own, probe_file, stack};

/// Maximum time after the cancel's response in which a row may still begin.
const LAST_BEGIN: Duration = Duration::from_secs(5);

#[test]
fn a_job_that_is_canceled_under_load_begins_nothing_after_five_seconds_and_counts_exactly() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    let rows = 200_000;
    let file = probe_file((1..=rows).map(|n| format!("{},20,,{mark}", if n % 7 == 0 { "reject" } else { "ok" })));
    let id = stack.client.start("probe-bulk", "file.csv", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &id);
    watch.until("well under way", |job| job["itemProgress"].as_u64() > Some(100))?;
    let asked = SystemTime::now();
    let stopping = stack.client.cancel(&id)?.expect(202)?;
    let answered = SystemTime::now();
    eprintln!("the cancel was acknowledged after {:?}", answered.duration_since(asked)?);
    ensure!(stopping["stage"] == "stopping" && stopping["links"]["cancel"].is_null(), "{stopping}");
    let (job, report) = end(watch, stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("canceled"), "canceled"), "{job}");
    let [succeeded, failed, skipped] = counts(&job);
    ensure!(succeeded + failed + skipped >= 100, "what had ended before the cancel is lost: {job}");
    ensure!(succeeded + failed + skipped < rows, "nothing was left to be canceled: {job}");
    ensure!(report.failed.len() as u64 == failed, "{} failed rows are reported, {failed} counted", report.failed.len());
    // The chunks' messages are delivered nevertheless, and every worker finds the job stopped.
    let called = marks.calls(usize::try_from(rows)?)?.iter().sum::<usize>();
    let last = std::fs::metadata(marks.path())?.modified()?;
    let after = last.duration_since(answered).unwrap_or_default();
    eprintln!(
        "{called} rows were begun, {} ended; the last one was called {after:?} after the answer",
        succeeded + failed
    );
    ensure!(after <= LAST_BEGIN, "a row was worked {after:?} after the cancel was acknowledged");
    stack.client.cancel(&id)?.expect(409).map(|_| ())
}

#[test]
fn a_waiting_job_is_canceled_at_once_and_lists_its_whole_file() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = probe_file((1..=30).map(|_| "ok,,,"));
    let id = unsent_job(stack, "probe", &file, &json!({}))?.job_id.to_string();
    ensure!(stack.client.job(&id)?["links"]["cancel"] == format!("/api/jobs/{id}/cancel"));
    ensure!(stack.client.cancel(&id)?.expect(202)?["status"] == "waiting");
    let (job, report) = end(Watch::new(stack, &id), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("canceled"), [0, 0, 0]), "{job}");
    ensure!(report.unprocessed.len() == 30, "{} rows are listed", report.unprocessed.len());
    Ok(())
}

/// The function died after it had marked the job as stopped and before it sent the message.
#[test]
fn a_cancel_whose_message_was_never_sent_is_completed_by_the_sweeper() -> Story {
    use longshore_domain::job::Stop;
    use longshore_domain::ports::JobTransitions;
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=10).map(|_| "ok,,,"));
    let job = unsent_job(stack, "probe", &file, &json!({}))?;
    let id = job.job_id.to_string();
    let stop = Stop::canceled(longshore_domain::time_stamp::Timestamp::now());
    stack.run(stack.store()?.stop(job_id(&id)?, 0, &stop))?;
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("canceled"), "canceled"), "{job}");
    Ok(())
}

#[test]
fn a_job_with_a_short_time_limit_is_stopped_at_its_end() -> Story {
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
