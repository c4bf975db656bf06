//! Retries: only the remaining items run, and the report is repaired.

use anyhow::{Result, ensure};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Marks, Story, counts, end, error_code, finish, own, probe_file};

#[test]
fn a_retry_of_a_hundred_thousand_rows_runs_only_the_thousand_failed_ones() -> Story {
    const ROWS: usize = 100_000;
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Of every hundred rows, one fails on its first call, and another one records its calls and succeeds.
    let file = probe_file((1..=ROWS).map(|n| match n % 100 {
        7 => format!("recover,,,{mark}"),
        8 => format!("ok,,,{mark}"),
        _ => "ok,,,".to_owned(),
    }));
    let id = stack.client.start("probe-bulk", "file.csv", &file, &json!({}))?;
    let (job, _) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [99_000, 1_000, 0]), "{job}");
    retry(stack, &id)?;
    let (job, report) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [100_000, 0, 0]), "{job}");
    assert_eq!((&job["attempts"], report.failed.len()), (&json!(2), 0));
    let calls = marks.calls(ROWS)?;
    let expected = |n| match n % 100 {
        7 => 2,
        8 => 1,
        _ => 0,
    };
    let wrong: Vec<_> = (1..=ROWS).filter(|n| calls[n - 1] != expected(*n)).collect();
    ensure!(wrong.is_empty(), "rows with an unexpected number of calls: {wrong:?}");
    Ok(())
}

#[test]
fn a_retry_processes_the_rows_that_a_failed_job_did_not_process() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    let row = |n| match n {
        1..=3 => format!("recover,,,{mark}"),
        4 => "skip,,,".to_owned(),
        _ => format!("ok,20,,{mark}"),
    };
    let file = probe_file((1..=400).map(row));
    let id = stack.client.start("probe", "file.csv", &file, &json!({ "maxFailed": 2 }))?;
    let (job, report) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "too_many_failures"), "{job}");
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    retry(stack, &id)?;
    let (job, report) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [399, 0, 1]), "{job}");
    assert_eq!((report.skipped.len(), report.unprocessed.len()), (1, 0));
    Ok(())
}

#[test]
fn rows_that_fail_again_are_in_the_new_report_and_a_damaged_row_stays_failed() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let mut file = probe_file((1..=120).map(|n| if n % 60 == 0 { "reject,,," } else { "ok,,," }));
    file.extend(b"ok,,,\"never closed");
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (_, before) = end(Watch::new(stack, &id), stack, &id, &file)?;
    retry(stack, &id)?;
    let (job, after) = end(Watch::new(stack, &id), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [118, 3, 0]), "{job}");
    assert_eq!((after.codes(), &job["itemCount"]), (before.codes(), &json!(121)));
    Ok(())
}

#[test]
fn a_retry_with_a_code_runs_only_the_rows_that_failed_with_it() -> Story {
    const ROWS: usize = 300;
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    let file = probe_file((1..=ROWS).map(|n| match n % 100 {
        7 => format!("reject,,,{mark}"),
        8 => format!("panic,,,{mark}"),
        _ => "ok,,,".to_owned(),
    }));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (_, before) = end(Watch::new(stack, &id), stack, &id, &file)?;
    let output = stack.client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?;
    assert_eq!(output["failuresByCode"], json!({ "asked_to": 3, "handler_panicked": 3 }), "{output}");
    let calls = marks.calls(ROWS)?;
    retry_with(stack, &id, &json!({ "code": "asked_to" }))?;
    let (job, after) = end(Watch::new(stack, &id), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [294, 6, 0]), "{job}");
    assert_eq!((&job["attempts"], after.codes()), (&json!(2), before.codes()));
    let again = marks.calls(ROWS)?;
    let wrong: Vec<_> = (1..=ROWS).filter(|n| again[n - 1] != calls[n - 1] + usize::from(n % 100 == 7)).collect();
    ensure!(wrong.is_empty(), "rows with an unexpected number of calls: {wrong:?}");
    let unknown = stack.client.post(&format!("/api/jobs/{id}/retry"), &json!({ "code": "worse" }))?;
    assert_eq!(unknown.bad_field(), "/code unknown_failure_code");
    Ok(())
}

pub(crate) fn retry(stack: &Stack, id: &str) -> Result<()> {
    retry_with(stack, id, &json!({}))
}

fn retry_with(stack: &Stack, id: &str, body: &Value) -> Result<()> {
    let job = stack.client.post(&format!("/api/jobs/{id}/retry"), body)?.expect(202)?;
    ensure!(job["status"] == "waiting" || job["status"] == "running", "the job was not reopened: {job}");
    Ok(())
}
