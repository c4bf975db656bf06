//! Load: many concurrent jobs, and a large job that is canceled.
//!
//! Many concurrent jobs of several tenants: no job is lost, all results are exact, and the time is recorded. Every job
//! is polled over HTTP until it has ended, as its owner does, and every response is checked.
//!
//! A large file whose job is canceled after its first chunk: the job ends as canceled within five minutes, and its
//! report lists every row that was not processed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Watch, is_final};
use serde_json::{Value, json};

use crate::sample::Sample;

/// Workers have fifteen seconds, because they can start slowly on a busy machine.
const PARAMETERS: [(&str, &str); 1] = [("WorkerTimeoutSeconds", "15")];

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

/// Size of a row with its line feed, in bytes.
const ROW_BYTES: usize = 256;

const MIB: usize = 1 << 20;

/// Maximum time from the cancel to the final status.
const LIMIT: Duration = Duration::from_secs(300);

/// Size of the file. The reduced file still leads to a report of two parts.
fn file_bytes() -> usize {
    if measurements::is_complete_run() { 256 * MIB } else { 16 * MIB }
}

/// A canceled job as its owner sees it.
struct Canceled {
    job: Value,
    /// The result document of the report.
    report: Value,
    /// Rows of `unprocessed.csv`.
    unprocessed: u64,
    report_bytes: u64,
    took: Duration,
}

#[test]
fn a_large_job_that_is_canceled_after_its_first_chunk_ends_with_its_report() {
    if std::env::var_os("LONGSHORE_ENDPOINT").is_some() {
        return measurements::skipped("it needs an emulator of its own");
    }
    let stack = Stack::start(&StackOptions { parameters: PARAMETERS.to_vec(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let rows = (file_bytes() / ROW_BYTES) as u64;
    let canceled = cancel(&stack, rows).unwrap_or_else(|error| panic!("{error:?}\n{}", stack.log_tail(40)));
    let (emulator_mib, function_mib) = stack.peak_memory_mib().unwrap_or_default();
    let violations = violations(&canceled, rows);
    measurements::row(
        "load-canceled",
        &[
            ("jobs", &1),
            ("bytes", &file_bytes()),
            ("rows", &rows),
            ("unprocessed", &canceled.unprocessed),
            ("bytes of the report", &canceled.report_bytes),
            ("seconds from cancel to end", &format!("{:.1}", canceled.took.as_secs_f64())),
            ("peak memory emulator MiB", &emulator_mib),
            ("largest function MiB", &function_mib),
            ("violations", &violations.len()),
        ],
    );
    assert!(violations.is_empty(), "{violations:?}: {} {}", canceled.job, canceled.report);
    assert!(function_mib > 0, "no memory of a function was measured");
}

/// Uploads a file of `rows` rows, cancels its job as soon as it shows progress, and reads the report.
fn cancel(stack: &Stack, rows: u64) -> Result<Canceled> {
    let file = ["id,note\n".to_owned()].into_iter().chain((1..=rows).map(|n| cells(n).join(",") + "\n"));
    let file: String = file.collect();
    let id =
        stack.client.start("import", "file.csv", file.as_bytes(), &json!({ "dataset": "canceled", "key": "id" }))?;
    drop(file);
    let mut watch = Watch::new(stack, &id).patient(LIMIT);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
    stack.client.cancel(&id)?.expect(202)?;
    let start = Instant::now();
    let job = watch.end()?;
    let took = start.elapsed();
    let report = stack.client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?;
    let (unprocessed, report_bytes) = read_unprocessed(&stack.client, &report)?;
    Ok(Canceled { job, report, unprocessed, report_bytes, took })
}

/// Returns the number of rows in `unprocessed.csv`, and its size in bytes. The rows must be unchanged rows of the
/// input, in ascending order.
fn read_unprocessed(client: &Client, report: &Value) -> Result<(u64, u64)> {
    let url = report["files"]["unprocessed"]["url"].as_str().context("the report has no unprocessed.csv")?;
    let answer = client.get(url)?;
    ensure!(answer.status == 200, "unprocessed.csv: {}", answer.status);
    let mut reader = csv::Reader::from_reader(answer.body.as_slice());
    let (mut row, mut last, mut rows) = (csv::StringRecord::new(), 0, 0);
    while reader.read_record(&mut row)? {
        let number: u64 = row[0].parse().with_context(|| format!("the row has no number: {row:?}"))?;
        ensure!(number > last, "row {number} follows row {last}");
        ensure!(row.iter().skip(1).eq(cells(number)), "row {number} has changed: {row:?}");
        (last, rows) = (number, rows + 1);
    }
    Ok((rows, answer.body.len() as u64))
}

/// The cells of a row: its number, and text that fills the row to the common length.
fn cells(number: u64) -> [String; 2] {
    let id = number.to_string();
    let note = "n".repeat(ROW_BYTES - id.len() - 2);
    [id, note]
}

/// Violations in the job's end and in the counts of its report.
fn violations(canceled: &Canceled, rows: u64) -> Vec<String> {
    let Canceled { job, report, unprocessed, .. } = canceled;
    let mut violations = Vec::new();
    if job["status"] != "canceled" || job["error"]["code"] != "canceled" {
        violations.push(format!("the job ended as {} {}", job["status"], job["error"]));
    }
    let counts = json!({ "succeeded": rows - unprocessed, "failed": 0, "skipped": 0, "unprocessed": unprocessed });
    if report["counts"] != counts || report["itemCount"] != rows {
        violations.push(format!("the report counts {} of {}, not {counts}", report["counts"], report["itemCount"]));
    }
    let succeeded = &job["counts"]["succeeded"];
    if rows == *unprocessed || *succeeded != rows - unprocessed {
        violations.push(format!("{succeeded} rows succeeded, and {unprocessed} of {rows} are unprocessed"));
    }
    violations
}
