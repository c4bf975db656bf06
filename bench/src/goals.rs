//! The goals, and whether they are met. A goal that could not be measured is not met.

use crate::cases::MEMORY_ROWS;
use crate::cold_start::{BASELINE, ColdStart};
use crate::price;
use crate::results::Results;
use crate::run::CaseResult;
use longshore_cli::api::Mode;

/// A goal and its result.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) measured: String,
    pub(crate) is_met: bool,
}

const ROWS_PER_SECOND: f64 = 250_000.0;
const CALLS_PER_CHUNK: f64 = 4.0;
const DOLLARS_PER_MILLION: f64 = 0.002;
const MAX_PEAK_KIB: u64 = 64 * 1024;
const FIRST_PROGRESS_S: f64 = 1.0;
const COLD_START_RATIO: f64 = 3.0;
/// Maximum ratio of two measurements that count as equal.
const EQUAL_RATIO: f64 = 1.05;

/// Evaluates all goals. Those of a million rows are included only if they were measured.
pub(crate) fn evaluate(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    if let Some(million) = results.case(Mode::Validate, 1_000_000) {
        goals.extend(million_rows(million, results));
    }
    goals.extend(results.case(Mode::Validate, MEMORY_ROWS).map(memory));
    goals.extend(results.case(Mode::Validate, 100_000).map(first_progress));
    goals.push(time_per_row(results));
    goals.extend(cold_starts(&results.cold_starts));
    goals
}

fn million_rows(case: &CaseResult, results: &Results) -> [Goal; 3] {
    let run = case.median();
    let dollars = price::total(&price::run_price(run, &results.memory_mb)) / run.rows as f64 * 1e6;
    [
        Goal {
            name: "validate, 1 M rows: at least 250,000 rows/s",
            measured: format!("{:.0} rows/s", run.rows_per_second()),
            is_met: run.rows_per_second() >= ROWS_PER_SECOND,
        },
        Goal {
            name: "validate, 1 M rows: at most 4 calls per chunk by process-item",
            measured: format!("{:.2}, plus 1 receive and 1 delete by the mapping", run.calls_per_chunk()),
            is_met: run.calls_per_chunk() <= CALLS_PER_CHUNK,
        },
        Goal {
            name: "validate, 1 M rows: at most $0.002",
            measured: format!("${dollars:.5}"),
            is_met: dollars <= DOLLARS_PER_MILLION,
        },
    ]
}

fn memory(case: &CaseResult) -> Goal {
    let peaks = case.peak_kib();
    let list: Vec<String> =
        peaks.iter().map(|(function, kib)| format!("{function} {:.1}", *kib as f64 / 1024.0)).collect();
    Goal {
        name: "1 GB: at most 64 MB of resident memory in every function",
        measured: format!("{} MiB", list.join(", ")),
        is_met: !peaks.is_empty() && peaks.values().all(|kib| *kib > 0 && *kib <= MAX_PEAK_KIB),
    }
}

fn first_progress(case: &CaseResult) -> Goal {
    let run = case.median_by(|run| run.first_progress_s);
    Goal {
        name: "validate, 100 k rows: first progress within 1 s after the create call",
        measured: format!("{:.2} s", run.first_progress_s),
        is_met: run.first_progress_s <= FIRST_PROGRESS_S,
    }
}

fn time_per_row(results: &Results) -> Goal {
    let sizes = [10_000, 100_000, 1_000_000];
    let cases: Vec<_> = sizes.into_iter().filter_map(|rows| results.case(Mode::Validate, rows)).collect();
    let micros: Vec<f64> = cases.iter().map(|case| case.median().seconds / case.case.rows as f64 * 1e6).collect();
    let list: Vec<String> = micros.iter().map(|micros| format!("{micros:.1}")).collect();
    Goal {
        name: "validate: the time per row does not increase with the number of rows",
        measured: format!("{} µs", list.join(" → ")),
        is_met: micros.len() > 1 && micros.windows(2).all(|pair| matches!(pair, [a, b] if *b <= a * EQUAL_RATIO)),
    }
}

fn cold_starts(cold_starts: &[ColdStart]) -> Vec<Goal> {
    let baseline = cold_starts.iter().find(|cold_start| cold_start.function == BASELINE);
    let baseline = baseline.map_or(f64::NAN, |cold_start| cold_start.poll_ms);
    let functions = cold_starts.iter().filter(|cold_start| cold_start.function != BASELINE);
    let goal = |cold_start: &ColdStart| {
        let ratio = cold_start.poll_ms / baseline;
        Goal {
            name: match cold_start.function {
                "jobs-api" => "cold start of jobs-api: spawn to first poll at most 3 times that of an empty function",
                _ => "cold start of process-item: spawn to first poll at most 3 times that of an empty function",
            },
            measured: format!("{ratio:.2} ({:.1} ms to {baseline:.1} ms)", cold_start.poll_ms),
            is_met: ratio <= COLD_START_RATIO,
        }
    };
    functions.map(goal).collect()
}
