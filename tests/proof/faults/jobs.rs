//! Concurrent jobs during faults, each over its own file, and the check of their outcomes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::ids::nonce;
use longshore_tests::harness::backdoor::{items, objects};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::sample::Sample;

/// Rows of a job's file.
pub(crate) const ROWS: u64 = 2_000;

/// Quota of upload bytes: more than all files of these tests together, and not more than the maximum for one upload.
pub(super) const UPLOAD_BYTES_PER_DAY: &str = "5368709120";

/// Total time of a client's retries without a response: a restart, or the redelivery of a killed function's message.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum time until a job ends that every fault of a wave delays by a minute, on a busy machine.
const ENDS: Duration = Duration::from_secs(400);

/// Maximum time for the removal of a deleted job, on a busy machine and with late calls.
const GONE: Duration = Duration::from_secs(120);

/// Interval between two sweeps.
const SWEEPS: Duration = Duration::from_millis(700);

/// Variant of a job's work.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Variant {
    /// The rows are imported with upsert.
    Plain,
    /// Rows are imported with insert. Finally the job is deleted, and the sweeper removes it.
    Deleted,
    /// The upload and the report have parts.
    Wide,
}

/// Number of ended jobs, number of their rows, and violations.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) jobs: u64,
    pub(crate) rows: u64,
    pub(crate) violations: Vec<String>,
}

impl Outcome {
    /// The outcome of one job. A job that does not end, or cannot be read, is a violation like a wrong row.
    pub(crate) fn new(job: Result<Vec<String>>) -> Self {
        let rows = if job.is_ok() { ROWS } else { 0 };
        Self { jobs: 1, rows, violations: job.unwrap_or_else(|error| vec![format!("{error:#}")]) }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.rows += other.rows;
        self.violations.extend(other.violations);
    }

    /// Panics with all violations and the command that reproduces them, if there are any.
    pub(crate) fn must_be_clean(&self, again: &str) {
        let all = self.violations.join("\n");
        assert!(self.violations.is_empty(), "{} violations:\n{all}\nto see them again: {again}", self.violations.len());
    }
}

/// Runs one job of each variant concurrently, with the sweeper running and `meanwhile` beside them. A flag tells
/// `meanwhile` that the jobs have ended.
pub(crate) fn work<T: Send>(
    stack: &Stack,
    variants: &[Variant],
    meanwhile: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> Result<(Outcome, T)> {
    let over = AtomicBool::new(false);
    sweeping(stack, || {
        thread::scope(|scope| {
            let meanwhile = scope.spawn(|| meanwhile(&over));
            let jobs: Vec<_> = variants.iter().map(|variant| scope.spawn(|| run(stack, *variant))).collect();
            let mut all = Outcome::default();
            for job in jobs {
                all.add(Outcome::new(job.join().unwrap_or_else(|_| bail!("a job's thread has panicked"))));
            }
            over.store(true, Ordering::Relaxed);
            let result = meanwhile.join().unwrap_or_else(|_| bail!("what went on meanwhile has panicked"))?;
            Ok((all, result))
        })
    })
}

/// Runs `act` with the sweeper running. Sweeps meet faults too; the next one is the retry.
pub(crate) fn sweeping<T>(stack: &Stack, act: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(stack.sweep());
                thread::sleep(SWEEPS);
            }
        });
        let done = act();
        over.store(true, Ordering::Relaxed);
        done
    })
}

fn run(stack: &Stack, variant: Variant) -> Result<Vec<String>> {
    let dataset = format!("{variant:?}-{}", nonce());
    let sample = match variant {
        Variant::Plain => Sample::upsert(&dataset, ROWS),
        Variant::Deleted => Sample::insert(&dataset, ROWS),
        Variant::Wide => Sample::wide(&dataset, ROWS),
    };
    let client = patient(stack);
    let id = client.start_once("import", &sample.file, &sample.options())?;
    if variant == Variant::Wide {
        begin_too_much(&client)?;
    }
    let violations = finish(stack, &client, (&id, &sample))?;
    if variant == Variant::Deleted {
        delete(stack, &client, &id)?;
        ensure!(client.records(&dataset)?.len() > 1, "job {id}: its records went with it");
    }
    Ok(violations)
}

/// Begins an upload in parts that exceeds the tenant's bytes per day, beside the file that is uploaded: its parts are
/// aborted.
fn begin_too_much(client: &Client) -> Result<()> {
    let size: u64 = UPLOAD_BYTES_PER_DAY.parse()?;
    let request = json!({ "fileName": "more.csv", "contentType": "text/csv", "size": size }).to_string();
    let key = format!("\"{}\"", nonce());
    let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
    client.call("POST", "/api/uploads", &headers, request.as_bytes())?.expect(429).map(drop)
}

/// The stack's own client, with retries.
pub(crate) fn patient(stack: &Stack) -> Client {
    stack.client.clone().patient(PATIENCE)
}

/// Watches a job to its end and compares its outcome with the file's.
pub(crate) fn finish(stack: &Stack, client: &Client, (id, sample): (&str, &Sample)) -> Result<Vec<String>> {
    let job = Watch::new(stack, id).by(client).patient(ENDS).end().with_context(|| format!("job {id}"))?;
    sample.differences(client, &job).with_context(|| format!("job {id}"))
}

fn delete(stack: &Stack, client: &Client, id: &str) -> Result<()> {
    let deadline = Instant::now() + GONE;
    loop {
        let hidden = client.delete(id).is_ok_and(|answer| matches!(answer.status, 204 | 404));
        let left = (objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?, items(stack, &format!("JOB#{id}"))?);
        if hidden && left.0.is_empty() && left.1.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("job {id} was deleted and is not gone: {left:?}");
        }
        thread::sleep(Duration::from_millis(100));
    }
}
