//! Nasty files through the whole stack.
//!
//! Each file is uploaded and processed as by a browser. Then every row of the file, as an independent parser reads
//! it, is either a succeeded row with its record in the dataset, or a row of the report with the cells that it has in
//! the file. The chunks together are the file's bytes. Some jobs are stopped, so that the same is checked of
//! unprocessed rows.
//!
//! `LONGSHORE_SEED` repeats the generated files, `LONGSHORE_FILE` runs the files whose names contain it.
//!
//! | file | contents |
//! | --- | --- |
//! | `csv_files`, `json_files`, `refused_files`, `sized_files` | crafted files |
//! | `generated` | files of a seeded generator |
//! | `reading`, `expected` | the independent parser, and the expected outcome of each row |
//! | `run`, `report`, `partition` | the jobs, and the checks of their results against the files |

mod case;
mod csv_files;
mod expected;
mod generated;
mod json_files;
mod partition;
mod reading;
mod refused_files;
mod report;
mod run;
mod sized_files;

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use longshore_tests::harness::stack::{Stack, StackOptions};

use case::{File, Run};
use run::Counts;

/// Generated files in a test run, and in a complete one.
const GENERATED: [usize; 2] = [12, 150];

fn crafted() -> Vec<File> {
    let mut files = csv_files::files();
    files.extend(json_files::files());
    files.extend(refused_files::files());
    files.extend(sized_files::files());
    if all_are_made() {
        files.extend(sized_files::large_files());
    }
    files
}

/// One test for all sets, because they share a stack.
#[test]
fn every_row_of_every_nasty_file_is_in_one_part_of_its_jobs_outcome() -> Result<()> {
    let whole = all_are_made();
    let seed = generated::seed();
    println!("LONGSHORE_SEED={seed}");
    let sets = [("by hand", crafted()), ("generated", generated::files(seed, GENERATED[usize::from(whole)]))];
    // No grace for workers: rows that a worker has begun and not committed count as unprocessed, as they may. The
    // largest rows take a function some seconds on a busy machine.
    let parameters = vec![("MaxActiveJobs", "1000"), ("StopGraceSeconds", "0"), ("WorkerTimeoutSeconds", "15")];
    let stack = Stack::start(&StackOptions { probe: true, parameters, ..StackOptions::default() })?;
    let mut violations = Vec::new();
    let wanted = wanted();
    let files = sets.iter().flat_map(|(_, files)| files).filter(|file| file.name.contains(&wanted)).count();
    ensure!(files > 0, "no file has {wanted:?} in its name");
    for (set, files) in &sets {
        violations.extend(worked(&stack, set, files));
    }
    ensure!(violations.is_empty(), "{} violations\n{}", violations.len(), violations.join("\n"));
    Ok(())
}

/// Part of the name that selects files. Empty selects all files.
fn wanted() -> String {
    std::env::var("LONGSHORE_FILE").unwrap_or_default()
}

/// Returns true if all files are to be generated: for a complete run, and to repeat one file.
fn all_are_made() -> bool {
    measurements::is_whole() || !wanted().is_empty()
}

/// Processes a set and records its measurements. Returns the violations.
fn worked(stack: &Stack, set: &str, files: &[File]) -> Vec<String> {
    let wanted = wanted();
    let files: Vec<_> = files.iter().filter(|file| file.name.contains(&wanted)).collect();
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

/// Describes a difference, its location and the command that reproduces it.
fn describe(run: &Run<'_>, error: &anyhow::Error) -> String {
    let Run { file, work, end } = run;
    format!(
        "{:?} ({work:?}, {end:?}): {error:?}\n  again: LONGSHORE_SEED={} LONGSHORE_FILE={:?} cargo xtask test every_row_of_every_nasty_file",
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
    assert!(files.len() >= 100, "{} files by hand", files.len());
}
