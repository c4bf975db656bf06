//! The sets of files, processed on one stack, and their measurements.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use longshore_tests::harness::stack::{Stack, StackOptions};

use super::case::{File, Run};
use super::run::{self, Counts};
use super::{csv_files, generated, json_files, refused_files, sized_files};

/// Number of generated files in a reduced run, and in a complete one.
const GENERATED: [usize; 2] = [12, 150];

fn crafted() -> Vec<File> {
    let mut files = csv_files::files();
    files.extend(json_files::files());
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
    let results = run::all(stack, &runs);
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
