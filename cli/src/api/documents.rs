//! The API's documents, limited to the fields that the commands read.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Treatment of existing records by an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The later row wins
    Upsert,
    /// The earlier row wins; the later row fails
    Insert,
    /// Nothing is written; the report lists the rows that would fail
    Validate,
}

/// `costEstimate` of a job.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostEstimate {
    /// US dollars.
    pub total: f64,
    /// Assumed size of an item in bytes; `None` if the sizes are known.
    pub assumed_item_bytes: Option<u64>,
}

/// `options` of an import job.
#[derive(Serialize)]
pub struct ImportOptions {
    /// Dataset to import into.
    pub dataset: String,
    /// Column that identifies a row.
    pub key: String,
    /// JSON Schema that every row must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// Treatment of existing records.
    pub mode: Mode,
}

/// A job.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Id.
    pub job_id: String,
    /// Status, such as `running`.
    pub status: String,
    /// Message for the user.
    pub message: String,
    /// Number of items.
    pub item_count: u64,
    /// True once `item_count` is final.
    pub item_count_final: bool,
    /// Number of processed items.
    pub item_progress: u64,
    /// Items by outcome.
    pub counts: Counts,
    /// Progress in percent of the bytes.
    pub percent: u64,
    /// Items per second.
    pub items_per_second: Option<f64>,
    /// Estimated remaining time.
    pub eta_seconds: Option<f64>,
    /// Error of a failed job.
    pub error: Option<serde_json::Value>,
    /// Time at which the job ended.
    pub finished_at: Option<String>,
    /// Cost; so far, while the job runs.
    #[serde(default)]
    pub cost: Option<Cost>,
}

/// A cost.
#[derive(Clone, Copy, Deserialize, PartialEq, Debug)]
pub struct Cost {
    /// Sum of the parts in US dollars.
    pub total: f64,
}

impl Job {
    /// Returns true if the status is final.
    pub fn has_ended(&self) -> bool {
        is_final(&self.status)
    }
}

/// Returns true if a job with this status has ended.
pub(crate) fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "canceled")
}

/// Items by outcome.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Succeeded items.
    pub succeeded: u64,
    /// Failed items.
    pub failed: u64,
    /// Skipped items.
    pub skipped: u64,
    /// Items that were never processed; only in a result.
    #[serde(default)]
    pub unprocessed: u64,
}

/// The result of a job.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Number of items.
    pub item_count: u64,
    /// Items by outcome.
    pub counts: Counts,
    /// Durations in milliseconds, by name.
    #[serde(default)]
    pub timings: BTreeMap<String, serde_json::Value>,
    /// Report files by name; `None` for a file without rows.
    #[serde(default)]
    pub files: BTreeMap<String, Option<ReportFile>>,
    /// Receipt.
    pub receipt: Option<ReportFile>,
}

/// A file to download.
#[derive(Clone, Deserialize)]
pub struct ReportFile {
    /// Presigned URL.
    pub url: String,
}

/// A page of records.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Records.
    pub records: Vec<Record>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A record.
#[derive(Deserialize)]
pub struct Record {
    /// Key.
    pub key: String,
}
