//! Prints the outcome of an import.

use super::report::Failed;
use crate::api::{Job, Output};
use indicatif::HumanCount;
use std::path::Path;

/// Prints the counts and the first failures.
pub(super) fn outcome(job: &Job, output: &Output, failed: &Failed) {
    let counts = output.counts;
    println!();
    println!("  {:>12}  rows{}", number(output.item_count), speed(job));
    println!("  {:>12}  succeeded", number(counts.succeeded));
    println!("  {:>12}  failed", number(counts.failed));
    println!("  {:>12}  skipped", number(counts.skipped));
    if counts.unprocessed > 0 {
        println!("  {:>12}  not processed", number(counts.unprocessed));
    }
    if let Some(error) = &job.error {
        println!("  error: {error}");
    }
    if let (Some(queued), Some(running)) = (seconds(output, "queuedMs"), seconds(output, "runMs")) {
        println!("  {queued:>12}  waited, {running} working");
    }
    if !failed.first.is_empty() {
        println!("\n  The first rows that failed:");
    }
    for failure in &failed.first {
        println!("  {:>12}  {}  {}: {}", number(failure.row), failure.code, failure.field, failure.message);
    }
}

/// Formats a duration of the result in seconds.
fn seconds(output: &Output, name: &str) -> Option<String> {
    Some(format!("{:.1} s", output.timings.get(name)?.as_f64()? / 1000.0))
}

fn speed(job: &Job) -> String {
    job.items_per_second.map_or_else(String::new, |rate| format!(" at {} rows/s", number(rate as u64)))
}

/// Shortens a path in the current folder to a relative one.
pub(super) fn short(path: &Path) -> &Path {
    let relative = std::env::current_dir().ok().and_then(|folder| path.strip_prefix(folder).ok());
    relative.unwrap_or(path)
}

/// Formats 28298 as 28,298. Returns a `String`, because `HumanCount` ignores the width of a column.
fn number(number: u64) -> String {
    HumanCount(number).to_string()
}
