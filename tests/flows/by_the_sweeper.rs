//! States after a crash that no redelivery recovers: the sweeper finds them, and every job ends.

use anyhow::ensure;
use longshore_tests::harness::crafted::{finish_unseen, unsent_chunks, unsent_job};
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Story, counts, end, error_code, impatient, probe_file};

#[test]
fn a_job_whose_create_message_was_never_sent_is_sent() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=60).map(|_| "ok,,,"));
    let id = unsent_job(stack, "probe", &file, &json!({}))?.job_id.to_string();
    assert_eq!(stack.client.job(&id)?["status"], "waiting");
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [60, 0, 0]), "{job}");
    Ok(())
}

#[test]
fn chunks_whose_messages_are_lost_are_sent_again() -> Story {
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
fn a_job_whose_completion_was_never_requested_is_completed() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file((1..=60).map(|_| "ok,,,"));
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    finish_unseen(stack, &messages)?;
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

/// The job type does not exist any more, so no push has an effect.
#[test]
fn a_job_that_no_function_can_split_fails_in_the_end() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = probe_file(["ok,,,"]);
    let id = unsent_job(stack, "of-an-older-deployment", &file, &json!({}))?.job_id.to_string();
    let mut watch = Watch::new(stack, &id).sweeping();
    let job = watch.end()?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "split_failed"), "{job}");
    Ok(())
}
