//! A file with a known expected outcome of every row, and the comparison with the actual outcome.
//!
//! Rows 7, 13, 21, 33 and (with insert) 39 of every fifty fail, each for another reason. Names contain the dataset, so
//! that a row in another job's report or records is detected.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::watch::{Report, csv_rows};
use serde_json::{Value, json};

/// Maximum number of differences that are listed for one job. Further ones are counted.
const MAX_LISTED: usize = 5;

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
    /// A file of `rows` rows for its own dataset, imported with upsert: of rows with the same key, the last one is
    /// kept.
    pub(crate) fn upsert(dataset: &str, rows: u64) -> Self {
        Self::generate(dataset, "upsert", rows, 80)
    }

    /// A file of `rows` rows, imported with insert: of rows with the same key, the first one is kept, and the others
    /// fail.
    pub(crate) fn insert(dataset: &str, rows: u64) -> Self {
        Self::generate(dataset, "insert", rows, 80)
    }

    /// A file like that of `upsert` whose failed rows have 54 KB: their report is uploaded in parts.
    pub(crate) fn wide(dataset: &str, rows: u64) -> Self {
        Self::generate(dataset, "upsert", rows, 54_000)
    }

    fn generate(dataset: &str, mode: &'static str, rows: u64, failed_bytes: usize) -> Self {
        let mut sample = Self { dataset: dataset.to_owned(), mode, rows, ..Self::default() };
        sample.file = b"id,name,amount,note\n".to_vec();
        (1..=rows).for_each(|number| sample.push(number, failed_bytes));
        sample
    }

    fn push(&mut self, number: u64, failed_bytes: usize) {
        let mut id = format!("k{number}");
        let (mut name, mut amount) = (format!("{}/{number}", self.dataset), (number * 7 % 1_000).to_string());
        let error = match number % 50 {
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
        let note = "n".repeat(if error.is_some() { failed_bytes } else { 80 });
        self.file.extend(format!("{id},{name},{amount},{note}\n").into_bytes());
        match error {
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

    /// The differences between an ended job, read as its owner reads it, and its expected outcome.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub(crate) fn differences(&self, client: &Client, job: &Value) -> Result<Vec<String>> {
        let id = job["jobId"].as_str().context("the job has no id")?;
        let mut differences = Vec::new();
        let failed = self.failed.len() as u64;
        let counts = json!({ "succeeded": self.rows - failed, "failed": failed, "skipped": 0, "pending": 0 });
        if job["status"] != "completed" || job["counts"] != counts || job["itemCount"] != self.rows {
            differences
                .push(format!("counts: {} {} of {}, not {counts}", job["status"], job["counts"], job["itemCount"]));
        }
        let report = Report::read(client, id)?;
        differences.extend(compare("failed row", &self.failed, &report.failures()));
        if let Err(error) = report.partitions(&csv_rows(&self.file)?) {
            differences.push(format!("report: {error:#}"));
        }
        let records = client.records(&self.dataset)?;
        let records = records.into_iter().map(|(key, mut record)| (key, record["record"].take())).collect();
        differences.extend(compare("record", &self.records, &records));
        Ok(differences.into_iter().map(|difference| format!("job {id}: {difference}")).collect())
    }
}

/// The differences between two tables. Only the first ones are listed.
pub(crate) fn compare<K: Ord + std::fmt::Display, V: PartialEq + std::fmt::Debug>(
    name: &str,
    expected: &BTreeMap<K, V>,
    actual: &BTreeMap<K, V>,
) -> Vec<String> {
    let differs = |key: &&K| expected.get(key) != actual.get(key);
    let keys: Vec<_> =
        expected.keys().chain(actual.keys().filter(|key| !expected.contains_key(key))).filter(differs).collect();
    let describe = |key: &K| format!("{name} {key} is {:?}, not {:?}", actual.get(key), expected.get(key));
    let mut differences: Vec<_> = keys.iter().take(MAX_LISTED).map(|key| describe(key)).collect();
    if keys.len() > MAX_LISTED {
        differences.push(format!("{name}: {} more", keys.len() - MAX_LISTED));
    }
    differences
}
