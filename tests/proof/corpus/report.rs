//! The files of a finished job, read as bytes, with numbers and cells unchanged.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use serde_json::Value;

/// The result of a job.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) document: Value,
    pub(super) failed: Vec<ReportRow>,
    pub(super) skipped: Vec<ReportRow>,
    pub(super) unprocessed: Vec<ReportRow>,
}

/// A row of one of the report's files.
#[derive(Debug)]
pub(super) struct ReportRow {
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
    pub(super) fn rows(&self) -> impl Iterator<Item = &ReportRow> {
        self.failed.iter().chain(&self.skipped).chain(&self.unprocessed)
    }

    /// A count in the document.
    pub(super) fn count(&self, name: &str) -> Result<u64> {
        self.document["counts"][name]
            .as_u64()
            .with_context(|| format!("the document has no count {name}: {}", self.document))
    }
}

/// The rows of a file with this number of report columns. A file that was not written has no rows.
fn rows(client: &Client, file: &Value, columns: usize, report_columns: usize) -> Result<Vec<ReportRow>> {
    let Some(url) = file["url"].as_str() else { return Ok(Vec::new()) };
    let answer = client.get(url)?;
    ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
    // Not flexible: a row with a different number of cells is an error.
    let mut reader = csv::ReaderBuilder::new().from_reader(answer.body.as_slice());
    let width = reader.headers()?.len();
    ensure!(width == 1 + columns + report_columns, "{width} columns, but the item has {columns}");
    let rows = reader.records().map(|record| {
        let mut cells: Vec<_> = record?.iter().map(str::to_owned).collect();
        cells.truncate(1 + columns);
        let number = cells.remove(0).parse().context("the row has no number")?;
        Ok(ReportRow { number, cells })
    });
    rows.collect()
}
