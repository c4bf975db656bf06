//! A file with a known expected outcome of every row, and the comparison with the actual outcome.
//!
//! One row in ten is wrong, in five ways that take turns. Every cell names its file, so that a row in another job's
//! report or records is detected.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::report::{Report, csv_rows};
use serde_json::{Value, json};

/// Maximum number of differences that are listed for one job. The others are counted.
const REPORTED: usize = 5;

/// A file with its expected outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// The file and its import mode.
    pub(crate) file: Vec<u8>,
    pub(crate) dataset: String,
    mode: &'static str,
    /// The failed rows: code and field by number.
    failed: BTreeMap<u64, (String, String)>,
    /// The final records, by key.
    records: BTreeMap<String, Value>,
    pub(crate) rows: u64,
}

impl Sample {
    /// A file of `rows` rows for its own dataset, imported with upsert: of rows with the same key the last one stays.
    pub(crate) fn upsert(dataset: &str, rows: u64) -> Self {
        Self::made(dataset, "upsert", rows, 80)
    }

    /// A file of `rows` rows, imported with insert: of rows with the same key the first one stays, and the others
    /// fail.
    pub(crate) fn insert(dataset: &str, rows: u64) -> Self {
        Self::made(dataset, "insert", rows, 80)
    }

    /// A file like that of `upsert` whose failed rows have 54 KB: their report is uploaded in parts.
    pub(crate) fn wide(dataset: &str, rows: u64) -> Self {
        Self::made(dataset, "upsert", rows, 54_000)
    }

    fn made(dataset: &str, mode: &'static str, rows: u64, failed_bytes: usize) -> Self {
        let mut sample = Self { dataset: dataset.to_owned(), mode, rows, ..Self::default() };
        sample.file = b"id,name,amount,note\n".to_vec();
        (1..=rows).for_each(|number| sample.push(number, failed_bytes));
        sample
    }

    fn push(&mut self, number: u64, failed_bytes: usize) {
        let mut id = format!("k{number}");
        let (mut name, mut amount) = (format!("{}/{number}", self.dataset), (number * 7 % 1_000).to_string());
        let fault = match number % 50 {
            7 => {
                amount = "many".into();
                Some(("schema_type", "amount"))
            }
            13 => {
                id.clear();
                Some(("missing_key", "id"))
            }
            21 => {
                amount = format!("-{number}");
                Some(("schema_minimum", "amount"))
            }
            33 => {
                name.clear();
                Some(("schema_required", "name"))
            }
            // The key of the previous row.
            39 => {
                id = format!("k{}", number - 1);
                (self.mode == "insert").then_some(("duplicate_key", "id"))
            }
            _ => None,
        };
        let note = "n".repeat(if fault.is_some() { failed_bytes } else { 80 });
        self.file.extend(format!("{id},{name},{amount},{note}\n").into_bytes());
        match fault {
            Some((code, field)) => drop(self.failed.insert(number, (code.to_owned(), field.to_owned()))),
            None => {
                let amount: u64 = amount.parse().unwrap_or_default();
                self.records.insert(id.clone(), json!({ "id": id, "name": name, "amount": amount, "note": note }));
            }
        }
    }

    /// The options of the import.
    pub(crate) fn options(&self) -> Value {
        let schema = json!({
            "properties": { "amount": { "type": "integer", "minimum": 0 }, "name": { "type": "string" } },
            "required": ["name"]
        });
        json!({ "dataset": self.dataset, "key": "id", "mode": self.mode, "schema": schema })
    }

    /// All differences between an ended job and its expected outcome, read as its owner reads it.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub(crate) fn differences(&self, client: &Client, job: &Value) -> Result<Vec<String>> {
        let id = job["jobId"].as_str().context("a job without an id")?;
        let mut found = Vec::new();
        let failed = self.failed.len() as u64;
        let counts = json!({ "succeeded": self.rows - failed, "failed": failed, "skipped": 0, "pending": 0 });
        if job["status"] != "completed" || job["counts"] != counts || job["itemCount"] != self.rows {
            found.push(format!("counts: {} {} of {}, not {counts}", job["status"], job["counts"], job["itemCount"]));
        }
        let report = Report::read(client, id)?;
        found.extend(compare("failed row", &self.failed, &report.failures()));
        if let Err(error) = report.partitions(&csv_rows(&self.file)?) {
            found.push(format!("report: {error:#}"));
        }
        let records = client.records(&self.dataset)?;
        let records = records.into_iter().map(|(key, mut record)| (key, record["record"].take())).collect();
        found.extend(compare("record", &self.records, &records));
        let found = found.into_iter().map(|what| format!("job {id}: {what}"));
        Ok(found.collect())
    }
}

/// Differences between two tables. The first ones are listed.
fn compare<K: Ord + std::fmt::Display, V: PartialEq + std::fmt::Debug>(
    what: &str,
    wanted: &BTreeMap<K, V>,
    answer: &BTreeMap<K, V>,
) -> Vec<String> {
    let differs = |key: &&K| wanted.get(key) != answer.get(key);
    let keys: Vec<_> =
        wanted.keys().chain(answer.keys().filter(|key| !wanted.contains_key(key))).filter(differs).collect();
    let describe = |key: &K| format!("{what} {key} is {:?}, not {:?}", answer.get(key), wanted.get(key));
    let mut differences: Vec<_> = keys.iter().take(REPORTED).map(|key| describe(key)).collect();
    if keys.len() > REPORTED {
        differences.push(format!("{what}: {} more", keys.len() - REPORTED));
    }
    differences
}
