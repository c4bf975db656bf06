//! The result of a finished job, read as its owner reads it, and its comparison with the input file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::client::Client;

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
