//! The results as a Markdown document that is also readable in a terminal, with the goals and whether they are met.
//!
//! A goal that could not be measured is not met.

use crate::cases::MEMORY_ROWS;
use crate::cold_start::{BASELINE, ColdStart, RUNS};
use crate::markdown::table;
use crate::results::{BesideResults, Results};
use crate::run::{CaseResult, Run};
use crate::statistics::percentile;
use crate::{price, usage};
use longshore_cli::api::Mode;
use std::fmt::Write;

const ROWS_PER_SECOND: f64 = 250_000.0;
const CALLS_PER_CHUNK: f64 = 4.0;
const DOLLARS_PER_MILLION: f64 = 0.002;
pub(crate) const MAX_PEAK_KIB: u64 = 64 * 1024;
const FIRST_PROGRESS_S: f64 = 1.0;
const COLD_START_RATIO: f64 = 3.0;
/// Maximum deviation of the stated cost from the counted one, as a ratio.
const COST_DEVIATION: f64 = 0.1;
/// Maximum ratio of two measurements that count as equal.
const EQUAL_RATIO: f64 = 1.05;

/// A goal and its result.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) measured: String,
    pub(crate) is_met: bool,
}

/// Returns the document of the benchmark.
pub(crate) fn write(results: &Results) -> String {
    let mut text = title("cargo xtask bench", &results.machine);
    let goals = evaluate(results);
    table(&mut text, "Goals", &["", "goal", "measured"], goals.iter().map(goal).collect());
    let headings = [
        "job",
        "runs",
        "seconds (median; all)",
        "rows/s",
        "first progress, s",
        "chunks",
        "calls/chunk",
        "$ per 1 M rows",
        "load average before",
    ];
    table(&mut text, "Jobs", &headings, results.cases.iter().map(|case| job(results, case)).collect());
    table(
        &mut text,
        "Peak resident memory, MiB",
        &["job", "function: peak"],
        results.cases.iter().map(memory).collect(),
    );
    calls(&mut text, results);
    prices(&mut text, results);
    cold_starts(&mut text, results);
    let sizes = results.sizes.iter();
    let sizes = sizes.map(|size| vec![size.function.clone(), mib(size.bootstrap), mib(size.zipped)]).collect();
    table(&mut text, "Packages, MiB", &["function", "bootstrap", "zipped"], sizes);
    text
}

/// Returns the document of measurements over in-memory services, from their tables.
pub(crate) fn write_in_memory(command: &str, machine: &[(&'static str, String)], measured: &str) -> String {
    title(command, machine) + measured
}

/// Returns the title, and the table of the machine.
pub(crate) fn title(command: &str, machine: &[(&'static str, String)]) -> String {
    let mut text =
        format!("# Results of `{command}`\n\n[README.md](README.md) describes the method and how to run it.\n\n");
    let machine = machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]);
    table(&mut text, "", &["", ""], machine.collect());
    text
}

/// Returns the document of a small job beside a large one.
pub(crate) fn write_beside(results: &BesideResults) -> String {
    let mut text = title("cargo xtask bench --beside", &results.machine);
    let beside = &results.beside;
    let row = |name: &str, seconds: &[f64]| {
        let values = [0.5, 0.95, 1.0].map(|share| format!("{:.2}", percentile(seconds, share)));
        std::iter::once(name.to_owned()).chain([seconds.len().to_string()]).chain(values).collect::<Vec<_>>()
    };
    let ratio = |share| format!("{:.2}", percentile(&beside.beside, share) / percentile(&beside.alone, share));
    let ratios = ["beside / alone".to_owned(), String::new(), ratio(0.5), ratio(0.95), ratio(1.0)].to_vec();
    let rows = vec![row("alone", &beside.alone), row("beside 1 M rows, low", &beside.beside), ratios];
    table(&mut text, "A job of 50 rows, high, in seconds", &["", "runs", "p50", "p95", "longest"], rows);
    let (start, end) = (beside.large_rows_at_start, beside.large_rows_at_end);
    let _ = writeln!(text, "In this time, the large job progressed from {start} to {end} rows.\n");
    let rows = results.reads.iter().map(|read| {
        let calls: Vec<_> =
            read.calls.iter().map(|(call, n)| format!("{call} {:.1}", *n as f64 / read.reads as f64)).collect();
        vec![read.name.to_owned(), calls.join(", "), format!("{:.1}", read.units)]
    });
    table(&mut text, "Cost of a read", &["", "AWS calls", "read units"], rows.collect());
    text
}

/// Returns the row of a goal.
pub(crate) fn goal(goal: &Goal) -> Vec<String> {
    let result = if goal.is_met { "met" } else { "NOT MET" };
    vec![result.to_owned(), goal.name.to_owned(), goal.measured.clone()]
}

fn job(results: &Results, case: &CaseResult) -> Vec<String> {
    let run = case.median();
    let seconds: Vec<String> = case.runs.iter().map(|run| format!("{:.2}", run.seconds)).collect();
    vec![
        case.case.name(),
        case.runs.len().to_string(),
        format!("{:.2} ({})", run.seconds, seconds.join(" ")),
        format!("{:.0}", run.rows_per_second()),
        format!("{:.2}", case.median_by(|run| run.first_progress_s).first_progress_s),
        run.chunks().to_string(),
        format!("{:.2} + 2", run.calls_per_chunk()),
        format!("{:.5}", per_million(results, run)),
        case.load.map_or_else(String::new, |load| format!("{load:.1}")),
    ]
}

fn per_million(results: &Results, run: &Run) -> f64 {
    price::total(&price::run_price(run, &results.memory_mb)) / run.rows as f64 * 1e6
}

fn memory(case: &CaseResult) -> Vec<String> {
    vec![case.case.name(), peak_memory(case)]
}

/// Returns the peak of each function in MiB.
fn peak_memory(case: &CaseResult) -> String {
    let peaks = case.peak_kib();
    let list: Vec<String> =
        peaks.iter().map(|(function, kib)| format!("{function} {:.1}", *kib as f64 / 1024.0)).collect();
    list.join(", ")
}

fn calls(text: &mut String, results: &Results) {
    let mut rows = Vec::new();
    for case in &results.cases {
        for (function, usage) in &case.median().functions {
            let calls: Vec<String> = usage.calls.iter().map(|(call, n)| format!("{call} {n}")).collect();
            let seconds = format!("{:.2}", usage.duration_ms / 1000.0);
            rows.push(vec![
                case.case.name(),
                function.clone(),
                usage.invocations.to_string(),
                seconds,
                calls.join(", "),
            ]);
        }
    }
    let title = "Invocations and AWS calls of the median run";
    table(text, title, &["job", "function", "invocations", "total seconds", "calls"], rows);
    text.push_str("In addition, the mappings call receive and delete once for each message of the three queues.\n\n");
}

fn prices(text: &mut String, results: &Results) {
    let mut rows = Vec::new();
    for case in &results.cases {
        let run = case.median();
        let parts = price::run_price(run, &results.memory_mb);
        let list: Vec<String> = parts.iter().map(|(service, dollars)| format!("{service} {dollars:.6}")).collect();
        let stated = price::stated_ratio(run, &results.memory_mb).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        rows.push(vec![case.case.name(), format!("{:.6}", price::total(&parts)), stated, list.join(", ")]);
        let unpriced: Vec<&str> =
            run.functions.values().flat_map(|usage: &usage::Usage| price::unpriced(&usage.calls)).collect();
        if !unpriced.is_empty() {
            rows.push(vec![case.case.name(), "not included".to_owned(), String::new(), unpriced.join(", ")]);
        }
    }
    table(text, "Price of the job, $", &["job", "total", "stated / counted", "by service"], rows);
    text.push_str(
        "Stated is the `cost` of the job's document; counted are the calls and the time of the functions that it includes.\n\n",
    );
}

fn cold_starts(text: &mut String, results: &Results) {
    let baseline = results.cold_starts.iter().find(|cold_start| cold_start.function == BASELINE);
    let (poll_ms, response_ms) =
        baseline.map_or((f64::NAN, f64::NAN), |cold_start| (cold_start.poll_ms, cold_start.response_ms));
    let rows = results.cold_starts.iter().map(|cold_start| {
        vec![
            cold_start.function.to_owned(),
            format!("{:.1}", cold_start.poll_ms),
            format!("{:.2}", cold_start.poll_ms / poll_ms),
            format!("{:.1}", cold_start.response_ms),
            format!("{:.2}", cold_start.response_ms / response_ms),
        ]
    });
    let title = format!("Cold start, ms (medians of {RUNS})");
    let headings = ["function", "spawn to first poll", "ratio", "spawn to first response", "ratio"];
    table(text, &title, &headings, rows.collect());
    text.push_str(
        "The time to the first poll includes the preparation of TLS, as on AWS. The first response of the two functions includes a\ncall to DynamoDB on the emulator, without TLS. The empty function calls no service.\n\n",
    );
}

fn mib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / f64::from(1 << 20))
}

/// Evaluates all goals. Those of a million rows are included only if they were measured.
fn evaluate(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    if let Some(million) = results.case(Mode::Validate, 1_000_000) {
        goals.extend(million_rows(million, results));
    }
    goals.extend(results.case(Mode::Validate, MEMORY_ROWS).map(memory_goal));
    goals.extend(results.case(Mode::Validate, 100_000).map(first_progress));
    goals.push(time_per_row(results));
    goals.push(stated_cost(results));
    goals.extend(cold_start_goals(&results.cold_starts));
    goals
}

fn million_rows(case: &CaseResult, results: &Results) -> [Goal; 3] {
    let run = case.median();
    let dollars = per_million(results, run);
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

fn memory_goal(case: &CaseResult) -> Goal {
    let peaks = case.peak_kib();
    Goal {
        name: "1 GB: at most 64 MB of resident memory in every function",
        measured: format!("{} MiB", peak_memory(case)),
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

fn stated_cost(results: &Results) -> Goal {
    let ratio = |case: &CaseResult| price::stated_ratio(case.median(), &results.memory_mb);
    let ratios: Vec<f64> = results.cases.iter().filter_map(ratio).collect();
    let list: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let is_close = |ratio: &f64| (ratio - 1.0).abs() <= COST_DEVIATION;
    Goal {
        name: "every job: its `cost` is within 10 % of the counted calls",
        measured: list.join(", "),
        is_met: ratios.len() == results.cases.len() && ratios.iter().all(is_close),
    }
}

fn cold_start_goals(cold_starts: &[ColdStart]) -> Vec<Goal> {
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
