//! At-least-once delivery: duplicate messages, states after a crash, killed processes and lost replies.
//!
//! Duplicate, reordered and early messages: they change neither counts nor report nor records.
//!
//! States after a crash that no redelivery repairs: the sweeper finds them, and every job ends.
//!
//! Processes that are killed at critical points, and lost replies: the next delivery continues from the last commit.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use local_cloud::process::kill;
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::Queues;
use longshore_tests::harness::backdoor::{chunk_messages, finish_chunks, unsent_chunks, unsent_job};
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{
    Marks, Story, counts, dataset, end, error_code, finish, impatient, job_id, lines, own, probe_file, stack,
};

/// Four chunks of the probe with mixed outcomes: rows 7, 107 and so on fail, 8, 108 and so on are skipped.
fn mixed_rows() -> Vec<u8> {
    probe_file((1..=200).map(|n| match n % 100 {
        7 => "reject,0,,",
        8 => "skip,0,,",
        9 => "retry,0,1,",
        _ => "ok,15,,",
    }))
}

#[test]
fn every_message_that_is_delivered_twice_counts_once() -> Story {
    let (stack, file) = (stack(), mixed_rows());
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &id);
    watch.until("split", |job| job["itemCountFinal"] == true)?;
    let (queues, job_id) = (stack.queues()?, job_id(&id)?);
    // Messages with their own deduplication ids, because the FIFO queues drop exact copies.
    let create = CreateMessage { resend: 9, ..CreateMessage::of_job(job_id) };
    let complete = CompleteMessage { job_id, generation: 0, resend: 9, step: 0, tenant: None, failures: 0 };
    let chunks = chunk_messages(stack, &id)?;
    for _ in 0..2 {
        stack.run(queues.send_chunks(&chunks, 0))?;
    }
    stack.run(queues.send_create(&create))?;
    stack.run(queues.send_complete(&complete))?;
    let (job, _) = end(watch, stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [196, 2, 2]), "{job}");
    // All messages again, after the end of the job.
    stack.run(queues.send_chunks(&chunks, 0))?;
    stack.run(queues.send_create(&CreateMessage { resend: 10, ..create.clone() }))?;
    stack.run(queues.send_complete(&CompleteMessage { resend: 10, ..complete }))?;
    assert_eq!(finish(stack, &id, &file)?.0, job);
    Ok(())
}

/// The SDK repeats a call without a response, so that the queue contains every message twice.
#[test]
fn chunk_messages_whose_reply_was_lost_are_enqueued_twice_and_count_once() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marker = "/marker/of/doubled/chunks";
    let file = probe_file((1..=120).map(|n| if n == 3 { format!("reject,0,,{marker}") } else { "ok,5,,".into() }));
    let rule = stack.faults()?.on_chunks_with(marker, &json!({ "response": { "abort_bytes": 0 } }))?;
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (job, _) = finish(stack, &id, &file)?;
    ensure!(rule.fired()? == 1, "no reply was lost");
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [119, 1, 0]), "{job}");
    Ok(())
}

#[test]
fn chunks_in_reverse_order_have_the_same_result() -> Story {
    let stack = stack();
    let row = |n: u32| format!("{},{n}", if n % 10 == 1 { "same".to_owned() } else { format!("k{n}") });
    let file = lines(["id,n".to_owned()].into_iter().chain((1..=91).map(row)));
    let options = json!({ "dataset": dataset("reversed"), "key": "id" });
    let (job, mut messages) = unsent_chunks(stack, "import", &file, &options, 13)?;
    messages.reverse();
    for message in &messages {
        stack.run(stack.queues()?.send_chunks(std::slice::from_ref(message), 0))?;
    }
    let (job, _) = finish(stack, &job.job_id.to_string(), &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [91, 0, 0]), "{job}");
    let records = stack.client.records(&dataset("reversed"))?;
    assert_eq!((records.len(), records["same"]["record"]["n"].as_str()), (82, Some("91")));
    Ok(())
}

/// A worker that receives a chunk before its next round is due delays the message for the remaining time.
#[test]
fn a_round_that_is_delivered_too_early_waits_and_every_row_runs_in_every_round() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let file = probe_file((1..=4).map(|_| format!("retry,0,2,{}", marks.path().display())));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &id);
    watch.until("split", |job| job["itemCountFinal"] == true)?;
    let chunks = chunk_messages(stack, &id)?;
    let first = chunks.first().context("the job has no chunk")?;
    for _ in 0..5 {
        stack.run(stack.queues()?.send_chunks(std::slice::from_ref(first), 0))?;
    }
    let (job, _) = end(watch, stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [4, 0, 0]), "{job}");
    // There are three rounds. A row can have more calls, if two workers process a round concurrently. That does not
    // affect the counts.
    ensure!(marks.calls(4)?.iter().all(|calls| *calls >= 3), "{:?}", marks.calls(4)?);
    Ok(())
}

#[test]
fn the_sweeper_sends_a_create_message_that_was_never_sent() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=60).map(|_| "ok,,,"));
    let id = unsent_job(stack, "probe", &file, &json!({}))?.job_id.to_string();
    assert_eq!(stack.client.job(&id)?["status"], "waiting");
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [60, 0, 0]), "{job}");
    Ok(())
}

#[test]
fn the_sweeper_sends_lost_chunk_messages_again() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=60).map(|n| if n == 33 { "reject,,," } else { "ok,,," }));
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    ensure!(messages.len() == 3, "{messages:?}");
    let id = job.job_id.to_string();
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [59, 1, 0]), "{job}");
    Ok(())
}

#[test]
fn the_sweeper_completes_a_job_whose_completion_was_never_requested() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=60).map(|_| "ok,,,"));
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    finish_chunks(stack, &messages)?;
    let id = job.job_id.to_string();
    let stranded = stack.client.job(&id)?;
    assert_eq!(
        (stranded["status"].as_str(), stranded["itemProgress"].as_u64()),
        (Some("running"), Some(60)),
        "{stranded}"
    );
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [60, 0, 0]), "{job}");
    Ok(())
}

/// No function has the job type, so no push has an effect.
#[test]
fn a_job_that_no_function_can_split_fails_finally() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file(["ok,,,"]);
    let id = unsent_job(stack, "of-an-older-deployment", &file, &json!({}))?.job_id.to_string();
    let mut watch = Watch::new(stack, &id).sweeping();
    let job = watch.end()?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "split_failed"), "{job}");
    Ok(())
}

#[test]
fn a_chunk_whose_worker_is_killed_resumes_from_the_last_commit() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // One chunk of 2.7 s. Its worker commits every second, and is killed some rows after the first commit.
    let file = probe_file((1..=45).map(|n| format!("{},60,,{mark}", if n == 35 { "kill" } else { "ok" })));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &id);
    let committed = watch.until("committed once", |job| job["itemProgress"].as_u64() > Some(0))?;
    let committed = usize::try_from(committed["itemProgress"].as_u64().unwrap_or(0))?;
    let (job, _) = end(watch, stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [45, 0, 0]), "{job}");
    let calls = marks.calls(45)?;
    ensure!(committed < 35, "the worker was killed after the commit of row 35");
    ensure!(calls[..committed].iter().all(|calls| *calls == 1), "committed rows were processed again: {calls:?}");
    ensure!(calls[committed..35].contains(&2), "no row was processed again: {calls:?}");
    ensure!(calls[35..].iter().all(|calls| *calls == 1), "rows after the killed one were processed twice: {calls:?}");
    Ok(())
}

/// The splitter is killed between the transaction and the send: the group is in the ledger, and its chunks are not
/// sent.
#[test]
fn a_split_whose_splitter_is_killed_before_a_send_resumes_with_the_send() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marker = "/marker/of/unsent/chunks";
    let file = probe_file((1..=130).map(|n| if n == 2 { format!("skip,0,,{marker}") } else { "ok,1,,".into() }));
    let rule = stack
        .faults()?
        .on_chunks_with(marker, &json!({ "timeout_ms": 4_500, "error": { "code": "InternalError" } }))?;
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    wait_for_fault(&rule)?;
    // The emulator's event source mapping of a FIFO queue is serial, so the process that hangs is the only active one.
    kill_all(stack, "CreateJobFunctionName")?;
    let stranded = stack.client.job(&id)?;
    assert_eq!(
        (stranded["stage"].as_str(), stranded["itemProgress"].as_u64()),
        (Some("splitting"), Some(0)),
        "{stranded}"
    );
    ensure!(stranded["itemCount"].as_u64() > Some(0), "the splitter has committed nothing: {stranded}");
    let (job, _) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [129, 0, 1]), "{job}");
    Ok(())
}

/// The SDK repeats an update whose reply was lost. An unconditional ADD would count every commit of the chunk twice,
/// and `itemProgress` would exceed `itemCount`, which the watch reports.
#[test]
fn commits_with_a_lost_reply_count_once() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = probe_file((1..=50).map(|n| if n % 9 == 0 { "reject,50,," } else { "ok,50,," }));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let rule = stack.faults()?.lose_commit_replies(job_id(&id)?, 5)?;
    let (job, _) = finish(stack, &id, &file)?;
    ensure!(rule.fired()? >= 2, "no reply of a commit was lost");
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [45, 5, 0]), "{job}");
    Ok(())
}

/// The rows are written, the commit is refused, and the message is redelivered: the second delivery finds its own
/// records.
#[test]
fn a_redelivered_insert_does_not_treat_its_own_records_as_duplicates() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = lines(["id,n".to_owned()].into_iter().chain((1..=30).map(|n| format!("{},{n}", n % 29))));
    let dataset = dataset("inserted-again");
    let options = json!({ "dataset": dataset, "key": "id", "mode": "insert" });
    let (job, messages) = unsent_chunks(stack, "import", &file, &options, 30)?;
    let id = job.job_id.to_string();
    let rule = stack.faults()?.add(&json!({
        "service": "dynamodb", "operation": "UpdateItem", "times": 1, "error": { "code": "AccessDeniedException" },
        "body": format!("Key.PK.S == 'JOB#{id}' && starts_with(Key.SK.S, 'GROUP#')"),
    }))?;
    stack.run(stack.queues()?.send_chunks(&messages, 0))?;
    wait_for_fault(&rule)?;
    ensure!(stack.client.records(&dataset)?.len() == 29, "the first delivery has not written the records");
    let (job, report) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [29, 1, 0]), "{job}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), [(30, "duplicate_key".to_owned())]);
    Ok(())
}

#[test]
fn a_completion_killed_before_its_last_write_finishes_at_the_next_delivery() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = probe_file((1..=20).map(|n| if n == 20 { "reject,80,," } else { "ok,80,," }));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let rule = stack.faults()?.add(&json!({
        "service": "dynamodb", "operation": "TransactWriteItems", "times": 1, "timeout_ms": 4_500,
        "error": { "code": "InternalServerError" },
        "body": format!("contains(to_string(@), 'JOB#{id}') && contains(to_string(@), 'finishedAt')"),
    }))?;
    wait_for_fault(&rule)?;
    kill_all(stack, "CompleteJobFunctionName")?;
    let (job, _) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [19, 1, 0]), "{job}");
    Ok(())
}

#[test]
fn throttled_commits_are_retried_and_count_once() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let file = probe_file((1..=30).map(|_| "ok,60,,"));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let rule = stack.faults()?.add(&json!({
        "service": "dynamodb", "operation": "UpdateItem", "times": 4,
        "error": { "code": "ProvisionedThroughputExceededException" },
        "body": format!("Key.PK.S == 'JOB#{id}'"),
    }))?;
    let (job, _) = finish(stack, &id, &file)?;
    ensure!(rule.fired()? == 4, "nothing was throttled");
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [30, 0, 0]), "{job}");
    Ok(())
}

fn wait_for_fault(rule: &Rule<'_>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while rule.fired()? == 0 {
        ensure!(Instant::now() < deadline, "the fault did not occur in time");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn kill_all(stack: &Stack, function: &str) -> Result<()> {
    let processes = stack.processes(function)?;
    ensure!(!processes.is_empty(), "there is no process to kill");
    // A process can end by itself meanwhile.
    processes.into_iter().for_each(|process| drop(kill(process)));
    Ok(())
}
