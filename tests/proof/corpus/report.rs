//! The files of a finished job, read as bytes, with numbers and cells unchanged.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use serde_json::Value;

/// The result of a job.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) document: Value,
    pub(super) failed: Vec<Listed>,
    pub(super) skipped: Vec<Listed>,
    pub(super) unprocessed: Vec<Listed>,
}

/// A row of one of the report's files.
#[derive(Debug)]
pub(super) struct Listed {
    /// Number of the row in the input.
    pub(super) number: u64,
    /// The item's own cells, still escaped against CSV injection.
    pub(super) cells: Vec<String>,
}

impl Report {
    /// Reads the result of a job whose items have `columns` columns.
    pub(super) fn read(client: &Client, job: &str, columns: usize) -> Result<Self> {
        let document = client.get(&format!("/api/jobs/{job}/output"))?.expect(200)?;
        let rows = |name: &str, report_columns| {
            rows(client, &document["files"][name], columns, report_columns).context(name.to_owned())
        };
        let (failed, skipped, unprocessed) = (rows("failed", 3)?, rows("skipped", 1)?, rows("unprocessed", 0)?);
        Ok(Self { failed, skipped, unprocessed, document })
    }

    /// All rows of the report's files.
    pub(super) fn all(&self) -> impl Iterator<Item = &Listed> {
        self.failed.iter().chain(&self.skipped).chain(&self.unprocessed)
    }

    /// A count in the document.
    pub(super) fn count(&self, name: &str) -> Result<u64> {
        self.document["counts"][name].as_u64().with_context(|| format!("no count {name}: {}", self.document))
    }
}

/// Rows of a file with so many report columns. A file that was not written has none.
fn rows(client: &Client, file: &Value, columns: usize, report_columns: usize) -> Result<Vec<Listed>> {
    let Some(url) = file["url"].as_str() else { return Ok(Vec::new()) };
    let answer = client.get(url)?;
    ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
    // Not flexible: a row with a different number of cells is an error.
    let mut reader = csv::ReaderBuilder::new().from_reader(answer.body.as_slice());
    let width = reader.headers()?.len();
    ensure!(width == 1 + columns + report_columns, "{width} columns for {columns} of the item");
    let listed = reader.records().map(|record| {
        let mut cells: Vec<_> = record?.iter().map(str::to_owned).collect();
        cells.truncate(1 + columns);
        let number = cells.remove(0).parse().context("no row number")?;
        Ok(Listed { number, cells })
    });
    listed.collect()
}
