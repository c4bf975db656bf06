//! Three checks of an import: its counts, its report and its records.

use super::plan::{Expected, Plan};
use super::records;
use super::report::Failed;
use crate::api::{Api, Mode, Output};
use anyhow::{Result, bail, ensure};
use indicatif::HumanCount;
use std::collections::BTreeSet;

/// Maximum number of differences that an error lists.
const SHOWN: usize = 5;

/// The result of an import.
#[derive(Clone, Copy)]
pub(super) struct Outcome<'a> {
    pub(super) output: &'a Output,
    pub(super) failed: &'a Failed,
    /// True if the dataset had records before the import.
    pub(super) had_records: bool,
}

/// Runs all checks and prints their results.
pub(super) fn all(api: &Api, plan: &Plan, expected: &Expected, outcome: Outcome<'_>) -> Result<()> {
    let checks = [
        ("every row is counted exactly once", check_counts(plan, outcome)),
        ("the report lists exactly the invalid rows", check_report(plan, expected, outcome)),
        ("the records table contains the valid rows", check_records(api, plan, expected, outcome)),
    ];
    let mut failures = 0;
    for (claim, result) in checks {
        match result {
            Ok(detail) => println!("✓ {claim}: {detail}"),
            Err(error) => {
                failures += 1;
                println!("✗ {claim}: {error:#}");
            }
        }
    }
    if failures > 0 {
        bail!("{failures} of 3 checks failed");
    }
    Ok(())
}

fn check_counts(plan: &Plan, Outcome { output, failed, .. }: Outcome<'_>) -> Result<String> {
    let counts = output.counts;
    let sum = counts.succeeded + counts.failed + counts.skipped + counts.unprocessed;
    let rows = plan.source.items;
    ensure!(sum == rows, "{counts:?} add up to {sum}, but the file has {rows} rows");
    ensure!(output.item_count == rows, "itemCount is {}, but the file has {rows} rows", output.item_count);
    ensure!(
        failed.rows.len() as u64 == counts.failed,
        "failed.csv has {} rows, but counts.failed is {}",
        failed.rows.len(),
        counts.failed
    );
    Ok(HumanCount(rows).to_string())
}

fn check_report(plan: &Plan, expected: &Expected, outcome: Outcome<'_>) -> Result<String> {
    let rows = &outcome.failed.rows;
    let failed: BTreeSet<u64> = rows.iter().copied().collect();
    ensure!(failed.len() == rows.len(), "failed.csv contains a row twice");
    let missing = difference(&expected.invalid, &failed);
    ensure!(missing.is_empty(), "these rows are invalid, but not in the report: {}", list(&missing));
    let extra = difference(&failed, &expected.invalid);
    // With existing records, valid rows can fail too.
    let can_collide = plan.mode == Mode::Insert && outcome.had_records;
    ensure!(extra.is_empty() || can_collide, "these rows are valid, but in the report: {}", list(&extra));
    Ok(HumanCount(failed.len() as u64).to_string())
}

fn check_records(api: &Api, plan: &Plan, expected: &Expected, outcome: Outcome<'_>) -> Result<String> {
    let keys = records::keys(api, &plan.dataset)?;
    if plan.mode == Mode::Validate {
        ensure!(keys.is_empty() || outcome.had_records, "a validation wrote {} records", keys.len());
        return Ok("a validation writes nothing".to_owned());
    }
    let missing = difference(&expected.keys, &keys);
    ensure!(missing.is_empty(), "these keys are missing: {}", list(&missing));
    let extra = difference(&keys, &expected.keys);
    ensure!(extra.is_empty() || outcome.had_records, "these keys should not exist: {}", list(&extra));
    Ok(format!("{} keys", HumanCount(expected.keys.len() as u64)))
}

fn difference<'a, T: Ord>(left: &'a BTreeSet<T>, right: &'a BTreeSet<T>) -> Vec<&'a T> {
    left.difference(right).collect()
}

fn list<T: ToString>(items: &[T]) -> String {
    let first: Vec<String> = items.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = items.len().saturating_sub(SHOWN);
    let suffix = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{suffix}", first.join(", "))
}
