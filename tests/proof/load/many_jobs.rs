//! Many concurrent jobs of several tenants: no job is lost, all results are exact, and the time is recorded.
//!
//! Every job is polled over HTTP until it has ended, as its owner does, and every response is checked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Watch, is_final};
use serde_json::Value;

use super::PARAMETERS;
use crate::sample::Sample;

const TENANTS: usize = 4;

/// Number of concurrent callers.
const CALLERS: usize = 8;

/// Interval between two polls of a caller's jobs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum time for all jobs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(900);

/// Total time of a client's retries while the emulator is overloaded.
const RETRY_TIME: Duration = Duration::from_secs(60);

/// Number of jobs, and rows of each.
fn size() -> (usize, u64) {
    if measurements::is_complete_run() { (200, 1_000) } else { (12, 200) }
}

/// One job, its owner, and its expected outcome.
struct Job {
    client: Client,
    id: String,
    sample: Sample,
}

#[test]
fn many_concurrent_jobs_of_four_tenants_have_exact_results() {
    if std::env::var_os("LONGSHORE_ENDPOINT").is_some() {
        return measurements::skipped("it needs an emulator of its own");
    }
    let (jobs, rows) = size();
    let stack = Stack::start(&StackOptions { parameters: PARAMETERS.to_vec(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let (violations, took) = run(&stack, jobs, rows).unwrap_or_else(|error| panic!("{error:?}"));
    let (emulator_mib, function_mib) = stack.peak_memory_mib().unwrap_or_default();
    let (total_rows, seconds) = (jobs as u64 * rows, took.as_secs_f64());
    measurements::row(
        "load",
        &[
            ("jobs", &jobs),
            ("tenants", &TENANTS),
            ("rows", &total_rows),
            ("seconds", &format!("{seconds:.1}")),
            ("rows/s", &format!("{:.0}", total_rows as f64 / seconds)),
            ("peak memory emulator MiB", &emulator_mib),
            ("largest function MiB", &function_mib),
            ("violations", &violations.len()),
        ],
    );
    let list = violations.join("\n");
    assert!(violations.is_empty(), "{list}\nto reproduce: cargo test -p longshore-tests --test proof many_concurrent");
    assert!(emulator_mib > 0 && function_mib > 0, "no memory was measured");
}

/// Runs the jobs. Returns the violations, and the time from the first upload to the end of the last job.
fn run(stack: &Stack, jobs: usize, rows: u64) -> Result<(Vec<String>, Duration)> {
    let users: Result<Vec<_>> = (0..TENANTS).map(|n| stack.users.add(&format!("tenant-{n}"))).collect();
    let clients: Vec<_> =
        users?.iter().map(|user| stack.client.clone().with_token(&user.token).patient(RETRY_TIME)).collect();
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let numbers = || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < jobs));
    let results = concurrently(|| {
        let created: Vec<_> = numbers().map(|number| create(&clients[number % TENANTS], rows)).collect();
        let ends = watch(stack, &created);
        (created, ends)
    });
    let took = start.elapsed();
    let count: usize = results.iter().map(|(created, _)| created.len()).sum();
    ensure!(count == jobs, "{count} jobs were created instead of {jobs}");
    Ok((results.into_iter().flat_map(|(created, ends)| compare(created, ends)).collect(), took))
}

/// Runs an action in every caller's thread. Returns the result of each.
fn concurrently<T: Send>(action: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(&action)).collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}

/// Uploads a file and creates a job over it as a tenant.
fn create(client: &Client, rows: u64) -> Result<Job> {
    let sample = Sample::insert(&format!("load-{}", nonce()), rows);
    let id = client.start_once("import", &sample.file, &sample.options())?;
    Ok(Job { client: client.clone(), id, sample })
}

/// Polls all jobs of a caller until each has ended. Returns each job's last document, or the violation in one of its
/// responses.
fn watch(stack: &Stack, jobs: &[Result<Job>]) -> Vec<Result<Value>> {
    let deadline = Instant::now() + PATIENCE;
    let mut watches: Vec<_> =
        jobs.iter().flatten().map(|job| Watch::new(stack, &job.id).with_client(&job.client)).collect();
    let mut ends: Vec<Option<Result<Value>>> = watches.iter().map(|_| None).collect();
    while ends.iter().any(Option::is_none) {
        for (watch, end) in watches.iter_mut().zip(&mut ends).filter(|(_, end)| end.is_none()) {
            *end = match watch.poll() {
                Ok(job) if is_final(&job["status"]) => Some(Ok(job)),
                Ok(job) if Instant::now() > deadline => Some(Err(anyhow!("the job has not ended in time: {job}"))),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            };
        }
        thread::sleep(POLL_INTERVAL);
    }
    ends.into_iter().flatten().collect()
}

/// Returns the violations in a caller's jobs.
fn compare(jobs: Vec<Result<Job>>, ends: Vec<Result<Value>>) -> Vec<String> {
    let (mut violations, mut ends) = (Vec::new(), ends.into_iter());
    for job in jobs {
        let differences = job.and_then(|job| {
            let end = ends.next().context("a job was not watched")?;
            let end = end.with_context(|| format!("job {}", job.id))?;
            job.sample.differences(&job.client, &end)
        });
        violations.extend(differences.unwrap_or_else(|error| vec![format!("{error:#}")]));
    }
    violations
}
