//! The metrics that the functions of a running stack write: each with the dimensions of its declaration, and with a
//! plausible value.
//!
//! Other stories use the stack at the same time. A sum is exact only if no other story has its job type or its code.

use anyhow::{Context, Result, ensure};
use longshore::metrics::{Metric, NAMESPACE, STACK};
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::samples::{OF_STACK, Samples, Series, Statistic};
use longshore_tests::harness::stack::Stack;
use serde_json::json;

use crate::handlers::{contacts_file, register_contacts};
use crate::shared::{Story, counts, dataset, impatient, lines, wait_until, work};

/// Maximum of a plausible time, in milliseconds: more than any story waits.
const MOST_MS: f64 = 600_000.0;

/// The expected value of a metric.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Expected {
    /// Exactly this sum.
    Sum(f64),
    /// At least this sum.
    AtLeast(f64),
    /// A time.
    Time,
}

/// A metric, the values of its dimensions in the order of their declaration, and its value.
pub(crate) type Row<'a> = (Metric, &'a [&'a str], Expected);

/// Waits until the functions have written each of these metrics since a time.
pub(crate) fn await_metrics(stack: &Stack, since: Timestamp, rows: &[Row<'_>]) -> Story {
    let unmet = || -> Result<Vec<String>> {
        let samples = samples(stack, since)?;
        Ok(rows.iter().filter_map(|row| described_unless_met(&samples, since, *row)).collect())
    };
    wait_until(|| Ok(unmet()?.is_empty())).with_context(|| format!("other values are expected: {:?}", unmet()))
}

/// Reads the logs of all functions as CloudWatch does.
fn samples(stack: &Stack, since: Timestamp) -> Result<Samples> {
    let mut samples = Samples::default();
    for (function, events) in stack.events_of_functions(since.0, Timestamp::now().0 + 1)? {
        samples.add_log(&function, None, &events)?;
    }
    Ok(samples)
}

/// Describes the row with the values that are found, unless they are the expected ones.
fn described_unless_met(samples: &Samples, since: Timestamp, row: Row<'_>) -> Option<String> {
    let (metric, values, expected) = row;
    let found = |statistic| samples.statistic(&series(metric, values), statistic, &(since.0..i64::MAX));
    let (sum, maximum) = (found(Statistic::Sum), found(Statistic::Maximum));
    let is_met = match expected {
        Expected::Sum(expected) => sum == Some(expected),
        Expected::AtLeast(least) => sum.is_some_and(|sum| sum >= least),
        Expected::Time => maximum.is_some_and(|ms| (0.0..=MOST_MS).contains(&ms)),
    };
    (!is_met).then(|| format!("{row:?}: the sum is {sum:?}, the maximum {maximum:?}"))
}

/// Returns the series of a metric with exactly the dimensions of its declaration.
fn series(metric: Metric, values: &[&str]) -> Series {
    let mut series = Series::new(NAMESPACE, metric.name(), Some((STACK, OF_STACK)));
    let dimensions = metric.dimensions().iter().zip(values);
    series.dimensions.extend(dimensions.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    series
}

#[test]
fn the_functions_write_the_metrics_of_an_import_and_of_a_type_with_a_handler() -> Story {
    /// A job type of this story alone.
    const TYPE: &str = "measured";
    let Some(stack) = impatient() else { return Ok(()) };
    let since = Timestamp::now();
    register_contacts(stack, TYPE)?;
    // No other story has a schema with this keyword.
    let schema = json!({ "properties": { "n": { "type": "integer", "multipleOf": 7 } } });
    let options = json!({ "dataset": dataset("measured"), "key": "id", "schema": schema });
    let (job, _) = work(stack, "import", &lines(["id,n", "1,7", "2,8", "3,14", "4,15", "5,16"]), &options)?;
    ensure!(counts(&job) == [2, 3, 0], "{job}");
    let (job, _) = work(stack, TYPE, &contacts_file(), &json!({}))?;
    ensure!(counts(&job) == [90, 30, 30], "{job}");
    let rows: &[Row<'_>] = &[
        (Metric::JobsEnded, &[TYPE, "completed"], Expected::Sum(1.0)),
        (Metric::JobsEnded, &[TYPE, "failed"], Expected::Sum(0.0)),
        (Metric::JobsEnded, &["import", "completed"], Expected::AtLeast(1.0)),
        (Metric::JobDuration, &[TYPE], Expected::Time),
        (Metric::ItemsFailedByCode, &["import", "schema_multiple_of"], Expected::Sum(3.0)),
        (Metric::ItemsFailedByCode, &[TYPE, "remote"], Expected::Sum(30.0)),
        (Metric::ChunkWait, &["normal"], Expected::Time),
        (Metric::ChunkWait, &["handler"], Expected::Time),
        // A call has at most 30 of the 150 rows.
        (Metric::HandlerCalls, &[TYPE, "answered"], Expected::AtLeast(5.0)),
        (Metric::HandlerDuration, &[TYPE], Expected::Time),
        (Metric::CompletionDuration, &[], Expected::Time),
    ];
    await_metrics(stack, since, rows)
}
