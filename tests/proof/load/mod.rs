//! Many concurrent jobs of several tenants: none is lost, all results are exact, and the time is recorded.
//!
//! Every job is polled over HTTP until it has ended, as its owner does, and every response is checked. [`canceled`]
//! is one large job that is canceled.

mod canceled;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use longshore_domain::ids::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Watch, is_final};
use serde_json::Value;

use crate::sample::Sample;

const TENANTS: usize = 4;

/// Workers have fifteen seconds, because they may start slowly on a busy machine.
const PARAMETERS: [(&str, &str); 1] = [("WorkerTimeoutSeconds", "15")];

/// Number of concurrent clients.
const CALLERS: usize = 8;

/// Interval between two polls of a caller's jobs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum time for all jobs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(900);

/// Total time of a client's retries while the emulator is overloaded.
const AGAIN: Duration = Duration::from_secs(60);

/// Number of jobs, and rows of each.
fn size() -> (usize, u64) {
    if measurements::is_whole() { (200, 1_000) } else { (12, 200) }
}

/// One job, its owner, and its expected outcome.
struct Job {
    client: Client,
    id: String,
    sample: Sample,
}

#[test]
fn many_jobs_of_four_tenants_at_once_are_all_exact() {
    if std::env::var_os("LONGSHORE_ENDPOINT").is_some() {
        return measurements::skipped("it needs an emulator of its own");
    }
    let (jobs, rows) = size();
    let stack = Stack::start(&StackOptions { parameters: PARAMETERS.to_vec(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let (violations, took) = run(&stack, jobs, rows).unwrap_or_else(|error| panic!("{error:?}"));
    let (emulator_mib, function_mib) = stack.peak_memory_mib().unwrap_or_default();
    let (all, seconds) = (jobs as u64 * rows, took.as_secs_f64());
    measurements::row(
        "load",
        &[
            ("jobs", &jobs),
            ("tenants", &TENANTS),
            ("rows", &all),
            ("seconds", &format!("{seconds:.1}")),
            ("rows/s", &format!("{:.0}", all as f64 / seconds)),
            ("peak memory emulator MiB", &emulator_mib),
            ("largest function MiB", &function_mib),
            ("violations", &violations.len()),
        ],
    );
    let listed = violations.join("\n");
    assert!(violations.is_empty(), "{listed}\nto see it again: cargo test -p longshore-tests --test proof many_jobs");
    assert!(emulator_mib > 0 && function_mib > 0, "nobody says how much memory it took");
}

/// The violations, and the time from the first upload until the last job had ended.
fn run(stack: &Stack, jobs: usize, rows: u64) -> Result<(Vec<String>, Duration)> {
    let users: Result<Vec<_>> = (0..TENANTS).map(|n| stack.users.add(&format!("tenant-{n}"))).collect();
    let clients: Vec<_> =
        users?.iter().map(|user| stack.client.clone().with_token(&user.token).patient(AGAIN)).collect();
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let turns = || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|turn| *turn < jobs));
    let worked = at_once(|| {
        let made: Vec<_> = turns().map(|turn| make(&clients[turn % TENANTS], rows)).collect();
        let ends = watch(stack, &made);
        (made, ends)
    });
    let took = began.elapsed();
    let all: usize = worked.iter().map(|(made, _)| made.len()).sum();
    ensure!(all == jobs, "{all} jobs were made in place of {jobs}");
    Ok((worked.into_iter().flat_map(|(made, ends)| compare(made, ends)).collect(), took))
}

/// The result of each caller.
fn at_once<T: Send>(act: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(&act)).collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}

/// Uploads a file and creates a job over it as a tenant.
fn make(client: &Client, rows: u64) -> Result<Job> {
    let sample = Sample::insert(&format!("load-{}", nonce()), rows);
    let id = client.start_once("import", &sample.file, &sample.options())?;
    Ok(Job { client: client.clone(), id, sample })
}

/// Polls all jobs of a caller until each has ended. Returns each job's last document, or the violation in one of its
/// responses.
fn watch(stack: &Stack, jobs: &[Result<Job>]) -> Vec<Result<Value>> {
    let deadline = Instant::now() + PATIENCE;
    let mut watches: Vec<_> = jobs.iter().flatten().map(|job| Watch::new(stack, &job.id).by(&job.client)).collect();
    let mut ends: Vec<Option<Result<Value>>> = watches.iter().map(|_| None).collect();
    while ends.iter().any(Option::is_none) {
        for (watch, end) in watches.iter_mut().zip(&mut ends).filter(|(_, end)| end.is_none()) {
            *end = match watch.look() {
                Ok(job) if is_final(&job["status"]) => Some(Ok(job)),
                Ok(job) if Instant::now() > deadline => Some(Err(anyhow!("it has not ended: {job}"))),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            };
        }
        thread::sleep(POLL_INTERVAL);
    }
    ends.into_iter().flatten().collect()
}

/// Violations in a caller's jobs.
fn compare(jobs: Vec<Result<Job>>, ends: Vec<Result<Value>>) -> Vec<String> {
    let (mut violations, mut ends) = (Vec::new(), ends.into_iter());
    for job in jobs {
        let found = job.and_then(|job| {
            let end = ends.next().context("a job was not watched")?;
            let end = end.with_context(|| format!("job {}", job.id))?;
            job.sample.differences(&job.client, &end)
        });
        violations.extend(found.unwrap_or_else(|error| vec![format!("{error:#}")]));
    }
    violations
}
