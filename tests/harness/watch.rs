//! Observation of a job: frequent polling with a check of every response, then the result as its owner reads it, and
//! its comparison with the input file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::client::Client;
use super::stack::Stack;

/// Interval between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval between two runs of the sweeper, if a test requests them. The sweeper's own schedule is a minute.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time for any step: more than two visibility timeouts on a busy machine.
const PATIENCE: Duration = Duration::from_secs(150);

/// One job under observation.
pub struct Watch<'a> {
    stack: &'a Stack,
    client: Client,
    id: String,
    sweeps: bool,
    patience: Duration,
    last: Value,
    /// Distinct values of `itemProgress`, in order.
    pub steps: Vec<u64>,
}

impl<'a> Watch<'a> {
    /// Watches a job.
    pub fn new(stack: &'a Stack, id: &str) -> Self {
        let (client, id) = (stack.client.clone(), id.to_owned());
        Self { stack, client, id, sweeps: false, patience: PATIENCE, last: Value::Null, steps: Vec::new() }
    }

    /// Uses this client, whose user can differ from the stack's own.
    #[must_use]
    pub fn with_client(self, client: &Client) -> Self {
        Self { client: client.clone(), ..self }
    }

    /// Runs the sweeper during the observation.
    #[must_use]
    pub fn sweeping(self) -> Self {
        Self { sweeps: true, ..self }
    }

    /// Sets the maximum time for each step.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Polls until the document satisfies a condition.
    ///
    /// # Errors
    /// If a response violates an invariant, or the condition is not met in time.
    pub fn until(&mut self, description: &str, is_met: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = Instant::now() + self.patience;
        let mut swept = Instant::now();
        loop {
            let job = self.poll()?;
            if is_met(&job) {
                return Ok(job);
            }
            if Instant::now() > deadline {
                bail!("the job is not {description} in time: {}\n{}", self.last, self.stack.log_tail(120));
            }
            if self.sweeps && swept.elapsed() > SWEEP_INTERVAL {
                self.stack.sweep()?;
                swept = Instant::now();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Polls until the status is final, and once more: the document must not change.
    ///
    /// # Errors
    /// If a response violates an invariant, or the job does not end in time.
    pub fn end(&mut self) -> Result<Value> {
        let job = self.until("final", |job| is_final(&job["status"]))?;
        let again = self.client.job(&self.id)?;
        ensure!(again == job, "a final document has changed from {job}\nto {again}");
        Ok(job)
    }

    /// Polls once.
    ///
    /// # Errors
    /// If the response violates an invariant.
    pub fn poll(&mut self) -> Result<Value> {
        let job = self.client.job(&self.id)?;
        self.check(&job)?;
        self.last = job;
        Ok(self.last.clone())
    }

    fn check(&mut self, job: &Value) -> Result<()> {
        let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
        let counts = &job["counts"];
        let [progress, count] = ["itemProgress", "itemCount"].map(|name| number(&job[name]));
        let [succeeded, failed, skipped] = ["succeeded", "failed", "skipped"].map(|name| number(&counts[name]));
        let pending = counts["pending"].as_u64();
        ensure!(
            succeeded.saturating_add(failed).saturating_add(skipped) == progress,
            "the counts do not add up to the progress: {job}"
        );
        ensure!(progress <= count, "more progress than items: {job}");
        ensure!(
            pending.is_none_or(|pending| pending == count - progress),
            "pending is not itemCount minus itemProgress: {job}"
        );
        ensure!(number(&job["percent"]) <= 100, "more than 100 percent: {job}");
        let before = &self.last;
        if !before.is_null() {
            let has_not_decreased = |name: &str| number(&before[name]) <= number(&job[name]);
            let is_monotonic = ["itemProgress", "percent", "itemCount"].into_iter().all(has_not_decreased);
            ensure!(is_monotonic, "the progress has decreased from {before}\nto {job}");
            let is_final_count = before["itemCountFinal"] == true;
            ensure!(
                !is_final_count || before["itemCount"] == job["itemCount"],
                "the final count has changed from {before}\nto {job}"
            );
            ensure!(
                rank(&before["status"]) <= rank(&job["status"]),
                "the status has gone back from {before}\nto {job}"
            );
        }
        if job["status"] == "completed" {
            ensure!(
                progress == count && number(&job["percent"]) == 100,
                "completed, but not all items are done: {job}"
            );
        }
        if self.steps.last() != Some(&progress) {
            self.steps.push(progress);
        }
        Ok(())
    }
}

/// Returns true if a status is final.
pub fn is_final(status: &Value) -> bool {
    rank(status) == 2
}

fn rank(status: &Value) -> u8 {
    match status.as_str() {
        Some("waiting") => 0,
        Some("running") => 1,
        _ => 2,
    }
}

/// A result document with its files.
#[derive(Debug)]
pub struct Report {
    /// The document.
    pub document: Value,
    /// `failed.csv`.
    pub failed: Vec<Row>,
    /// `skipped.csv`.
    pub skipped: Vec<Row>,
    /// `unprocessed.csv`.
    pub unprocessed: Vec<Row>,
}

/// One row of one file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Row {
    /// Number of the item in the input.
    pub number: u64,
    /// The item's own cells.
    pub cells: Vec<String>,
    /// The report columns of the row: code, field and message, or the reason, or nothing.
    pub report_cells: Vec<String>,
}

impl Report {
    /// Reads the result of a job.
    ///
    /// # Errors
    /// If the document or one of its files cannot be loaded or parsed.
    pub fn read(client: &Client, job: &str) -> Result<Self> {
        let document = client.get(&format!("/api/jobs/{job}/output"))?.expect(200)?;
        Ok(Self {
            failed: table(client, &document, "failed", 3)?,
            skipped: table(client, &document, "skipped", 1)?,
            unprocessed: table(client, &document, "unprocessed", 0)?,
            document,
        })
    }

    /// Code and field of each failed item, by item number.
    pub fn failures(&self) -> BTreeMap<u64, (String, String)> {
        self.failed.iter().map(|row| (row.number, (row.report_cells[0].clone(), row.report_cells[1].clone()))).collect()
    }

    /// Code of each failed item, by item number.
    pub fn codes(&self) -> BTreeMap<u64, String> {
        self.failures().into_iter().map(|(number, (code, _))| (number, code)).collect()
    }

    /// Checks that succeeded, failed, skipped and unprocessed items are exactly the input's rows.
    ///
    /// # Errors
    /// If a row is lost, invented, changed or counted twice.
    pub fn partitions(&self, input: &[Vec<String>]) -> Result<()> {
        let counts = &self.document["counts"];
        let count = |name: &str| counts[name].as_u64().with_context(|| format!("no count of {name}: {counts}"));
        let files = [("failed", &self.failed), ("skipped", &self.skipped), ("unprocessed", &self.unprocessed)];
        let mut numbers = BTreeSet::new();
        for (name, rows) in files {
            ensure!(
                count(name)? == rows.len() as u64,
                "{name}: the counts are {counts}, but the file has {} rows",
                rows.len()
            );
            for row in rows {
                ensure!(numbers.insert(row.number), "row {} is in the report twice", row.number);
                let index = usize::try_from(row.number)?.wrapping_sub(1);
                let original = input.get(index).with_context(|| format!("row {} is not in the input", row.number))?;
                ensure!(&row.cells == original, "row {}: {:?} instead of {original:?}", row.number, row.cells);
            }
        }
        let (unlisted, total) = (input.len() - numbers.len(), &self.document["itemCount"]);
        ensure!(count("succeeded")? == unlisted as u64, "{unlisted} rows are in no file, but the counts are {counts}");
        ensure!(total.as_u64() == Some(input.len() as u64), "itemCount is {total}, but the input has {}", input.len());
        Ok(())
    }
}

fn table(client: &Client, document: &Value, name: &str, report_columns: usize) -> Result<Vec<Row>> {
    let Some(url) = document["files"][name]["url"].as_str() else { return Ok(Vec::new()) };
    let answer = client.get(url)?;
    ensure!(answer.status == 200, "{name}: {}: {}", answer.status, answer.text());
    let mut reader = csv::ReaderBuilder::new().from_reader(answer.body.as_slice());
    let columns = reader.headers()?.len();
    let rows = reader.records().map(|record| {
        let mut cells: Vec<_> = record?.iter().map(plain).collect();
        ensure!(cells.len() == columns, "{name}: {} cells instead of {columns}: {cells:?}", cells.len());
        let report_cells = cells.split_off(columns - report_columns);
        let number = cells.remove(0).parse().with_context(|| format!("{name}: no row number: {cells:?}"))?;
        Ok(Row { number, cells, report_cells })
    });
    rows.collect()
}

/// The original of a cell: without the apostrophes that protect a spreadsheet from CSV injection, at the start of the
/// cell or of a text in it.
fn plain(cell: &str) -> String {
    let text = |text: &str| {
        let is_formula = |text: &&str| {
            let text = text.trim_start_matches('\'').trim_start_matches([' ', '"']);
            text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n'])
        };
        text.strip_prefix('\'').filter(is_formula).unwrap_or(text).to_owned()
    };
    cell.split_inclusive([';', '\t', '\r', '\n']).map(text).collect()
}

/// The rows of a CSV file as an independent parser reads them: with all cells unchanged, without header and blank
/// lines.
///
/// # Errors
/// If the bytes are not a CSV file.
pub fn csv_rows(bytes: &[u8]) -> Result<Vec<Vec<String>>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    reader.records().map(|record| Ok(record?.iter().map(str::to_owned).collect())).collect()
}
