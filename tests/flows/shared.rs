//! What the stories share: the stacks, and files made row by row.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use longshore_domain::ids::{JobId, nonce};
use longshore_tests::harness::report::{Report, csv_rows};
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::Value;

/// What a story comes to.
pub(crate) type Story = Result<()>;

/// The stack on which functions meet faults.
pub(crate) fn stack() -> &'static Stack {
    static STACK: OnceLock<Stack> = OnceLock::new();
    STACK.get_or_init(|| {
        // Above the visibility timeout, so that a story of redelivery is not healed by the sweeper.
        let parameters = vec![("StallSeconds", "40"), ("MaxFileBytes", "33554432")];
        start(&StackOptions { probe: true, faults: true, parameters, ..Default::default() })
    })
}

/// The same, for stories that look behind the API; none on an emulator of others.
pub(crate) fn own() -> Option<&'static Stack> {
    has_own_emulator().then(stack)
}

/// The stack whose sweeper waits three seconds for progress, and whose functions log all that they can; none as in [`own`].
pub(crate) fn impatient() -> Option<&'static Stack> {
    static STACK: OnceLock<Stack> = OnceLock::new();
    let parameters = vec![("StallSeconds", "3"), ("LogLevel", "debug")];
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

/// Works a file to the end of its job, doubting every answer; the last document and the report, which is held against
/// the file.
pub(crate) fn work(stack: &Stack, job_type: &str, csv: &[u8], options: &Value) -> Result<(Value, Report)> {
    let id = stack.client.start(job_type, "file.csv", csv, options)?;
    finish(stack, &id, csv)
}

/// The same for a job that is there already.
pub(crate) fn finish(stack: &Stack, id: &str, csv: &[u8]) -> Result<(Value, Report)> {
    end(Watch::new(stack, id), stack, id, csv)
}

/// The same for a job that is being watched.
pub(crate) fn end(mut watch: Watch<'_>, stack: &Stack, id: &str, csv: &[u8]) -> Result<(Value, Report)> {
    let job = watch.end()?;
    let refusals = stack.refusals();
    ensure!(refusals.is_empty(), "AWS would have refused calls: {refusals:?}");
    let report = Report::read(&stack.client, id).with_context(|| format!("the report of {job}"))?;
    report.partitions(&csv_rows(csv)?).with_context(|| format!("the partition of {job}\n{}", report.document))?;
    agree(&job, &report)?;
    Ok((job, report))
}

fn agree(job: &Value, report: &Report) -> Story {
    for name in ["succeeded", "failed", "skipped"] {
        let described = &report.document["counts"][name];
        ensure!(&job["counts"][name] == described, "{name}: the document says {job}, the result {described}");
    }
    Ok(())
}

/// Counts of a document: succeeded, failed, skipped.
pub(crate) fn counts(job: &Value) -> [u64; 3] {
    ["succeeded", "failed", "skipped"].map(|name| job["counts"][name].as_u64().unwrap_or(u64::MAX))
}

/// The code of a document's error; empty if it has none.
pub(crate) fn error_code(job: &Value) -> &str {
    job["error"]["code"].as_str().unwrap_or_default()
}

/// Text lines with LF.
pub(crate) fn lines(lines: impl IntoIterator<Item = impl Display>) -> Vec<u8> {
    lines.into_iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// A file for the probe: each row is `action,millis,rounds,mark`.
pub(crate) fn probe_file(rows: impl IntoIterator<Item = impl Display>) -> Vec<u8> {
    let mut file = b"action,millis,rounds,mark\n".to_vec();
    file.extend(lines(rows));
    file
}

/// A dataset that no earlier run has written to, on an emulator that outlives the run.
pub(crate) fn dataset(name: &str) -> String {
    static RUN: OnceLock<String> = OnceLock::new();
    format!("{name}-{}", RUN.get_or_init(nonce))
}

/// A job's id as the harness wants it.
pub(crate) fn job_id(id: &str) -> Result<JobId> {
    JobId::parse(id).with_context(|| format!("{id} is no job id"))
}

/// A file to which rows of the probe write that they were called; gone when this is dropped.
pub(crate) struct Marks(PathBuf);

impl Marks {
    pub(crate) fn new() -> Self {
        Self(std::env::temp_dir().join(format!("longshore-marks-{}", JobId::generate())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// How often each of the items 1 to `items` was given to the handler.
    pub(crate) fn calls(&self, items: usize) -> Result<Vec<usize>> {
        let mut calls = vec![0; items];
        for line in std::fs::read_to_string(&self.0)?.lines() {
            let item: usize = line.parse()?;
            *calls.get_mut(item - 1).with_context(|| format!("item {item} was called"))? += 1;
        }
        Ok(calls)
    }
}

impl Marks {
    /// The most rows that were with the handler at once, as their notes tell.
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
