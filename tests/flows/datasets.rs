//! Jobs over the records of a dataset.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::retries::retry;
use crate::shared::{Story, counts, dataset, lines, stack, work};

/// Creates a dataset whose keys are `k00001` and so on.
fn import(stack: &Stack, name: &str, numbers: impl Iterator<Item = u64>) -> Story {
    let rows = numbers.map(|n| format!("k{n:05},n{n}"));
    let file = lines(std::iter::once("id,name".to_owned()).chain(rows));
    work(stack, "import", &file, &json!({ "dataset": name, "key": "id" })).map(|_| ())
}

fn id_of(job: &Value) -> Result<String> {
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

/// The latency keeps the first job from ending before it is canceled.
#[test]
fn a_dataset_is_deleted_by_a_job_that_is_canceled_and_retried() -> Story {
    const RECORDS: u64 = 4_000;
    let (stack, name) = (stack(), dataset("deleted-as-a-whole"));
    import(stack, &name, 1..=RECORDS)?;
    let of_dataset = format!("contains(to_string(Statements), '{name}')");
    stack.faults()?.add(&json!({
        "service": "dynamodb", "operation": "BatchExecuteStatement", "body": of_dataset,
        "times": 100, "latency": 300,
    }))?;
    let delete = || stack.client.call("DELETE", &format!("/api/datasets/{name}"), &[], &[]);
    let id = id_of(&delete()?.expect(202)?)?;
    let mut watch = Watch::new(stack, &id);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
    stack.client.cancel(&id)?.expect(202)?;
    let job = watch.end()?;
    let [succeeded, failed, skipped] = counts(&job);
    ensure!(job["status"] == "canceled" && failed + skipped == 0 && (1..RECORDS).contains(&succeeded), "{job}");
    let unprocessed = Report::read(&stack.client, &id)?.unprocessed.len() as u64;
    let left = stack.client.records(&name)?.len() as u64;
    // Deletions that were not committed before the stop are not counted, and are done again by the retry.
    ensure!(left <= unprocessed && unprocessed == RECORDS - succeeded, "{left} records, {unprocessed} unprocessed");

    import(stack, &name, RECORDS..=RECORDS)?;
    stack.client.call("DELETE", &format!("/api/datasets/{name}/records?key=k03999"), &[], &[])?.expect(204)?;
    retry(stack, &id)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [RECORDS - 1, 0, 1], "{job}");
    let left: Vec<_> = stack.client.records(&name)?.into_keys().collect();
    assert_eq!(left, ["k04000"], "a job that was created later has written it");
    let audit = stack.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
    ensure!(audit["equal"] == true, "{audit}");
    ensure!(stack.refusals().is_empty(), "{:?}", stack.refusals());
    Ok(())
}
