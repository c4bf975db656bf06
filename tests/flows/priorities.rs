//! A queue for each priority: no job waits behind the queue of another priority.

use anyhow::ensure;
use longshore_domain::job::Priority;
use serde_json::json;

use crate::shared::{Story, counts, finish, probe_file, stack};

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
