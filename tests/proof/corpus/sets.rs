//! The sets of files, processed on one stack, and their measurements. All jobs are started before the first result is
//! read, so that their waiting times overlap.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use longshore_domain::ids::JobId;
use longshore_domain::random::nonce;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use super::case::{End, File, Format, Run, Work};
use super::expected::expectations;
use super::partition::{Partition, check_cells, check_chunks};
use super::reading::read;
use super::report::Report;
use super::{crafted_files, generated, refused_files, sized_files};

/// Number of generated files in a reduced run, and in a complete one.
const GENERATED: [usize; 2] = [12, 150];

fn crafted() -> Vec<File> {
    let mut files = crafted_files::files();
    files.extend(refused_files::files());
    files.extend(sized_files::files());
    if includes_large_files() {
        files.extend(sized_files::large_files());
    }
    files
}

/// One test for all sets, because they share a stack.
#[test]
fn every_row_of_every_malformed_file_has_exactly_one_outcome() -> Result<()> {
    let is_complete = includes_large_files();
    let seed = generated::seed();
    println!("LONGSHORE_SEED={seed}");
    let sets = [("crafted", crafted()), ("generated", generated::files(seed, GENERATED[usize::from(is_complete)]))];
    // Without a grace period for workers, rows that a worker has begun and not committed can be unprocessed. The
    // largest rows take a function some seconds on a busy machine.
    let parameters = vec![("MaxActiveJobs", "1000"), ("StopGraceSeconds", "0"), ("WorkerTimeoutSeconds", "15")];
    let stack = Stack::start(&StackOptions { probe: true, parameters, ..StackOptions::default() })?;
    let mut violations = Vec::new();
    let selection = selection();
    let files = sets.iter().flat_map(|(_, files)| files).filter(|file| file.name.contains(&selection)).count();
    ensure!(files > 0, "no file has {selection:?} in its name");
    for (set, files) in &sets {
        violations.extend(process(&stack, set, files));
    }
    ensure!(violations.is_empty(), "{} violations\n{}", violations.len(), violations.join("\n"));
    Ok(())
}

/// The text that the names of selected files contain. An empty text selects all files.
fn selection() -> String {
    std::env::var("LONGSHORE_FILE").unwrap_or_default()
}

/// Returns true if the set contains all files: in a complete run, and if a file is selected.
fn includes_large_files() -> bool {
    measurements::is_complete_run() || !selection().is_empty()
}

/// Processes a set and records its measurements. Returns the violations.
fn process(stack: &Stack, set: &str, files: &[File]) -> Vec<String> {
    let selection = selection();
    let files: Vec<_> = files.iter().filter(|file| file.name.contains(&selection)).collect();
    let runs: Vec<_> = files.iter().enumerate().flat_map(|(n, file)| file.runs(n)).collect();
    let results = run_all(stack, &runs);
    let violations: Vec<_> =
        runs.iter().zip(&results).filter_map(|(run, result)| Some(describe(run, result.as_ref().err()?))).collect();
    let counts = results.iter().flatten().fold([0; 4], sum);
    let bytes: usize = runs.iter().map(|run| run.file.bytes.len()).sum();
    let rows: usize = counts.iter().sum();
    let [succeeded, failed, skipped, unprocessed] = counts;
    measurements::row(
        "corpus",
        &[
            ("set", &set),
            ("files", &files.len()),
            ("jobs", &runs.len()),
            ("rows", &rows),
            ("bytes", &bytes),
            ("succeeded", &succeeded),
            ("failed", &failed),
            ("skipped", &skipped),
            ("unprocessed", &unprocessed),
            ("violations", &violations.len()),
        ],
    );
    println!(
        "{set}: {} files, {} jobs, {rows} rows: {counts:?}; {} violations",
        files.len(),
        runs.len(),
        violations.len()
    );
    violations
}

fn sum(sum: Counts, counts: &Counts) -> Counts {
    std::array::from_fn(|part| sum[part] + counts[part])
}

/// Describes a violation, with the command that reproduces it.
fn describe(run: &Run<'_>, error: &anyhow::Error) -> String {
    let Run { file, work, end } = run;
    format!(
        "{:?} ({work:?}, {end:?}): {error:?}\n  to reproduce: LONGSHORE_SEED={} LONGSHORE_FILE={:?} \
         cargo xtask test every_row_of_every_malformed_file",
        file.name,
        generated::seed(),
        file.name
    )
}

#[test]
fn file_names_of_the_corpus_are_unique() {
    let files = crafted();
    let names: BTreeSet<_> = files.iter().map(|file| &file.name).collect();
    assert_eq!(names.len(), files.len());
    assert!(files.len() >= 100, "{} crafted files", files.len());
}

/// Number of concurrent calls. They mostly wait.
const THREADS: usize = 8;

/// Maximum time until a job ends. Jobs wait for each other, so this is more than all files need on a busy machine.
const PATIENCE: Duration = Duration::from_secs(900);

/// Number of a run's rows by outcome: succeeded, failed, skipped, unprocessed.
type Counts = [usize; 4];

/// A job that was created.
struct Started {
    id: String,
    dataset: String,
}

/// Executes the runs. Returns the outcome of each, in their order.
fn run_all(stack: &Stack, runs: &[Run<'_>]) -> Vec<Result<Counts>> {
    let begin = std::time::Instant::now();
    let jobs = concurrently(runs, |run| start(stack, run));
    println!("{} jobs were started in {:.1} s", jobs.len(), begin.elapsed().as_secs_f32());
    let pairs: Vec<_> = runs.iter().zip(jobs).collect();
    concurrently(&pairs, |(run, job)| match job {
        Ok(job) => outcome(stack, run, job),
        Err(error) => Err(anyhow::anyhow!("the job was not started: {error:?}")),
    })
}

/// Applies an action to each input, several at a time. The results are in the order of the inputs.
fn concurrently<T: Sync, R: Send>(inputs: &[T], action: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((at, input)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, inputs.get(at)?)))
                {
                    let result = action(input);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn start(stack: &Stack, run: &Run<'_>) -> Result<Started> {
    let dataset = format!("corpus-{}", nonce());
    let (job_type, options) = request(run, &dataset);
    // Small files of oddities: what is found in them is another matter.
    let reading = match run.file.format {
        Format::Csv => json!({ "encoding": "utf-8", "delimiter": ",", "quote": "\"", "headerRow": 1 }),
        Format::JsonLines => json!({}),
    };
    let id = stack.client.start_reading(job_type, run.file.upload_name(), &run.file.bytes, &reading, &options)?;
    if run.end == End::Canceled {
        let answer = stack.client.cancel(&id)?;
        // A small job can have ended already.
        ensure!(matches!(answer.status, 202 | 409), "the cancel was answered {}: {}", answer.status, answer.text());
    }
    Ok(Started { id, dataset })
}

fn request(run: &Run<'_>, dataset: &str) -> (&'static str, Value) {
    let tolerance = matches!(run.end, End::Stopped("too_many_failures")).then_some(0);
    let mode = match run.work {
        Work::Probe => return ("probe", json!({ "maxFailed": tolerance })),
        Work::Upsert => "upsert",
        Work::Insert => "insert",
        Work::Validate => "validate",
    };
    let key = match run.file.format {
        _ if run.end == End::Stopped("key_not_in_header") => "id".to_owned(),
        Format::Csv => read(run.file).columns.into_iter().next().unwrap_or_else(|| "id".to_owned()),
        Format::JsonLines => "id".to_owned(),
    };
    ("import", json!({ "dataset": dataset, "key": key, "mode": mode, "maxFailed": tolerance }))
}

/// Waits for the end of a job and checks all its results against its file.
fn outcome(stack: &Stack, run: &Run<'_>, job: &Started) -> Result<Counts> {
    let document = Watch::new(stack, &job.id).patient(PATIENCE).end()?;
    check_end(run, &document)?;
    let mut input = read(run.file);
    if matches!(run.end, End::Refused(_)) {
        input.rows.clear();
    }
    let report = Report::read(&stack.client, &job.id, input.columns.len()).context("the report")?;
    let partition = Partition::new(&report, &input).context("by number")?;
    let expectations = expectations(run, &input);
    partition.fits(run, &expectations).context("by outcome")?;
    check_cells(&report, &input).context("by cell")?;
    let id = JobId::parse(&job.id).context("the id is not a UUID")?;
    check_chunks(stack, id, run.file, &input, &partition).context("by byte")?;
    if run.work != Work::Probe {
        let records = stack.client.records(&job.dataset)?;
        partition.fits_records(run, &expectations, &records).context("by record")?;
    }
    Ok(partition.named().map(|(_, rows)| rows.len()))
}

fn check_end(run: &Run<'_>, document: &Value) -> Result<()> {
    let status = document["status"].as_str().unwrap_or_default();
    let code = document["error"]["code"].as_str().unwrap_or_default();
    let expected = match run.end {
        End::Completed => status == "completed",
        End::Refused(expected) | End::Stopped(expected) => (status, code) == ("failed", expected),
        // The cancel can be too late.
        End::Canceled => matches!((status, code), ("canceled", "canceled") | ("completed", "")),
    };
    ensure!(expected, "expected end {:?}: {document}", run.end);
    Ok(())
}
