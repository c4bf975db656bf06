//! A job of fifty rows, alone and beside a large import: the effect of a separate queue per priority.
//!
//! The large job is an upsert of a million rows at low priority, which takes minutes on this emulator. The small jobs
//! are upserts of fifty rows at high priority, one after the other.

use crate::environment::Bench;
use crate::rows;
use crate::run::{Input, follow};
use anyhow::{Context, Result, ensure};
use longshore_cli::api::{Api, ImportOptions, LocalFile, Mode};
use longshore_cli::progress;
use std::fs;

/// Rows of each small job.
const SMALL_ROWS: u64 = 50;

/// Rows of the large job.
const LARGE_ROWS: u64 = 1_000_000;

/// Number of small jobs, alone and beside. The 95th percentile of thirty is the second longest.
const RUNS: usize = 30;

/// Small jobs that warm up processes and caches, before the first that counts.
const WARM_UP: usize = 5;

/// The measurements.
pub(crate) struct Beside {
    /// Seconds of each small job, from the create call to its `finishedAt`.
    pub(crate) alone: Vec<f64>,
    /// The same, while the large job ran.
    pub(crate) beside: Vec<f64>,
    /// Rows of the large job that were done when the first small job beside it began, and when the last had ended.
    pub(crate) large_rows: (u64, u64),
}

/// A running large job.
pub(crate) struct Large {
    pub(crate) url: String,
    input: Input,
}

/// Runs small jobs alone, starts the large job, and runs the same number beside it. The large job keeps running, so
/// that the cost of reading it can be measured.
pub(crate) fn measure(bench: &Bench<'_>, api: &Api) -> Result<(Beside, Large)> {
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
    let begun = wait_for_queue(api, &url)?;
    let beside: Result<Vec<_>> = (0..RUNS).map(|_| seconds(api, &small)).collect();
    let now = api.poll(&url)?.job;
    ensure!(now.status == "running", "the large job had ended: it was not in the way to the end ({})", now.message);
    step.done();
    fs::remove_file(&small.path)?;
    let large_rows = (begun, now.item_progress);
    Ok((Beside { alone: alone?, beside: beside?, large_rows }, Large { url, input: large }))
}

impl Large {
    /// Stops the job and waits until it has ended.
    pub(crate) fn stop(&self, api: &Api) -> Result<()> {
        api.cancel(&self.url)?;
        while !matches!(api.poll(&self.url)?.job.status.as_str(), "canceled" | "completed") {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        fs::remove_file(&self.input.path)?;
        Ok(())
    }
}

/// Waits until every chunk of the large job is in its queue and some are done.
fn wait_for_queue(api: &Api, url: &str) -> Result<u64> {
    loop {
        let job = api.poll(url)?.job;
        ensure!(matches!(job.status.as_str(), "waiting" | "running"), "the large job ended: {}", job.message);
        if job.item_count_final && job.item_progress > 0 {
            return Ok(job.item_progress);
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
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
    let name = input.path.file_name().context("the file has no name")?.to_string_lossy();
    let (size_bytes, content_type) = (input.size_bytes, "text/csv");
    api.upload(&LocalFile { path: &input.path, name: &name, content_type, size_bytes, sha256: None })
}

fn options(input: &Input) -> ImportOptions {
    let (dataset, key) = (input.dataset.clone(), "id".to_owned());
    ImportOptions { dataset, key, schema: Some(rows::schema()), mode: input.mode }
}

/// Runs one small job and returns the seconds from the create call to `finishedAt`. The upload before it is not
/// counted.
fn seconds(api: &Api, small: &Input) -> Result<f64> {
    let guid = upload(api, small)?;
    let (seconds, ended) = follow(api, || api.create_job(&guid, options(small), "high"))?;
    ensure!(ended.succeeded == small.rows, "{} rows succeeded", ended.succeeded);
    Ok(seconds)
}
