//! The outcome as shown to the user.

use super::report::Failed;
use crate::api::{Job, Output};
use crate::project::Project;

/// Prints the counts, the first failures, and the path of the report.
pub(super) fn outcome(project: &Project, job: &Job, output: &Output, failed: &Failed) {
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
    if let (Some(queued), Some(ran)) = (seconds(output, "queuedMs"), seconds(output, "runMs")) {
        println!("  {:>12}  waited, {ran} working", queued);
    }
    if !failed.first.is_empty() {
        println!("\n  The first rows that failed:");
    }
    for failure in &failed.first {
        println!("  {:>12}  {}  {}: {}", number(failure.row), failure.code, failure.field, failure.message);
    }
    if let Some(path) = &failed.path {
        println!("\n  All of them, with their columns: {}", project.short(path));
    }
    println!();
}

/// A duration of the result, in seconds.
fn seconds(output: &Output, name: &str) -> Option<String> {
    Some(format!("{:.1} s", output.timings.get(name)?.as_f64()? / 1000.0))
}

fn speed(job: &Job) -> String {
    job.items_per_second.map_or_else(String::new, |rate| format!(" at {} rows/s", number(rate as u64)))
}

/// Formats 28298 as 28,298.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats 3120 as 3.1 KB; from a million bytes on in MB.
pub(super) fn size(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{:.1} KB", bytes as f64 / 1e3) } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::{number, size};

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_small_size_is_not_rounded_to_nothing() {
        assert_eq!(
            [0, 3_120, 999_949, 1_000_000, 2_340_000].map(size),
            ["0.0 KB", "3.1 KB", "999.9 KB", "1.0 MB", "2.3 MB"]
        );
    }
}
