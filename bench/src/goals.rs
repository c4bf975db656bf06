//! The goals, each met or missed. A goal that could not be measured is missed.

use crate::cases::MEMORY_ROWS;
use crate::cold_start::{BASELINE, Median};
use crate::price;
use crate::results::Results;
use crate::run::Measured;
use longshore_cli::api::Mode;

/// A goal and its result.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) measured: String,
    pub(crate) is_met: bool,
}

const ROWS_PER_SECOND: f64 = 250_000.0;
const CALLS_PER_CHUNK: f64 = 4.0;
const DOLLARS_PER_MILLION: f64 = 0.002;
const PEAK_KIB: u64 = 64 * 1024;
const FIRST_PROGRESS_S: f64 = 1.0;
const COLD_START_RATIO: f64 = 3.0;
/// Maximum ratio of two measurements that count as equal.
const FLAT: f64 = 1.05;

/// Evaluates all goals. Those of a million rows are only included if they were measured.
pub(crate) fn judge(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    if let Some(million) = results.case(Mode::Validate, 1_000_000) {
        goals.extend(of_a_million(million, results));
    }
    goals.extend(results.case(Mode::Validate, MEMORY_ROWS).map(memory));
    goals.extend(results.case(Mode::Validate, 100_000).map(first_progress));
    goals.push(flat(results));
    goals.extend(cold_starts(&results.cold_starts));
    goals
}

fn of_a_million(case: &Measured, results: &Results) -> [Goal; 3] {
    let run = case.middle();
    let dollars = price::total(&price::run_price(run, &results.memory_mb)) / run.rows as f64 * 1e6;
    [
        Goal {
            what: "validate, 1 M rows: at least 250,000 rows/s",
            measured: format!("{:.0} rows/s", run.rows_per_second()),
            is_met: run.rows_per_second() >= ROWS_PER_SECOND,
        },
        Goal {
            what: "validate, 1 M rows: at most 4 calls per chunk by process-item",
            measured: format!("{:.2}, and the mapping's 1 receive and 1 delete", run.calls_per_chunk()),
            is_met: run.calls_per_chunk() <= CALLS_PER_CHUNK,
        },
        Goal {
            what: "validate, 1 M rows: at most $0.002",
            measured: format!("${dollars:.5}"),
            is_met: dollars <= DOLLARS_PER_MILLION,
        },
    ]
}

fn memory(case: &Measured) -> Goal {
    let peaks = case.peak_kib();
    let each: Vec<String> = peaks.iter().map(|(f, kib)| format!("{f} {:.1}", *kib as f64 / 1024.0)).collect();
    Goal {
        what: "1 GB: at most 64 MB resident in every function",
        measured: format!("{} MiB", each.join(", ")),
        is_met: !peaks.is_empty() && peaks.values().all(|kib| *kib > 0 && *kib <= PEAK_KIB),
    }
}

fn first_progress(case: &Measured) -> Goal {
    let run = case.middle_of(|run| run.first_progress_s);
    Goal {
        what: "validate, 100 k rows: first progress within 1 s of create",
        measured: format!("{:.2} s", run.first_progress_s),
        is_met: run.first_progress_s <= FIRST_PROGRESS_S,
    }
}

fn flat(results: &Results) -> Goal {
    let sizes = [10_000, 100_000, 1_000_000];
    let cases: Vec<_> = sizes.into_iter().filter_map(|rows| results.case(Mode::Validate, rows)).collect();
    let micros: Vec<f64> = cases.iter().map(|case| case.middle().seconds / case.case.rows as f64 * 1e6).collect();
    let shown: Vec<String> = micros.iter().map(|micros| format!("{micros:.1}")).collect();
    Goal {
        what: "validate: time per row flat or falling as rows grow",
        measured: format!("{} µs", shown.join(" → ")),
        is_met: micros.len() > 1 && micros.windows(2).all(|pair| matches!(pair, [a, b] if *b <= a * FLAT)),
    }
}

fn cold_starts(medians: &[Median]) -> Vec<Goal> {
    let baseline = medians.iter().find(|median| median.function == BASELINE).map_or(f64::NAN, |median| median.poll_ms);
    let others = medians.iter().filter(|median| median.function != BASELINE);
    let goal = |median: &Median| {
        let ratio = median.poll_ms / baseline;
        Goal {
            what: match median.function {
                "jobs-api" => "cold start of jobs-api: spawn to first poll at most 3 times an empty function's",
                _ => "cold start of process-item: spawn to first poll at most 3 times an empty function's",
            },
            measured: format!("{ratio:.2} ({:.1} ms to {baseline:.1} ms)", median.poll_ms),
            is_met: ratio <= COLD_START_RATIO,
        }
    };
    others.map(goal).collect()
}
