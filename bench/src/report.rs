//! The results as a Markdown document that is also readable in a terminal.

use crate::cold_start::{BASELINE, RUNS};
use crate::goals::{Goal, judge};
use crate::markdown::table;
use crate::results::{BesideResults, Results};
use crate::run::{Measured, Run};
use crate::statistics::percentile;
use crate::{price, usage};
use std::fmt::Write;

/// Writes the whole document.
pub(crate) fn write(results: &Results) -> String {
    let mut text = String::from(
        "# Results of `cargo xtask bench`\n\nHow they were made, and how to make them again: [README.md](README.md).\n\n",
    );
    let machine = results.machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]);
    table(&mut text, "", &["", ""], machine.collect());
    let goals = judge(results);
    table(&mut text, "Goals", &["", "goal", "measured"], goals.iter().map(goal).collect());
    let headings = [
        "job",
        "runs",
        "seconds (middle; all)",
        "rows/s",
        "first progress, s",
        "chunks",
        "calls/chunk",
        "$ per 1 M rows",
        "load before",
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
    let sizes = sizes.map(|s| vec![s.function.clone(), mib(s.bootstrap), mib(s.zipped)]).collect();
    table(&mut text, "Packages, MiB", &["function", "bootstrap", "zipped"], sizes);
    text
}

/// Writes the document of a small job beside a large one.
pub(crate) fn write_beside(results: &BesideResults) -> String {
    let mut text = String::from(
        "# Results of `cargo xtask bench --beside`\n\nHow they were made, and how to make them again: [README.md](README.md).\n\n",
    );
    let machine = results.machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]);
    table(&mut text, "", &["", ""], machine.collect());
    let beside = &results.beside;
    let row = |what: &str, seconds: &[f64]| {
        let values = [0.5, 0.95, 1.0].map(|share| format!("{:.2}", percentile(seconds, share)));
        std::iter::once(what.to_owned()).chain([seconds.len().to_string()]).chain(values).collect::<Vec<_>>()
    };
    let ratio = |share| format!("{:.2}", percentile(&beside.beside, share) / percentile(&beside.alone, share));
    let ratios = ["beside / alone".to_owned(), String::new(), ratio(0.5), ratio(0.95), ratio(1.0)].to_vec();
    let rows = vec![row("alone", &beside.alone), row("beside 1 M rows, low", &beside.beside), ratios];
    table(&mut text, "A job of 50 rows, high, in seconds", &["", "runs", "p50", "p95", "longest"], rows);
    let (from, to) = beside.large_rows;
    let _ = writeln!(text, "Meanwhile the large job went from {from} to {to} rows.\n");
    let rows = results.reads.iter().map(|read| {
        let calls: Vec<_> =
            read.calls.iter().map(|(call, n)| format!("{call} {:.1}", *n as f64 / read.reads as f64)).collect();
        vec![read.what.to_owned(), calls.join(", "), format!("{:.1}", read.units)]
    });
    table(&mut text, "What a look costs", &["", "AWS calls", "read units"], rows.collect());
    text
}

fn goal(goal: &Goal) -> Vec<String> {
    let verdict = if goal.is_met { "met" } else { "NOT MET" };
    vec![verdict.to_owned(), goal.what.to_owned(), goal.measured.clone()]
}

fn job(results: &Results, case: &Measured) -> Vec<String> {
    let run = case.middle();
    let all: Vec<String> = case.runs.iter().map(|run| format!("{:.2}", run.seconds)).collect();
    vec![
        case.case.name(),
        case.runs.len().to_string(),
        format!("{:.2} ({})", run.seconds, all.join(" ")),
        format!("{:.0}", run.rows_per_second()),
        format!("{:.2}", case.middle_of(|run| run.first_progress_s).first_progress_s),
        run.chunks().to_string(),
        format!("{:.2} + 2", run.calls_per_chunk()),
        format!("{:.5}", per_million(results, run)),
        case.load.map_or_else(String::new, |load| format!("{load:.1}")),
    ]
}

fn per_million(results: &Results, run: &Run) -> f64 {
    price::total(&price::run_price(run, &results.memory_mb)) / run.rows as f64 * 1e6
}

fn memory(case: &Measured) -> Vec<String> {
    let peaks = case.peak_kib();
    let each: Vec<String> = peaks.iter().map(|(f, kib)| format!("{f} {:.1}", *kib as f64 / 1024.0)).collect();
    vec![case.case.name(), each.join(", ")]
}

fn calls(text: &mut String, results: &Results) {
    let mut rows = Vec::new();
    for case in &results.cases {
        for (function, usage) in &case.middle().functions {
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
    let title = "Invocations and AWS calls of the middle run";
    table(text, title, &["job", "function", "invocations", "seconds in all", "calls"], rows);
    text.push_str(
        "The mappings' calls come on top: one receive and one delete for each message of the three queues.\n\n",
    );
}

fn prices(text: &mut String, results: &Results) {
    let mut rows = Vec::new();
    for case in &results.cases {
        let run = case.middle();
        let parts = price::run_price(run, &results.memory_mb);
        let each: Vec<String> = parts.iter().map(|(what, dollars)| format!("{what} {dollars:.6}")).collect();
        rows.push(vec![case.case.name(), format!("{:.6}", price::total(&parts)), each.join(", ")]);
        let unpriced: Vec<&str> =
            run.functions.values().flat_map(|u: &usage::Usage| price::unknown(&u.calls)).collect();
        if !unpriced.is_empty() {
            rows.push(vec![case.case.name(), "without".to_owned(), unpriced.join(", ")]);
        }
    }
    table(text, "Price of the job, $", &["job", "in all", "of which"], rows);
}

fn cold_starts(text: &mut String, results: &Results) {
    let baseline = results.cold_starts.iter().find(|median| median.function == BASELINE);
    let (poll, answer) = baseline.map_or((f64::NAN, f64::NAN), |median| (median.poll_ms, median.answer_ms));
    let rows = results.cold_starts.iter().map(|median| {
        vec![
            median.function.to_owned(),
            format!("{:.1}", median.poll_ms),
            format!("{:.2}", median.poll_ms / poll),
            format!("{:.1}", median.answer_ms),
            format!("{:.2}", median.answer_ms / answer),
        ]
    });
    let title = format!("Cold start, ms (medians of {RUNS})");
    let headings = ["function", "spawn to first poll", "ratio", "spawn to first answer", "ratio"];
    table(text, &title, &headings, rows.collect());
    text.push_str(
        "The first poll is ready for TLS, as on AWS. The first answer of the two functions needed DynamoDB, on the emulator and\nwithout TLS; the empty one's needed nothing.\n\n",
    );
}

fn mib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / f64::from(1 << 20))
}
