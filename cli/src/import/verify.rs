//! The verdict: three claims of the stack, each compared with independent findings.

use super::plan::{Expected, Plan};
use super::records;
use super::report::Failed;
use crate::api::{Api, Mode, Output};
use anyhow::{Result, bail, ensure};
use indicatif::HumanCount;
use std::collections::BTreeSet;

/// Maximum number of names shown of a list of differences.
const SHOWN: usize = 5;

/// The result of an import.
#[derive(Clone, Copy)]
pub(super) struct Outcome<'a> {
    pub(super) output: &'a Output,
    pub(super) failed: &'a Failed,
    /// True if the dataset was not empty before.
    pub(super) had_records: bool,
}

/// Fails with all differences.
pub(super) fn all(api: &Api, plan: &Plan, expected: &Expected, outcome: Outcome<'_>) -> Result<()> {
    let Outcome { output, failed, had_records } = outcome;
    let checks = [
        ("every row is counted, once", counts(plan, output, failed)),
        ("the report names the invalid rows, and no others", report(plan, expected, failed, had_records)),
        ("the records table holds the valid rows", table(api, plan, expected, had_records)),
    ];
    let mut wrong = 0;
    for (claim, outcome) in checks {
        match outcome {
            Ok(found) => println!("✓ {claim}: {found}"),
            Err(error) => {
                wrong += 1;
                println!("✗ {claim}: {error:#}");
            }
        }
    }
    if wrong > 0 {
        bail!("{wrong} of 3 checks failed");
    }
    Ok(())
}

fn counts(plan: &Plan, output: &Output, failed: &Failed) -> Result<String> {
    let counts = output.counts;
    let sum = counts.succeeded + counts.failed + counts.skipped + counts.unprocessed;
    let rows = plan.source.items;
    ensure!(sum == rows, "{counts:?} make {sum}, and the file has {rows} rows");
    ensure!(output.item_count == rows, "itemCount is {}, and the file has {rows} rows", output.item_count);
    ensure!(
        failed.rows.len() as u64 == counts.failed,
        "failed.csv has {} rows, and {} failed",
        failed.rows.len(),
        counts.failed
    );
    Ok(HumanCount(rows).to_string())
}

fn report(plan: &Plan, expected: &Expected, failed: &Failed, had_records: bool) -> Result<String> {
    let named: BTreeSet<u64> = failed.rows.iter().copied().collect();
    ensure!(named.len() == failed.rows.len(), "failed.csv names a row twice");
    let missed = difference(&expected.invalid, &named);
    ensure!(missed.is_empty(), "these rows are invalid and not named: {}", listed(&missed));
    let wronged = difference(&named, &expected.invalid);
    // Existing records make rows fail that are valid in themselves.
    let may_collide = plan.mode == Mode::Insert && had_records;
    ensure!(wronged.is_empty() || may_collide, "these rows are valid and named: {}", listed(&wronged));
    Ok(HumanCount(named.len() as u64).to_string())
}

fn table(api: &Api, plan: &Plan, expected: &Expected, had_records: bool) -> Result<String> {
    let held = records::keys(api, &plan.dataset)?;
    if plan.mode == Mode::Validate {
        ensure!(held.is_empty() || had_records, "a validation wrote {} records", held.len());
        return Ok("nothing was to be written".to_owned());
    }
    let missing = difference(&expected.keys, &held);
    ensure!(missing.is_empty(), "these are missing: {}", listed(&missing));
    let extra = difference(&held, &expected.keys);
    ensure!(extra.is_empty() || had_records, "these should not be there: {}", listed(&extra));
    Ok(format!("{} keys", HumanCount(expected.keys.len() as u64)))
}

fn difference<'a, T: Ord>(these: &'a BTreeSet<T>, those: &'a BTreeSet<T>) -> Vec<&'a T> {
    these.difference(those).collect()
}

fn listed<T: ToString>(all: &[T]) -> String {
    let first: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = all.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", first.join(", "))
}
