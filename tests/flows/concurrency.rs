//! A job type with a concurrency limit of two chunks: no more run, its parked chunks use up no receives, and no other
//! type waits.
//!
//! A queue for each priority: no job waits behind the queue of another priority.

use anyhow::ensure;
use longshore_domain::job::Priority;
use longshore_domain::ports::ParkedChunks;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Marks, Story, counts, end, finish, own, probe_file, stack, work};

#[test]
fn a_limited_type_runs_no_more_chunks_than_its_limit() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Twenty chunks of half a second, for two permits; six workers would take them. Two jobs share the limit.
    let file = probe_file((1..=100).map(|n| format!("{},100,1,{mark}", if n % 25 == 0 { "retry" } else { "ok" })));
    let high = stack.client.start_at(Priority::High, "probe-limited", &file, &json!({}))?;
    let low = stack.client.start_at(Priority::Low, "probe-limited", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &low);
    watch.until("begun", |job| job["itemProgress"].as_u64() > Some(0))?;
    ensure!(!stack.run(stack.store()?.parked("probe-limited", 1))?.is_empty(), "nothing waits");
    let others = probe_file((1..=100).map(|_| "ok,1,,"));
    let (other, _) = work(stack, "probe", &others, &json!({}))?;
    assert_eq!((other["status"].as_str(), counts(&other)), (Some("completed"), [100, 0, 0]), "{other}");
    ensure!(stack.client.job(&low)?["status"] == "running", "the other type had nothing to pass");
    for (id, watch) in [(&low, watch), (&high, Watch::new(stack, &high))] {
        let (job, _) = end(watch, stack, id, &file)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [100, 0, 0]), "{job}");
        let dead_letters = stack.peek("ChunkDlqUrl")?;
        ensure!(
            !dead_letters.iter().any(|dead_letter| dead_letter.contains(id)),
            "a chunk that waited is a dead letter"
        );
    }
    assert_eq!(marks.most_inside()?, 2);
    ensure!(
        stack.run(stack.store()?.parked("probe-limited", 1))?.is_empty(),
        "somebody waits for a job that has ended"
    );
    Ok(())
}

#[test]
fn a_killed_worker_does_not_hold_its_permit_for_long() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // One worker dies in each of two chunks: for a moment both permits are held by dead workers.
    let dies = [3, 8];
    let file = probe_file((1..=40).map(|n| format!("{},50,,{mark}", if dies.contains(&n) { "kill" } else { "ok" })));
    let id = stack.client.start("probe-limited", "file.csv", &file, &json!({}))?;
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [40, 0, 0]), "{job}");
    let calls = marks.calls(40)?;
    // On a busy machine a worker may also exceed its time.
    ensure!(dies.iter().all(|n| calls[n - 1] >= 2), "nobody was killed: {calls:?}");
    let dead_letters = stack.peek("ChunkDlqUrl")?;
    ensure!(!dead_letters.iter().any(|dead_letter| dead_letter.contains(&id)), "a chunk is a dead letter");
    Ok(())
}

#[test]
fn a_high_priority_job_ends_while_the_low_priority_queue_is_deep() -> Story {
    let stack = stack();
    // Sixty chunks of four seconds, two at a time: two minutes of work.
    let long = probe_file((1..=3_000).map(|_| "ok,80,,"));
    let low = stack.client.start_at(Priority::Low, "probe", &long, &json!({}))?;
    let short = probe_file((1..=50).map(|n| if n == 7 { "retry,,1," } else { "ok,,," }));
    for priority in [Priority::High, Priority::Normal] {
        let id = stack.client.start_at(priority, "probe", &short, &json!({}))?;
        let (job, _) = finish(stack, &id, &short)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [50, 0, 0]), "{job}");
        let behind = stack.client.job(&low)?;
        ensure!(behind["status"] == "running", "the low job was not in the way: {behind}");
        ensure!(behind["counts"]["pending"].as_u64() > Some(500), "the low job has no backlog: {behind}");
    }
    // The low-priority job is not starved either, and its counts are exact when it is stopped.
    stack.client.cancel(&low)?.expect(202)?;
    let (job, report) = finish(stack, &low, &long)?;
    ensure!(counts(&job)[0] > 0 && !report.unprocessed.is_empty(), "{job}");
    Ok(())
}

#[test]
fn a_low_priority_job_ends_with_exact_counts() -> Story {
    let stack = stack();
    let file = probe_file((1..=130).map(|n| ["ok,,,", "reject,,,", "skip,,,", "retry,,1,"][n % 4]));
    let id = stack.client.start_at(Priority::Low, "probe", &file, &json!({}))?;
    let (job, _) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [64, 33, 33]), "{job}");
    Ok(())
}
