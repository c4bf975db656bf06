//! The tables of remote handlers, and their goals.

use bench::handler_price::HandlerJob;
use bench::markdown;

use super::measure::{ITEMS, Pair, RUNS, Runs, Setting};
use super::server::Handler;
use super::target::Kind;
use crate::goal::Goal;
use crate::statistics::median;

/// Maximum overhead of a Lambda function's item, in microseconds.
const OVERHEAD_US: f64 = 20.0;

/// Minimum speed of an HTTPS endpoint's job in proportion to bare calls.
const RATIO: f64 = 0.5;

/// The medians of a setting.
#[derive(Copy, Clone, Debug)]
struct Medians {
    job_s: f64,
    /// Time of the job's calls, per worker.
    in_calls_s: f64,
    bare_s: f64,
    /// Difference of a job and the bare calls beside it, in microseconds per item.
    overhead_us: f64,
    /// Speed of a job in proportion to the bare calls beside it.
    ratio: f64,
}

impl Medians {
    fn new(setting: &Setting, runs: &Runs) -> Self {
        let of = |value: fn(&Pair) -> f64| median(runs.pairs.iter().map(value));
        Self {
            job_s: of(|pair| pair.job.total_s()),
            in_calls_s: of(|pair| pair.in_calls_s) / setting.workers as f64,
            bare_s: of(|pair| pair.bare_s),
            overhead_us: of(|pair| micros(pair.job.total_s() - pair.bare_s)),
            ratio: of(|pair| pair.bare_s / pair.job.total_s()),
        }
    }
}

/// Returns microseconds per item.
fn micros(seconds: f64) -> f64 {
    seconds / ITEMS as f64 * 1e6
}

/// Returns the tables.
pub(crate) fn tables(measured: &[(Setting, Runs)]) -> String {
    let mut text = String::new();
    let headings = [
        "handler",
        "workers",
        "calls",
        "bytes a call",
        "job, µs per item",
        "of it in calls",
        "bare calls",
        "overhead",
        "job, items/s",
        "bare calls, items/s",
        "job / bare calls",
    ];
    let title = format!("Handlers without work of their own, {ITEMS} items (medians of {RUNS})");
    markdown::table(&mut text, &title, &headings, measured.iter().map(row).collect());
    text
}

fn row((setting, runs): &(Setting, Runs)) -> Vec<String> {
    let (Medians { job_s, in_calls_s, bare_s, overhead_us, ratio }, items) =
        (Medians::new(setting, runs), ITEMS as f64);
    let times = [micros(job_s), micros(in_calls_s), micros(bare_s), overhead_us].map(|micros| format!("{micros:.2}"));
    let speeds = [items / job_s, items / bare_s].map(|speed| format!("{speed:.0}"));
    let bytes = runs.bytes / runs.calls.max(1);
    let first = [setting.name.to_owned(), setting.workers.to_string(), runs.calls.to_string(), bytes.to_string()];
    first.into_iter().chain(times).chain(speeds).chain([format!("{ratio:.2}")]).collect()
}

/// Returns the goals.
pub(crate) fn goals(measured: &[(Setting, Runs)]) -> [Goal; 2] {
    let with_one_worker = |kind, handler| {
        let is_it =
            |(setting, _): &&(Setting, Runs)| (setting.kind, setting.handler, setting.workers) == (kind, handler, 1);
        measured.iter().find(is_it).map(|(setting, runs)| Medians::new(setting, runs))
    };
    let overhead = with_one_worker(Kind::Function, Handler::Unread).map_or(f64::NAN, |medians| medians.overhead_us);
    let ratio = with_one_worker(Kind::Endpoint, Handler::EachItem).map_or(f64::NAN, |medians| medians.ratio);
    [
        Goal {
            name: "Lambda handler, 100 items a call: overhead below 20 µs per item",
            measured: format!("{overhead:.2} µs"),
            is_met: overhead < OVERHEAD_US,
        },
        Goal {
            name: "HTTPS handler that parses its items, one worker: at least 50 % of the items/s of a plain load generator",
            measured: format!("{:.0} %", ratio * 100.0),
            is_met: ratio >= RATIO,
        },
    ]
}

/// Returns the job of the Lambda function that is priced.
pub(crate) fn priced(measured: &[(Setting, Runs)]) -> Option<HandlerJob> {
    let (_, runs) = measured.iter().find(|(setting, _)| setting.kind == Kind::Function)?;
    Some(HandlerJob { items: ITEMS, chunks: runs.pairs.first()?.job.chunks, calls: runs.calls })
}
