//! The receipt, limited to the fields that can be verified. Shares no code with the function that writes receipts.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// `receipt.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Receipt {
    pub(super) item_count: u64,
    pub(super) counts: Counts,
    pub(super) input: Option<Input>,
    pub(super) corrected: Option<Input>,
    pub(super) files: Vec<Output>,
    pub(super) results: Option<Results>,
}

#[derive(Deserialize)]
pub(super) struct Counts {
    succeeded: u64,
    failed: u64,
    skipped: u64,
    unprocessed: u64,
}

/// An input file.
#[derive(Deserialize)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) sha256: Option<String>,
    pub(super) basis: String,
}

/// A report file.
#[derive(Deserialize)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) size: u64,
    pub(super) sha256: String,
}

/// The results file.
#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) size: u64,
    pub(super) sha256: Option<String>,
    pub(super) crc64nvme: String,
    pub(super) index: Output,
}

/// A line of the index of the results: a slice of them.
#[derive(Deserialize)]
pub(super) struct Slice {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Receipt {
    /// Reads a receipt and checks that its numbers are consistent.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let receipt: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a complete receipt: download it again", path.display()))?;
        receipt.check_sums().with_context(|| format!("{} is inconsistent", path.display()))?;
        Ok(receipt)
    }

    fn check_sums(&self) -> Result<()> {
        let Counts { succeeded, failed, skipped, unprocessed } = self.counts;
        let sum: u64 = [succeeded, failed, skipped, unprocessed].iter().sum();
        ensure!(sum == self.item_count, "the counts add up to {sum} items, but itemCount is {}", self.item_count);
        for (kind, rows) in [("failed", failed), ("skipped", skipped), ("unprocessed", unprocessed)] {
            let file_rows = self.files.iter().find(|file| file.is(kind)).map_or(0, |file| file.rows);
            ensure!(file_rows == rows, "counts.{kind} is {rows}, but the file of {kind} items has {file_rows} rows");
        }
        if let Some(results) = &self.results {
            let rows = results.rows;
            ensure!(rows == succeeded, "counts.succeeded is {succeeded}, but the results have {rows} rows");
        }
        Ok(())
    }
}

impl Output {
    /// Returns true if this is the file of items of this kind: `failed`, `skipped` or `unprocessed`.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.name.strip_suffix(".csv").is_some_and(|stem| stem.rsplit('-').next() == Some(kind))
    }
}
