//! An import: its file, its options, and its expected result.

use super::source::Source;
use crate::api::{ImportOptions, Mode};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An import: its file and options.
pub struct Plan {
    /// The file.
    pub source: Source,
    /// JSON Schema that every row must satisfy.
    pub schema: Option<PathBuf>,
    /// Dataset to import into.
    pub dataset: String,
    /// Column that identifies a row.
    pub key: String,
    /// Treatment of existing records.
    pub mode: Mode,
}

impl Plan {
    /// Returns the options of the job.
    pub(super) fn import_options(&self) -> Result<ImportOptions> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        Ok(ImportOptions { dataset: self.dataset.clone(), key: self.key.clone(), schema, mode: self.mode })
    }
}

/// The expected result of an import.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Expected {
    /// Number of rows.
    pub items: u64,
    /// Numbers of the rows that must fail, counted from 1.
    pub invalid: BTreeSet<u64>,
    /// Distinct keys of the rows that must succeed.
    pub keys: BTreeSet<String>,
}

fn read_schema(path: &Path) -> Result<serde_json::Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
