//! Processes that are killed at critical points, and lost replies: the next delivery continues from the last commit.

use anyhow::{Result, ensure};
use local_cloud::process::kill;
use longshore_domain::ports::Queues;
use longshore_tests::harness::crafted::unsent_chunks;
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::json;
use std::time::{Duration, Instant};

use crate::shared::{Marks, Story, counts, dataset, end, finish, job_id, lines, own, probe_file};

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
        "service": "dynamodb", "operation": "UpdateItem", "times": 1, "timeout_ms": 4_500,
        "error": { "code": "InternalServerError" },
        "body": format!("Key.PK.S == 'JOB#{id}' && contains(UpdateExpression, 'finishedAt')"),
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
