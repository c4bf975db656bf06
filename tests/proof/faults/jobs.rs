//! Concurrent jobs during faults, each over its own file; the checks of their outcomes; and the stacks of these tests.
//! One test uses a stack at a time.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use super::job_checks::{check_events, delete};
use crate::sample::Sample;

/// Rows of a job's file.
pub(crate) const ROWS: u64 = 2_000;

/// Rows of the file of a job with outputs, which are large.
const OUTPUTS: u64 = 60;

/// Quota of upload bytes: more than all files of these tests together, and not more than the maximum for one upload.
const UPLOAD_BYTES_PER_DAY: &str = "5368709120";

/// Total time of a client's retries without a response: a restart, or the redelivery of a killed function's message.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum time until the end of a job, if every fault of a wave delays it by a minute on a busy machine.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(400);

/// Interval between two sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_millis(700);

/// Variant of a job's work.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Variant {
    /// The job imports with upsert.
    Plain,
    /// The job imports with insert. Finally it is deleted, and the sweeper removes it.
    Deleted,
    /// The upload and the report have parts.
    Wide,
    /// The items have outputs, and the results are copied from them.
    Results,
}

/// Number of ended jobs, number of their rows, and violations.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) jobs: u64,
    pub(crate) rows: u64,
    pub(crate) violations: Vec<String>,
}

impl Outcome {
    /// The outcome of one job of [`ROWS`] rows.
    pub(crate) fn new(job: Result<Vec<String>>) -> Self {
        Self::of(ROWS, job)
    }

    /// The outcome of one job. A job that does not end, or that cannot be read, counts as a violation.
    pub(crate) fn of(rows: u64, job: Result<Vec<String>>) -> Self {
        let rows = if job.is_ok() { rows } else { 0 };
        Self { jobs: 1, rows, violations: job.unwrap_or_else(|error| vec![format!("{error:#}")]) }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.rows += other.rows;
        self.violations.extend(other.violations);
    }

    /// Panics with all violations and the command that reproduces them, if there are any.
    pub(crate) fn assert_clean(&self, command: &str) {
        let list = self.violations.join("\n");
        assert!(self.violations.is_empty(), "{} violations:\n{list}\nto reproduce: {command}", self.violations.len());
    }
}

/// Runs one job of each variant concurrently, with the sweeper and `meanwhile`. The flag that `meanwhile` receives is
/// set when the jobs have ended.
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
            let mut outcome = Outcome::default();
            for (job, variant) in jobs.into_iter().zip(variants) {
                let rows = if *variant == Variant::Results { OUTPUTS } else { ROWS };
                outcome.add(Outcome::of(rows, job.join().unwrap_or_else(|_| bail!("a job's thread has panicked"))));
            }
            over.store(true, Ordering::Relaxed);
            let result = meanwhile.join().unwrap_or_else(|_| bail!("the thread beside the jobs has panicked"))?;
            Ok((outcome, result))
        })
    })
}

/// Runs `action` while the sweeper runs. Faults occur in sweeps, too; the next sweep is the retry.
pub(crate) fn sweeping<T>(stack: &Stack, action: impl FnOnce() -> T) -> T {
    sweeping_every(SWEEP_INTERVAL, stack, action)
}

/// Runs `action` while the sweeper runs with this pause.
pub(crate) fn sweeping_every<T>(pause: Duration, stack: &Stack, action: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(stack.sweep());
                thread::sleep(pause);
            }
        });
        let result = action();
        over.store(true, Ordering::Relaxed);
        result
    })
}

fn run(stack: &Stack, variant: Variant) -> Result<Vec<String>> {
    let dataset = format!("{variant:?}-{}", nonce());
    let sample = match variant {
        Variant::Plain => Sample::upsert(&dataset, ROWS),
        Variant::Deleted => Sample::insert(&dataset, ROWS),
        Variant::Wide => Sample::wide(&dataset, ROWS),
        Variant::Results => return run_with_outputs(stack),
    };
    let client = patient(stack);
    let id = client.start_once("import", &sample.file, &sample.options())?;
    if variant == Variant::Wide {
        exceed_the_quota(&client)?;
    }
    let mut violations = finish(stack, &client, &id, &sample)?;
    violations.extend(check_events(stack, &id)?);
    if variant == Variant::Deleted {
        delete(stack, &client, &id)?;
        ensure!(client.records(&dataset)?.len() > 1, "job {id}: its records were removed");
    }
    Ok(violations)
}

/// Runs a job whose outputs are copied into the results. Returns the differences of the results.
fn run_with_outputs(stack: &Stack) -> Result<Vec<String>> {
    const MORE: usize = 200_000;
    let client = patient(stack);
    let file = format!("action,output\n{}", format!("ok,{MORE}\n").repeat(OUTPUTS as usize));
    let id = client.start_once("probe-output", file.as_bytes(), &json!({}))?;
    let job =
        Watch::new(stack, &id).with_client(&client).patient(END_PATIENCE).end().with_context(|| format!("job {id}"))?;
    let results = String::from_utf8(client.output(&id, "results.jsonl")?)?;
    let more = "x".repeat(MORE);
    let expected = (1..=OUTPUTS).map(|n| format!("{{\"number\":{n},\"output\":\"{n}{more}\"}}\n"));
    if results == expected.collect::<String>() {
        return Ok(Vec::new());
    }
    Ok(vec![format!("job {id}: the results of {} bytes differ from the outputs: {}", results.len(), job["counts"])])
}

/// Requests an upload in parts that, with the uploaded file, exceeds the tenant's bytes per day. The API aborts its
/// multipart upload.
fn exceed_the_quota(client: &Client) -> Result<()> {
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

/// Watches a job to its end. Returns the differences from the expected outcome of its file.
pub(crate) fn finish(stack: &Stack, client: &Client, id: &str, sample: &Sample) -> Result<Vec<String>> {
    let job =
        Watch::new(stack, id).with_client(client).patient(END_PATIENCE).end().with_context(|| format!("job {id}"))?;
    sample.differences(client, &job).with_context(|| format!("job {id}"))
}

/// The sweeper pushes jobs without progress after five seconds, because it is part of the tested recovery. No message
/// is dead-lettered, because each row must have its own expected outcome. Workers have fifteen seconds, so that only
/// deliberate delays exceed their timeout on a slow machine. A file of several megabytes is uploaded in parts.
pub(crate) const PARAMETERS: [(&str, &str); 5] = [
    ("MultipartBytes", "5242880"),
    ("MaxTenantUploadBytesPerDay", UPLOAD_BYTES_PER_DAY),
    ("StallSeconds", "5"),
    ("MaxReceiveCount", "20"),
    ("WorkerTimeoutSeconds", "15"),
];

/// The stack with fault injection, and with the probe's job types. `None` on an emulator that this process did not start.
pub(crate) fn faulty() -> Option<MutexGuard<'static, Stack>> {
    static STACK: OnceLock<Mutex<Stack>> = OnceLock::new();
    let options = StackOptions { probe: true, faults: true, parameters: PARAMETERS.to_vec(), ..Default::default() };
    has_own_emulator()
        .then(|| STACK.get_or_init(|| Mutex::new(start(&options))).lock().unwrap_or_else(PoisonError::into_inner))
}

/// Starts a stack for one test, with these additional parameters.
pub(crate) fn own(parameters: &[(&'static str, &'static str)]) -> Option<Stack> {
    let parameters = [&PARAMETERS, parameters].concat();
    has_own_emulator().then(|| start(&StackOptions { parameters, ..Default::default() }))
}

/// Starts a stack for one test. It keeps its state when its emulator is restarted.
pub(crate) fn own_restartable() -> Option<Stack> {
    let options = StackOptions { persists: true, parameters: PARAMETERS.to_vec(), ..Default::default() };
    has_own_emulator().then(|| start(&options))
}

/// Records a row about a fault other than those of calls. Panics if there is a violation.
pub(crate) fn record_outcome(fault: &str, count: &dyn Display, outcome: &Outcome, command: &str) {
    measurements::row(
        "faults-other",
        &[
            ("what", &fault),
            ("count", count),
            ("jobs", &outcome.jobs),
            ("rows compared", &outcome.rows),
            ("violations", &outcome.violations.len()),
        ],
    );
    outcome.assert_clean(command);
}

/// Returns true if this process starts its emulators.
pub(crate) fn has_own_emulator() -> bool {
    let own = std::env::var_os("LONGSHORE_ENDPOINT").is_none();
    if !own {
        measurements::skipped("it needs an emulator of its own");
    }
    own
}

fn start(options: &StackOptions) -> Stack {
    Stack::start(options).unwrap_or_else(|error| panic!("the stack does not start: {error:?}"))
}
