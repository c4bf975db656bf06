//! A large file whose job is canceled after its first chunk: the job ends as canceled within five minutes, and its
//! report lists every row that was not processed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

/// Size of a row with its line feed, in bytes.
const ROW_BYTES: usize = 256;

const MIB: usize = 1 << 20;

/// Maximum time from the cancel to the final status.
const LIMIT: Duration = Duration::from_secs(300);

/// Size of the file. The reduced file still leads to a report of two parts.
fn file_bytes() -> usize {
    if measurements::is_complete_run() { 256 * MIB } else { 16 * MIB }
}

/// A canceled job as its owner sees it.
struct Canceled {
    job: Value,
    /// The result document of the report.
    report: Value,
    /// Rows of `unprocessed.csv`.
    unprocessed: u64,
    report_bytes: u64,
    took: Duration,
}

#[test]
fn a_large_job_that_is_canceled_after_its_first_chunk_ends_with_its_report() {
    if std::env::var_os("LONGSHORE_ENDPOINT").is_some() {
        return measurements::skipped("it needs an emulator of its own");
    }
    let stack = Stack::start(&StackOptions { parameters: super::PARAMETERS.to_vec(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let rows = (file_bytes() / ROW_BYTES) as u64;
    let canceled = cancel(&stack, rows).unwrap_or_else(|error| panic!("{error:?}\n{}", stack.log_tail(40)));
    let (emulator_mib, function_mib) = stack.peak_memory_mib().unwrap_or_default();
    let violations = violations(&canceled, rows);
    measurements::row(
        "load-canceled",
        &[
            ("jobs", &1),
            ("bytes", &file_bytes()),
            ("rows", &rows),
            ("unprocessed", &canceled.unprocessed),
            ("bytes of the report", &canceled.report_bytes),
            ("seconds from cancel to end", &format!("{:.1}", canceled.took.as_secs_f64())),
            ("peak memory emulator MiB", &emulator_mib),
            ("largest function MiB", &function_mib),
            ("violations", &violations.len()),
        ],
    );
    assert!(violations.is_empty(), "{violations:?}: {} {}", canceled.job, canceled.report);
    assert!(function_mib > 0, "no memory of a function was measured");
}

/// Uploads a file of `rows` rows, cancels its job as soon as it shows progress, and reads the report.
fn cancel(stack: &Stack, rows: u64) -> Result<Canceled> {
    let file = ["id,note\n".to_owned()].into_iter().chain((1..=rows).map(|n| cells(n).join(",") + "\n"));
    let file: String = file.collect();
    let id =
        stack.client.start("import", "file.csv", file.as_bytes(), &json!({ "dataset": "canceled", "key": "id" }))?;
    drop(file);
    let mut watch = Watch::new(stack, &id).patient(LIMIT);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
    stack.client.cancel(&id)?.expect(202)?;
    let start = Instant::now();
    let job = watch.end()?;
    let took = start.elapsed();
    let report = stack.client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?;
    let (unprocessed, report_bytes) = read_unprocessed(&stack.client, &report)?;
    Ok(Canceled { job, report, unprocessed, report_bytes, took })
}

/// Returns the number of rows in `unprocessed.csv`, and its size in bytes. The rows must be unchanged rows of the
/// input, in ascending order.
fn read_unprocessed(client: &Client, report: &Value) -> Result<(u64, u64)> {
    let url = report["files"]["unprocessed"]["url"].as_str().context("the report has no unprocessed.csv")?;
    let answer = client.get(url)?;
    ensure!(answer.status == 200, "unprocessed.csv: {}", answer.status);
    let mut reader = csv::Reader::from_reader(answer.body.as_slice());
    let (mut row, mut last, mut rows) = (csv::StringRecord::new(), 0, 0);
    while reader.read_record(&mut row)? {
        let number: u64 = row[0].parse().with_context(|| format!("the row has no number: {row:?}"))?;
        ensure!(number > last, "row {number} follows row {last}");
        ensure!(row.iter().skip(1).eq(cells(number)), "row {number} has changed: {row:?}");
        (last, rows) = (number, rows + 1);
    }
    Ok((rows, answer.body.len() as u64))
}

/// The cells of a row: its number, and text that fills the row to the common length.
fn cells(number: u64) -> [String; 2] {
    let id = number.to_string();
    let note = "n".repeat(ROW_BYTES - id.len() - 2);
    [id, note]
}

/// Violations in the job's end and in the counts of its report.
fn violations(canceled: &Canceled, rows: u64) -> Vec<String> {
    let Canceled { job, report, unprocessed, .. } = canceled;
    let mut violations = Vec::new();
    if job["status"] != "canceled" || job["error"]["code"] != "canceled" {
        violations.push(format!("the job ended as {} {}", job["status"], job["error"]));
    }
    let counts = json!({ "succeeded": rows - unprocessed, "failed": 0, "skipped": 0, "unprocessed": unprocessed });
    if report["counts"] != counts || report["itemCount"] != rows {
        violations.push(format!("the report counts {} of {}, not {counts}", report["counts"], report["itemCount"]));
    }
    let succeeded = &job["counts"]["succeeded"];
    if rows == *unprocessed || *succeeded != rows - unprocessed {
        violations.push(format!("{succeeded} rows succeeded, and {unprocessed} of {rows} are unprocessed"));
    }
    violations
}
