//! The document of the exports.

use crate::export::ExportResults;
use crate::markdown::table;
use crate::price;
use crate::report::{Goal, MAX_PEAK_KIB, goal, title};
use crate::run::Run;
use crate::statistics::median;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Speed of the script that an export reaches at least.
const RATIO: f64 = 0.4;
const DOLLARS_PER_MILLION: f64 = 0.03;

/// Returns the document of the exports.
pub(crate) fn write(results: &ExportResults) -> String {
    let mut text = title("cargo xtask bench --export", &results.machine);
    table(&mut text, "Goals", &["", "goal", "measured"], goals(results).iter().map(goal).collect());
    times(&mut text, results);
    calls(&mut text, results.median());
    reads(&mut text, results);
    prices(&mut text, results);
    text
}

fn goals(results: &ExportResults) -> [Goal; 3] {
    let (ratio, peaks) = (results.ratio(), peak_kib(&results.runs));
    let [dollars, time] = per_million(results);
    let list: Vec<String> =
        peaks.iter().map(|(function, kib)| format!("{function} {:.1}", *kib as f64 / 1024.0)).collect();
    [
        Goal {
            name: "export: at least 0.4 times the speed of the script",
            measured: format!("{ratio:.2}"),
            is_met: ratio >= RATIO,
        },
        Goal {
            name: "export: at most $0.03 per million records, for the bytes read and all other calls",
            measured: format!("${dollars:.4}, without ${time:.4} of GB-seconds that mostly wait for the emulator"),
            is_met: dollars <= DOLLARS_PER_MILLION,
        },
        Goal {
            name: "export: at most 64 MB of resident memory in every function",
            measured: format!("{} MiB", list.join(", ")),
            is_met: !peaks.is_empty() && peaks.values().all(|kib| *kib > 0 && *kib <= MAX_PEAK_KIB),
        },
    ]
}

/// Returns the price of a million records without the GB-seconds, and that of the GB-seconds.
fn per_million(results: &ExportResults) -> [f64; 2] {
    let price = results.price();
    let time = price.get(price::GB_SECONDS).copied().unwrap_or_default();
    [price::total(&price) - time, time].map(|dollars| dollars / results.median().rows as f64 * 1e6)
}

/// Returns the peak memory of all runs, by function.
fn peak_kib(runs: &[Run]) -> BTreeMap<&str, u64> {
    let mut peaks = BTreeMap::new();
    for (function, usage) in runs.iter().flat_map(|run| &run.functions) {
        let peak = peaks.entry(function.as_str()).or_default();
        *peak = usage.max_rss_kib.max(*peak);
    }
    peaks
}

fn times(text: &mut String, results: &ExportResults) {
    let rows = results.median().rows;
    let row = |name: &str, seconds: &[f64]| {
        let all: Vec<String> = seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
        let median = median(seconds);
        let speed = format!("{:.0}", rows as f64 / median);
        vec![name.to_owned(), format!("{median:.2} ({})", all.join(" ")), speed]
    };
    let exports: Vec<f64> = results.runs.iter().map(|run| run.seconds).collect();
    let rows_of = vec![
        row("export to JSON Lines, until its end", &exports),
        row("script with one process", &results.script_s),
        row("download of the export, not included above", &results.download_s),
    ];
    table(text, &format!("{rows} records of 100 bytes"), &["", "seconds (median; all)", "records/s"], rows_of);
    let load = results.load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.1}"));
    let first = results.median().first_progress_s;
    let _ = writeln!(
        text,
        "Both files had the same records in each run. First progress of the export after {first:.2} s. Load average before:\n{load}.\n"
    );
}

fn calls(text: &mut String, run: &Run) {
    let rows = run.functions.iter().map(|(function, usage)| {
        let calls: Vec<String> = usage.calls.iter().map(|(call, n)| format!("{call} {n}")).collect();
        let seconds = format!("{:.2}", usage.duration_ms / 1000.0);
        vec![function.clone(), usage.invocations.to_string(), seconds, calls.join(", ")]
    });
    let headings = ["function", "invocations", "total seconds", "calls"];
    table(text, "Invocations and AWS calls of the median export", &headings, rows.collect());
}

fn reads(text: &mut String, results: &ExportResults) {
    let per_million = 1e6 / results.median().rows as f64;
    let (bytes, units) = (results.bytes_read(), results.read_units());
    let rows = ["walk over the keys", "records"].iter().zip(bytes.iter().zip(units)).map(|(name, (bytes, units))| {
        vec![
            (*name).to_owned(),
            format!("{:.1}", bytes / 1e6),
            format!("{units:.0}"),
            format!("{:.0}", units * per_million),
            format!("{:.4}", units * per_million * price::dollars(|prices| prices.read_unit)),
        ]
    });
    let headings = ["", "MB read, at most", "read units, at most", "units per 1 M records", "$ per 1 M records"];
    table(text, "Reads of the table", &headings, rows.collect());
    let _ = writeln!(text, "A record takes {:.0} bytes in the table.\n", results.item_bytes);
}

fn prices(text: &mut String, results: &ExportResults) {
    let per_million = 1e6 / results.median().rows as f64;
    let price = results.price();
    let services = price.iter().map(|(service, dollars)| ((*service).to_owned(), *dollars));
    let rows = services.chain([("total".to_owned(), price::total(&price))]);
    let rows = rows.map(|(name, dollars)| vec![name, format!("{:.5}", dollars * per_million)]).collect();
    table(text, "Price of a million records, $", &["service", "price"], rows);
    let unpriced: Vec<&str> =
        results.median().functions.values().flat_map(|usage| price::unpriced(&usage.calls)).collect();
    if !unpriced.is_empty() {
        let _ = writeln!(text, "Not included: {}.\n", unpriced.join(", "));
    }
}
