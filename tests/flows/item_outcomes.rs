//! Rows that fail, are retried, panic or kill their worker: each is accounted for, and only a fatal one stops the
//! others.
//!
//! Job types outside the library: the example crate, and a job type without a file.

use anyhow::ensure;
use longshore_tests::harness::report::Report;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Marks, Story, counts, end, error_code, lines, own, probe_file, stack, work};

#[test]
fn only_rows_with_transient_errors_are_retried() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Transient errors in no, one and two rounds, and in more than the probe's two retries.
    let file = probe_file(["ok,,", "retry,,1", "retry,,2", "retry,,9", "reject,,"].map(|row| format!("{row},{mark}")));
    let (job, report) = work(stack, "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3, 2, 0]), "{job}");
    let codes: Vec<_> = report.codes().into_iter().collect();
    assert_eq!(codes, [(4, "retries_exhausted".to_owned()), (5, "asked_to".to_owned())]);
    assert_eq!(marks.calls(5)?, [1, 2, 3, 3, 1]);
    Ok(())
}

#[test]
fn a_row_that_makes_the_handler_panic_fails_alone() -> Story {
    let file = probe_file((1..=40).map(|n| if n == 21 { "panic,,," } else { "ok,,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [39, 1, 0]), "{job}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), [(21, "handler_panicked".to_owned())]);
    Ok(())
}

#[test]
fn a_chunk_that_kills_its_workers_is_dead_lettered_and_the_job_ends() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    // Rows 51 to 100 are the second chunk. Its worker aborts at row 60, at every delivery.
    let file = probe_file((1..=130).map(|n| if n == 60 { "abort,,," } else { "ok,,," }));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (job, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [80, 50, 0]), "{job}");
    let codes = report.codes();
    ensure!(codes.keys().copied().eq(51..=100), "the failed rows are not those of the chunk: {codes:?}");
    ensure!(codes.values().all(|code| code == "dead_lettered"), "{codes:?}");
    let dead_letters = stack.peek("ChunkDlqUrl")?;
    ensure!(
        dead_letters.iter().any(|dead_letter| dead_letter.contains(&id)),
        "the message is not in the dead-letter queue"
    );
    Ok(())
}

#[test]
fn a_job_stops_when_more_rows_fail_than_it_tolerates() -> Story {
    // The rows are slow enough that the other chunks are not done when the third failure is committed.
    let file = probe_file((1..=400).map(|n| if n <= 3 { "reject,,," } else { "ok,100,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({ "maxFailed": 2 }))?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "too_many_failures"), "{job}");
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    assert_eq!(report.failed.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2, 3]);
    Ok(())
}

#[test]
fn a_tolerance_in_percent_that_is_exceeded_only_at_the_end_fails_the_job() -> Story {
    let file = probe_file((1..=10).map(|n| if n <= 2 { "reject,,," } else { "ok,,," }));
    let (tolerant, _) = work(stack(), "probe", &file, &json!({ "maxFailedPercent": 20 }))?;
    assert_eq!(tolerant["status"], "completed");
    let (strict, report) = work(stack(), "probe", &file, &json!({ "maxFailedPercent": 19.5 }))?;
    assert_eq!((strict["status"].as_str(), error_code(&strict)), (Some("failed"), "too_many_failures"), "{strict}");
    assert_eq!((counts(&strict), report.unprocessed.len()), ([8, 2, 0], 0));
    Ok(())
}

#[test]
fn a_fatal_row_stops_the_job_and_is_reported_as_failed() -> Story {
    let file = probe_file((1..=300).map(|n| if n == 5 { "fatal,,," } else { "ok,100,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "asked_to_stop"), "{job}");
    ensure!(report.codes().get(&5).is_some_and(|code| code == "asked_to_stop"), "{:?}", report.codes());
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    Ok(())
}

#[test]
fn a_job_past_its_time_limit_is_stopped_with_exact_counts() -> Story {
    let stack = stack();
    let file = probe_file((1..=400).map(|_| "ok,250,,"));
    let id = stack.client.start("probe-brief", "file.csv", &file, &json!({}))?;
    let (job, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "time_limit"), "{job}");
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    Ok(())
}

#[test]
fn the_example_job_type_runs_on_the_stack() -> Story {
    let file = lines(["name,email", "Ann,ann@example.org", ",nobody@example.org", "Bob,bob", "Cy,cy@example.org"]);
    let (job, report) = work(stack(), "invite", &file, &json!({ "event": "the launch" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 1, 1]), "{job}");
    assert_eq!(report.failures()[&3], ("bad_email".to_owned(), "email".to_owned()));
    assert_eq!(report.skipped[0].report_cells, ["the name is empty"]);
    Ok(())
}

#[test]
fn a_job_without_a_file_is_one_item() -> Story {
    let stack = stack();
    for (action, expected) in [("ok", [1, 0, 0]), ("reject", [0, 1, 0]), ("skip", [0, 0, 1])] {
        let options = json!({ "action": action });
        let accepted = stack.client.request_job("probe-once", None, &options)?.expect(202)?;
        let id = accepted["jobId"].as_str().unwrap_or_default();
        let job = Watch::new(stack, id).end()?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), expected), "{job}");
        Report::read(&stack.client, id)?.partitions(&[vec![options.to_string()]])?;
    }
    Ok(())
}
