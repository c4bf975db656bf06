//! The cost of reads: a status, a 304, a page of the list. Calls are counted by the function that makes them. Read
//! units are computed from the stored items by DynamoDB's rules.

use crate::beside::Large;
use crate::environment::Bench;
use crate::usage::{Calls, Logs};
use anyhow::{Context, Result};
use longshore_cli::api::Api;
use longshore_cli::progress;
use serde_json::{Value, json};

/// Reads of each kind, so that the count of their calls is representative.
const READS: u64 = 10;

/// Bytes of one read unit, strongly consistent.
const UNIT_BYTES: u64 = 4_096;

/// Jobs per page.
const PAGE: usize = 20;

/// One kind of read.
pub(crate) struct Read {
    pub(crate) what: &'static str,
    /// Calls of all reads together.
    pub(crate) calls: Calls,
    pub(crate) reads: u64,
    /// Read units of one read.
    pub(crate) units: f64,
}

/// Measures each kind of read: on the large job while it runs and after it is stopped half-way, and on the completed
/// small jobs.
pub(crate) fn measure(bench: &Bench<'_>, api: &Api, large: &Large) -> Result<Vec<Read>> {
    let step = progress::step("Reads");
    let id = large.url.rsplit('/').next().context("a job's URL ends with its id")?;
    let running = count(bench, || api.read(&large.url, None).map(|_| ()))?;
    let status = units(&job_items(bench, id)?);
    large.stop(api)?;
    let (_, tag) = api.read(&large.url, None)?;
    let unchanged = count(bench, || {
        let (status, _) = api.read(&large.url, Some(&tag))?;
        anyhow::ensure!(status == 304, "{status} in place of 304");
        Ok(())
    })?;
    let stopped = units(&job_items(bench, id)?);
    let list = count(bench, || api.read(&format!("/api/jobs?status=completed&limit={PAGE}"), None).map(|_| ()))?;
    step.done();
    let read = |what, calls, units| Read { what, calls, reads: READS, units };
    Ok(vec![
        read("status of the running job of 1 M rows", running, status),
        read("304 of the same job, stopped half-way", unchanged, stopped),
        // The index returns about 115 bytes per job, eventually consistent; each job is smaller than a unit.
        read("a page of 20 completed jobs", list, 0.5 + PAGE as f64),
    ])
}

/// Counts the calls of jobs-api for `READS` reads.
fn count(bench: &Bench<'_>, read: impl Fn() -> Result<()>) -> Result<Calls> {
    let logs = Logs::from_now(bench.state)?;
    for _ in 0..READS {
        read()?;
    }
    let usage = logs.usage([&"jobs-api".to_owned()])?;
    Ok(usage.into_values().next().map(|usage| usage.calls).unwrap_or_default())
}

/// Read units of a status: the job alone, then its groups and the job again.
fn units(items: &[Value]) -> f64 {
    let all: u64 = items.iter().map(size).sum();
    let job = items.last().map_or(0, size);
    (job.div_ceil(UNIT_BYTES) + all.div_ceil(UNIT_BYTES)) as f64
}

/// The groups of a job, followed by the job.
fn job_items(bench: &Bench<'_>, id: &str) -> Result<Vec<Value>> {
    let (mut items, mut from) = (Vec::new(), Value::Null);
    loop {
        let mut query = json!({
            "TableName": bench.state.output("JobsTableName")?, "ConsistentRead": true,
            "KeyConditionExpression": "PK = :job AND SK BETWEEN :groups AND :end",
            "ExpressionAttributeValues":
                { ":job": { "S": format!("JOB#{id}") }, ":groups": { "S": "GROUP#" }, ":end": { "S": "JOB" } },
        });
        if !from.is_null() {
            query["ExclusiveStartKey"] = from;
        }
        let mut page = bench.dynamodb("Query", &query)?;
        items.extend(page["Items"].as_array().cloned().unwrap_or_default());
        from = page["LastEvaluatedKey"].take();
        if from.is_null() {
            return Ok(items);
        }
    }
}

/// Size of an item in bytes: names and strings in UTF-8; a number takes one byte per two digits plus one; a map or
/// list takes three bytes plus one per entry.
fn size(item: &Value) -> u64 {
    let attributes = item.as_object().into_iter().flatten();
    attributes.map(|(name, value)| name.len() as u64 + size_of_value(value)).sum()
}

fn size_of_value(value: &Value) -> u64 {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else { return 0 };
    let digits = |value: &Value| value.as_str().unwrap_or_default().len() as u64;
    match kind.as_str() {
        "S" => digits(value),
        "N" => digits(value).div_ceil(2) + 1,
        "NS" => value.as_array().into_iter().flatten().map(|n| digits(n).div_ceil(2) + 1).sum(),
        "M" => 3 + size(value) + value.as_object().map_or(0, |map| map.len() as u64),
        "L" => 3 + value.as_array().into_iter().flatten().map(|value| 1 + size_of_value(value)).sum::<u64>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_as_large_as_dynamodb_says() {
        let item = json!({
            "PK": { "S": "JOB#1" }, "n": { "N": "1234" }, "open": { "BOOL": true }, "none": { "NULL": true },
            "cur": { "M": { "0": { "S": "abc" } } }, "set": { "NS": ["1", "22"] }, "list": { "L": [{ "S": "ab" }] }
        });
        assert_eq!(size(&item), 7 + 4 + 5 + 5 + (3 + 3 + 1 + 1 + 3) + (3 + 4) + (4 + 3 + 1 + 2));
    }

    #[test]
    fn a_status_reads_the_job_then_its_groups_and_the_job() {
        let item = |bytes: usize| json!({ "s": { "S": "x".repeat(bytes - 1) } });
        assert!((units(&[item(3_000), item(3_000), item(1_000)]) - 3.0).abs() < 1e-9);
    }
}
