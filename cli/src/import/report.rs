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
    /// Numbers of all failed rows, in the order of the file.
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

/// Downloads every report file into `dir`. Deletes the files of an earlier import.
pub(super) fn download(api: &Api, output: &Output, dir: &Path) -> Result<Failed> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    for (name, file) in &output.files {
        if let Some(file) = file {
            let body = api.download(&file.url, &format!("downloading {name}.csv"))?;
            io::copy(&mut body.into_reader(), &mut File::create(dir.join(format!("{name}.csv")))?)?;
        }
    }
    let path = dir.join("failed.csv");
    if path.exists() { read(path) } else { Ok(Failed::default()) }
}

/// Parses the file. The first column is the row number, the last three are the error, and the row's own columns are in
/// between.
fn read(path: PathBuf) -> Result<Failed> {
    let mut reader = csv::Reader::from_path(&path)?;
    let header = reader.headers()?.clone();
    let has_error_columns = header.iter().rev().take(3).eq(["message", "field", "code"]);
    ensure!(has_error_columns, "the last columns of failed.csv are not code, field, message: {header:?}");
    let mut failed = Failed::default();
    for record in reader.records() {
        let record = record?;
        let number = record.get(0).unwrap_or_default();
        let row = number.parse().with_context(|| format!("failed.csv: {number:?} is not a row number"))?;
        failed.rows.push(row);
        if failed.first.len() < SHOWN {
            let from_end = |n: usize| record.get(record.len() - n).unwrap_or_default().to_owned();
            failed.first.push(Failure { row, code: from_end(3), field: from_end(2), message: from_end(1) });
        }
    }
    failed.path = Some(path);
    Ok(failed)
}
