//! The files of a result: downloads the report files and parses `failed.csv`; downloads the receipt, and verifies as
//! the last check that it matches the input file and the report files.

use crate::api::{Api, Output};
use crate::commands::receipt::{Comparison, Paths, verify};
use anyhow::{Context, Result, bail, ensure};
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

/// Downloads the receipt into the report's folder and verifies it against the files.
pub(super) fn check_receipt(api: &Api, output: &Output, input: &Path, folder: &Path) -> Result<()> {
    let file = output.receipt.as_ref().context("the result has no receipt")?;
    let receipt = folder.join("receipt.json");
    io::copy(&mut api.download(&file.url, "downloading the receipt")?.into_reader(), &mut File::create(&receipt)?)?;
    let report = |name: &str| Some(folder.join(name));
    let paths = Paths {
        folder: folder.to_owned(),
        input: Some(input.to_owned()),
        failed: report("failed.csv"),
        skipped: report("skipped.csv"),
        unprocessed: report("unprocessed.csv"),
        ..Paths::default()
    };
    let lines = verify(&receipt, &paths)?;
    for line in &lines {
        if let Comparison::Different(reason) | Comparison::Unverified(reason) = &line.comparison {
            bail!("the receipt does not confirm {}: {reason}", line.name);
        }
    }
    let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
    println!("✓ the receipt matches the files: {}", names.join(", "));
    Ok(())
}
