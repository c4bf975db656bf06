//! Helpers of the stories: stacks, jobs that run to their end, files, and calls of the probe.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_domain::ids::JobId;
use longshore_domain::random::nonce;
use longshore_tests::harness::backdoor::{items, objects};
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Report, Watch, csv_rows};
use serde_json::Value;

/// Result of a story.
pub(crate) type Story = Result<()>;

/// The stack with fault injection.
pub(crate) fn stack() -> &'static Stack {
    static STACK: OnceLock<Stack> = OnceLock::new();
    STACK.get_or_init(|| {
        // The stall time exceeds the visibility timeout, so that redelivery recovers a job before the sweeper does.
        let parameters = vec![("StallSeconds", "40"), ("MaxFileBytes", "33554432")];
        start(&StackOptions { probe: true, faults: true, parameters, ..Default::default() })
    })
}

/// The same stack, for stories that use the resources behind the API. `None` on an emulator that this process did not
/// start.
pub(crate) fn own() -> Option<&'static Stack> {
    has_own_emulator().then(stack)
}

/// The stack with a stall time of three seconds and the log level `debug`. `None` on an emulator that this process did
/// not start.
pub(crate) fn impatient() -> Option<&'static Stack> {
    static STACK: OnceLock<Stack> = OnceLock::new();
    let mut parameters = vec![("StallSeconds", "3"), ("LogLevel", "debug")];
    parameters.extend(crate::handlers::parameters());
    let options = StackOptions { probe: true, parameters, ..Default::default() };
    has_own_emulator().then(|| STACK.get_or_init(|| start(&options)))
}

pub(crate) fn has_own_emulator() -> bool {
    let own = std::env::var_os("LONGSHORE_ENDPOINT").is_none();
    if !own {
        measurements::skipped("it needs an emulator of its own");
    }
    own
}

pub(crate) fn start(options: &StackOptions) -> Stack {
    Stack::start(options).unwrap_or_else(|error| panic!("the stack does not start: {error:?}"))
}

/// Runs a job over a file to its end, checks every response, and compares the report with the file. Returns the last
/// document and the report.
pub(crate) fn work(stack: &Stack, job_type: &str, csv: &[u8], options: &Value) -> Result<(Value, Report)> {
    let id = stack.client.start(job_type, "file.csv", csv, options)?;
    finish(stack, &id, csv)
}

/// Does the same for an existing job.
pub(crate) fn finish(stack: &Stack, id: &str, csv: &[u8]) -> Result<(Value, Report)> {
    end(Watch::new(stack, id), stack, id, csv)
}

/// Does the same for a job that is being watched.
pub(crate) fn end(mut watch: Watch<'_>, stack: &Stack, id: &str, csv: &[u8]) -> Result<(Value, Report)> {
    let job = watch.end()?;
    let refusals = stack.refusals();
    ensure!(refusals.is_empty(), "AWS would have refused calls: {refusals:?}");
    let report = Report::read(&stack.client, id).with_context(|| format!("the report of {job}"))?;
    report.partitions(&csv_rows(csv)?).with_context(|| format!("the partition of {job}\n{}", report.document))?;
    compare_counts(&job, &report)?;
    Ok((job, report))
}

fn compare_counts(job: &Value, report: &Report) -> Story {
    for name in ["succeeded", "failed", "skipped"] {
        let counted = &report.document["counts"][name];
        ensure!(&job["counts"][name] == counted, "{name}: the job has {job}, the result {counted}");
    }
    Ok(())
}

/// Counts of a document: succeeded, failed, skipped.
pub(crate) fn counts(job: &Value) -> [u64; 3] {
    ["succeeded", "failed", "skipped"].map(|name| job["counts"][name].as_u64().unwrap_or(u64::MAX))
}

/// The code of a document's error, or empty if it has none.
pub(crate) fn error_code(job: &Value) -> &str {
    job["error"]["code"].as_str().unwrap_or_default()
}

/// A file of these lines, with LF.
pub(crate) fn lines(lines: impl IntoIterator<Item = impl Display>) -> Vec<u8> {
    lines.into_iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// A file for the probe: each row is `action,millis,rounds,mark`.
pub(crate) fn probe_file(rows: impl IntoIterator<Item = impl Display>) -> Vec<u8> {
    let mut file = b"action,millis,rounds,mark\n".to_vec();
    file.extend(lines(rows));
    file
}

/// A name of a dataset that is unique to this run, for emulators that outlive a run.
pub(crate) fn dataset(name: &str) -> String {
    static RUN: OnceLock<String> = OnceLock::new();
    format!("{name}-{}", RUN.get_or_init(nonce))
}

/// Parses a job's id.
pub(crate) fn job_id(id: &str) -> Result<JobId> {
    JobId::parse(id).with_context(|| format!("{id} is not a job id"))
}

/// A file in which rows of the probe record their calls. It is removed when the value is dropped.
pub(crate) struct Marks(PathBuf);

impl Marks {
    pub(crate) fn new() -> Self {
        Self(std::env::temp_dir().join(format!("longshore-marks-{}", JobId::generate())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Number of the handler's calls for each item from 1 to `items`.
    pub(crate) fn calls(&self, items: usize) -> Result<Vec<usize>> {
        let mut calls = vec![0; items];
        for line in std::fs::read_to_string(&self.0)?.lines() {
            let item: usize = line.parse()?;
            *calls.get_mut(item - 1).with_context(|| format!("item {item} does not exist"))? += 1;
        }
        Ok(calls)
    }
}

impl Marks {
    /// Maximum number of rows in the handler at once, by the recorded calls.
    pub(crate) fn most_inside(&self) -> Result<usize> {
        let (mut inside, mut most) = (0_usize, 0);
        for line in std::fs::read_to_string(self.0.with_extension("inside"))?.lines() {
            inside = if line == "in" { inside + 1 } else { inside.saturating_sub(1) };
            most = most.max(inside);
        }
        Ok(most)
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0.with_extension("inside"));
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Maximum time for a stop, a completion and the stall time before the removal of a deleted job.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(90);

/// Sweeps until table and bucket contain nothing of a job.
pub(crate) fn wait_for_removal(stack: &Stack, id: &str) -> Story {
    let deadline = Instant::now() + REMOVAL_PATIENCE;
    loop {
        stack.sweep()?;
        let left = (items(stack, &format!("JOB#{id}"))?, objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?);
        if left.0.is_empty() && left.1.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not removed in time: {left:?}\n{}", stack.log_tail(60));
        std::thread::sleep(Duration::from_millis(300));
    }
}

pub(crate) fn wait_until(is_met: impl Fn() -> Result<bool>) -> Story {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_met()? {
        ensure!(Instant::now() < deadline, "the condition was not met in time");
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}
