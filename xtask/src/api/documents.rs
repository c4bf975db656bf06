//! The API documents, limited to the fields that the demo reads.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Treatment of existing records by an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// The later row wins
    Upsert,
    /// The earlier row wins, the later one fails
    Insert,
    /// Writes nothing; the report lists the rows that would fail
    Validate,
}

/// `options` of an import.
#[derive(Serialize)]
pub(crate) struct ImportOptions {
    pub(crate) dataset: String,
    pub(crate) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<serde_json::Value>,
    pub(crate) mode: Mode,
}

/// The part of a job document that the demo reads.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    pub(crate) job_id: String,
    pub(crate) status: String,
    pub(crate) message: String,
    pub(crate) item_count: u64,
    pub(crate) item_count_final: bool,
    pub(crate) item_progress: u64,
    pub(crate) counts: Counts,
    pub(crate) percent: u64,
    pub(crate) items_per_second: Option<f64>,
    pub(crate) eta_seconds: Option<f64>,
    pub(crate) error: Option<serde_json::Value>,
    pub(crate) finished_at: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// Rows that were never tried; only in a result.
    #[serde(default)]
    pub(crate) unprocessed: u64,
}

/// The result document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    pub(crate) item_count: u64,
    pub(crate) counts: Counts,
    #[serde(default)]
    pub(crate) timings: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, Option<ReportFile>>,
    pub(crate) receipt: Option<ReportFile>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct ReportFile {
    pub(crate) url: String,
}

/// A page of records.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    pub(crate) records: Vec<Record>,
    pub(crate) next_cursor: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Record {
    pub(crate) key: String,
}
