//! A job of fifty rows, alone and beside a large import, and the cost of reads.
//!
//! The times show the effect of a separate queue per priority. The large job is an upsert of a million rows with low
//! priority, which takes minutes on the emulator. The small jobs are upserts of fifty rows with high priority, one after
//! the other. The reads are a status, a 304, and a page of the list. The functions count their calls. Read units are
//! computed from the stored items, by DynamoDB's rules.

use crate::environment::Bench;
use crate::item_size::{UNIT_BYTES, size};
use crate::rows;
use crate::run::{Input, follow};
use crate::usage::{Calls, Logs};
use anyhow::{Context, Result, ensure};
use longshore_cli::api::{Api, ImportOptions, LocalFile, Mode};
use longshore_cli::progress;
use serde_json::{Value, json};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Number of rows of each small job.
const SMALL_ROWS: u64 = 50;

/// Number of rows of the large job.
const LARGE_ROWS: u64 = 1_000_000;

/// Number of small jobs, both alone and beside the large one. The 95th percentile of thirty is the second longest.
const RUNS: usize = 30;

/// Number of small jobs that warm up processes and caches before the measurement.
const WARM_UP: usize = 5;

/// Number of reads of each kind.
const READS: u64 = 10;

/// Jobs per page.
const PAGE: usize = 20;

/// The times of the small jobs.
pub(crate) struct Beside {
    /// Seconds of each small job, from the create call to its `finishedAt`.
    pub(crate) alone: Vec<f64>,
    /// The same, while the large job ran.
    pub(crate) beside: Vec<f64>,
    /// Processed rows of the large job when the first small job beside it started.
    pub(crate) large_rows_at_start: u64,
    /// Processed rows of the large job when the last small job had ended.
    pub(crate) large_rows_at_end: u64,
}

/// A running large job.
pub(crate) struct LargeJob {
    url: String,
    input: Input,
}

/// The cost of one kind of read.
pub(crate) struct ReadCost {
    pub(crate) name: &'static str,
    /// Calls of all reads together.
    pub(crate) calls: Calls,
    pub(crate) reads: u64,
    /// Read units of one read.
    pub(crate) units: f64,
}

/// Runs small jobs alone, starts the large job, and runs the same number of small jobs beside it. Returns the large job
/// still running, so that the cost of reading it can be measured.
pub(crate) fn measure(bench: &Bench<'_>, api: &Api) -> Result<(Beside, LargeJob)> {
    let step = progress::step("50 rows, high, alone");
    let small = input(bench, SMALL_ROWS, "small")?;
    for _ in 0..WARM_UP {
        seconds(api, &small)?;
    }
    let alone: Result<Vec<_>> = (0..RUNS).map(|_| seconds(api, &small)).collect();
    step.done();
    let step = progress::step("50 rows, high, beside 1 M rows, low");
    let large = input(bench, LARGE_ROWS, "large")?;
    let url = create(api, &large, "low")?;
    let large_rows_at_start = wait_for_queue(api, &url)?;
    let beside: Result<Vec<_>> = (0..RUNS).map(|_| seconds(api, &small)).collect();
    let job = api.poll(&url)?.job;
    ensure!(job.status == "running", "the large job ended before the small jobs: {}", job.message);
    step.done();
    fs::remove_file(&small.path)?;
    let large_rows_at_end = job.item_progress;
    let beside = Beside { alone: alone?, beside: beside?, large_rows_at_start, large_rows_at_end };
    Ok((beside, LargeJob { url, input: large }))
}

impl LargeJob {
    /// Cancels the job and waits until it has ended.
    fn cancel(&self, api: &Api) -> Result<()> {
        api.cancel(&self.url)?;
        while !matches!(api.poll(&self.url)?.job.status.as_str(), "canceled" | "completed") {
            sleep(Duration::from_millis(200));
        }
        fs::remove_file(&self.input.path)?;
        Ok(())
    }
}

/// Waits until all chunks of the large job are in its queue and some are processed. Returns the number of processed
/// rows.
fn wait_for_queue(api: &Api, url: &str) -> Result<u64> {
    loop {
        let job = api.poll(url)?.job;
        ensure!(matches!(job.status.as_str(), "waiting" | "running"), "the large job ended: {}", job.message);
        if job.item_count_final && job.item_progress > 0 {
            return Ok(job.item_progress);
        }
        sleep(Duration::from_millis(100));
    }
}

fn input(bench: &Bench<'_>, rows: u64, name: &str) -> Result<Input> {
    let path = bench.project.state_dir()?.join(format!("{name}.csv"));
    let size_bytes = rows::write(&path, rows, 0)?;
    let dataset = format!("bench-{name}-{}", std::process::id());
    Ok(Input { path, rows, bad_rows: 0, size_bytes, mode: Mode::Upsert, dataset })
}

fn create(api: &Api, input: &Input, priority: &str) -> Result<String> {
    let guid = upload(api, input)?;
    api.create_job(&guid, options(input), priority)
}

fn upload(api: &Api, input: &Input) -> Result<String> {
    api.upload(&LocalFile::open(&input.path)?)
}

fn options(input: &Input) -> ImportOptions {
    let (dataset, key) = (input.dataset.clone(), "id".to_owned());
    ImportOptions { dataset, key, schema: Some(rows::schema()), mode: input.mode }
}

/// Runs a small job. Returns the seconds from the create call to `finishedAt`, without the upload.
fn seconds(api: &Api, small: &Input) -> Result<f64> {
    let guid = upload(api, small)?;
    let (seconds, job) = follow(api, || api.create_job(&guid, options(small), "high"))?;
    ensure!(job.succeeded == small.rows, "{} of {} rows succeeded", job.succeeded, small.rows);
    Ok(seconds)
}

/// Measures each kind of read: of the large job while it runs and after it was canceled, and of the completed small
/// jobs.
pub(crate) fn measure_reads(bench: &Bench<'_>, api: &Api, large: &LargeJob) -> Result<Vec<ReadCost>> {
    let step = progress::step("Reads");
    let id = large.url.rsplit('/').next().context("a job's URL ends with its id")?;
    let running_calls = count(bench, || api.read(&large.url, None).map(|_| ()))?;
    let running_units = units(&job_items(bench, id)?);
    large.cancel(api)?;
    let (_, etag) = api.read(&large.url, None)?;
    let unchanged_calls = count(bench, || {
        let (status, _) = api.read(&large.url, Some(&etag))?;
        ensure!(status == 304, "status {status} instead of 304");
        Ok(())
    })?;
    let unchanged_units = units(&job_items(bench, id)?);
    let list_calls = count(bench, || api.read(&format!("/api/jobs?status=completed&limit={PAGE}"), None).map(|_| ()))?;
    step.done();
    let read = |name, calls, units| ReadCost { name, calls, reads: READS, units };
    Ok(vec![
        read("status of the running job of 1 M rows", running_calls, running_units),
        read("304 of the same job, after it was canceled", unchanged_calls, unchanged_units),
        // The eventually consistent index returns about 115 bytes per job. Each job is smaller than a read unit.
        read("a page of 20 completed jobs", list_calls, 0.5 + PAGE as f64),
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

/// Returns the read units of a status: a read of the job, and a query of its groups and the job.
fn units(items: &[Value]) -> f64 {
    let total: u64 = items.iter().map(size).sum();
    let job = items.last().map_or(0, size);
    (job.div_ceil(UNIT_BYTES) + total.div_ceil(UNIT_BYTES)) as f64
}

/// Reads the groups of a job, followed by the job.
fn job_items(bench: &Bench<'_>, id: &str) -> Result<Vec<Value>> {
    bench.query(&json!({
        "TableName": bench.state.output("JobsTableName")?, "ConsistentRead": true,
        "KeyConditionExpression": "PK = :job AND SK BETWEEN :groups AND :end",
        "ExpressionAttributeValues":
            { ":job": { "S": format!("JOB#{id}") }, ":groups": { "S": "GROUP#" }, ":end": { "S": "JOB" } },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_costs_a_read_of_the_job_and_a_query_of_groups_and_job() {
        let item = |bytes: usize| json!({ "s": { "S": "x".repeat(bytes - 1) } });
        assert!((units(&[item(3_000), item(3_000), item(1_000)]) - 3.0).abs() < 1e-9);
    }
}
