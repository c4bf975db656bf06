//! Duplicate, reordered and early messages: they change neither counts nor report nor records.
//!
//! States after a crash that no redelivery repairs: the sweeper finds them, and every job ends.

use anyhow::{Context, ensure};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::Queues;
use longshore_tests::harness::crafted::{chunk_messages, finish_chunks, unsent_chunks, unsent_job};
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
    let create = CreateMessage { tenant: None, job_id, generation: 0, position: 0, resend: 9, failures: 0 };
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
