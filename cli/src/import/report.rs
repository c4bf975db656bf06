//! Downloads the report files of a result and parses `failed.csv`.

use crate::api::{Api, Output};
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Number of failures that are kept for display.
const SHOWN: usize = 5;

/// Contents of `failed.csv`.
#[derive(Default)]
pub(super) struct Failed {
    /// Path of the saved file; `None` if nothing failed.
    pub(super) path: Option<PathBuf>,
    /// Numbers of all failed rows, in the file's order.
    pub(super) rows: Vec<u64>,
    /// The first failures, at most `SHOWN`.
    pub(super) first: Vec<Failure>,
}

/// A failed row.
pub(super) struct Failure {
    pub(super) row: u64,
    pub(super) code: String,
    pub(super) field: String,
    pub(super) message: String,
}

/// Saves every report file into `dir`, replacing those of an earlier demo.
pub(super) fn fetch(api: &Api, output: &Output, dir: &Path) -> Result<Failed> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    for (name, file) in &output.files {
        if let Some(file) = file {
            let body = api.download(&file.url, &format!("fetching {name}.csv"))?;
            io::copy(&mut body.into_reader(), &mut File::create(dir.join(format!("{name}.csv")))?)?;
        }
    }
    let path = dir.join("failed.csv");
    if path.exists() { read(path) } else { Ok(Failed::default()) }
}

/// Parses the file. The first column is the row number and the last three are the error; the row's own columns are in
/// between.
fn read(path: PathBuf) -> Result<Failed> {
    let mut reader = csv::Reader::from_path(&path)?;
    let header = reader.headers()?.clone();
    let ends_well = header.iter().rev().take(3).eq(["message", "field", "code"]);
    ensure!(ends_well, "failed.csv has the columns {header:?}, not … code, field, message at its end");
    let mut failed = Failed::default();
    for record in reader.records() {
        let record = record?;
        let number = record.get(0).unwrap_or_default();
        let row = number.parse().with_context(|| format!("failed.csv has {number:?} for a row number"))?;
        failed.rows.push(row);
        if failed.first.len() < SHOWN {
            let from_end = |n: usize| record.get(record.len() - n).unwrap_or_default().to_owned();
            failed.first.push(Failure { row, code: from_end(3), field: from_end(2), message: from_end(1) });
        }
    }
    failed.path = Some(path);
    Ok(failed)
}
