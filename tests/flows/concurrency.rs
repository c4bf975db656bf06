//! A job type with a concurrency limit of two chunks: no more than two run, parked chunks use up no receives, and no
//! other job type waits.
//!
//! A queue for each priority: no job waits behind jobs of another priority.

use anyhow::ensure;
use longshore_domain::job::Priority;
use longshore_domain::ports::ParkedChunks;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Marks, Story, counts, end, finish, own, probe_file, stack, work};

#[test]
fn a_limited_job_type_never_exceeds_its_concurrency_limit() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Two jobs share the limit. They have forty chunks of half a second, for two permits and six workers.
    let file = probe_file((1..=100).map(|n| format!("{},100,1,{mark}", if n % 25 == 0 { "retry" } else { "ok" })));
    let high = stack.client.start_at(Priority::High, "probe-limited", &file, &json!({}))?;
    let low = stack.client.start_at(Priority::Low, "probe-limited", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &low);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
    ensure!(!stack.run(stack.store()?.parked("probe-limited", 1))?.is_empty(), "no chunk is parked");
    let others = probe_file((1..=100).map(|_| "ok,1,,"));
    let (other, _) = work(stack, "probe", &others, &json!({}))?;
    assert_eq!((other["status"].as_str(), counts(&other)), (Some("completed"), [100, 0, 0]), "{other}");
    ensure!(stack.client.job(&low)?["status"] == "running", "the limited job ended before the other one");
    for (id, watch) in [(&low, watch), (&high, Watch::new(stack, &high))] {
        let (job, _) = end(watch, stack, id, &file)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [100, 0, 0]), "{job}");
        let dead_letters = stack.peek("ChunkDlqUrl")?;
        ensure!(!dead_letters.iter().any(|dead_letter| dead_letter.contains(id)), "a parked chunk was dead-lettered");
    }
    assert_eq!(marks.most_inside()?, 2);
    ensure!(
        stack.run(stack.store()?.parked("probe-limited", 1))?.is_empty(),
        "a chunk of an ended job is still parked"
    );
    Ok(())
}

#[test]
fn the_permit_of_a_killed_worker_is_released_soon() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // One worker is killed in each of two chunks: for a moment dead workers have both permits.
    let killed = [3, 8];
    let file = probe_file((1..=40).map(|n| format!("{},50,,{mark}", if killed.contains(&n) { "kill" } else { "ok" })));
    let id = stack.client.start("probe-limited", "file.csv", &file, &json!({}))?;
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [40, 0, 0]), "{job}");
    let calls = marks.calls(40)?;
    // On a busy machine a worker can also exceed its timeout.
    ensure!(killed.iter().all(|n| calls[n - 1] >= 2), "no worker was killed: {calls:?}");
    let dead_letters = stack.peek("ChunkDlqUrl")?;
    ensure!(!dead_letters.iter().any(|dead_letter| dead_letter.contains(&id)), "a chunk was dead-lettered");
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
        let low_job = stack.client.job(&low)?;
        ensure!(low_job["status"] == "running", "the low-priority job has ended: {low_job}");
        ensure!(low_job["counts"]["pending"].as_u64() > Some(500), "the low-priority queue is not deep: {low_job}");
    }
    // The low-priority job has made progress, too, and its counts are exact when it is stopped.
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
