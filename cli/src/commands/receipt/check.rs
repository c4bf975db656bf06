//! Compares each file of a receipt with the local file.

use super::document::{Input, Output, Receipt, Results};
use super::measure::{Measurement, measure, measure_rows};
use super::results::{compare_index, compare_results};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Paths of the files that a receipt names.
#[derive(Default)]
pub struct Paths {
    /// Folder of the files without an explicit path.
    pub folder: PathBuf,
    /// The input file.
    pub input: Option<PathBuf>,
    /// The corrected failures file.
    pub corrected: Option<PathBuf>,
    /// The file of failed items.
    pub failed: Option<PathBuf>,
    /// The file of skipped items.
    pub skipped: Option<PathBuf>,
    /// The file of unprocessed items.
    pub unprocessed: Option<PathBuf>,
    /// The results file.
    pub results: Option<PathBuf>,
    /// The index of the results.
    pub results_index: Option<PathBuf>,
}

/// The result for one file of a receipt.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// File name.
    pub name: String,
    /// Result of the comparison.
    pub comparison: Comparison,
}

/// Result of the comparison of a file with a receipt.
#[derive(Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The file matches the receipt; with its measurements.
    Equal(String),
    /// Nothing differs, but the receipt has no checksum of the file; with what was compared, and the reason.
    Unverified(String),
    /// The file does not match the receipt or cannot be read; with the reason.
    Different(String),
}

/// The command-line option of a file, and its value.
struct PathOption<'a> {
    flag: &'a str,
    path: &'a Option<PathBuf>,
}

/// Verifies a receipt against the files. Returns a line for each file.
///
/// # Errors
/// If the file is not a receipt, or its numbers are inconsistent.
pub fn verify(receipt: &Path, paths: &Paths) -> Result<Vec<Line>> {
    Ok(lines(&Receipt::read(receipt)?, paths))
}

/// Compares each file that the receipt names, inputs first.
fn lines(receipt: &Receipt, paths: &Paths) -> Vec<Line> {
    let inputs = [(&receipt.input, &paths.input, "--input"), (&receipt.corrected, &paths.corrected, "--corrected")];
    let mut lines = Vec::new();
    for (input, path, flag) in inputs {
        if let Some(input) = input {
            let path = resolve(&input.name, &paths.folder, PathOption { flag, path });
            lines.push(line(&input.name, path, |path| compare_input(input, path)));
        }
    }
    for file in &receipt.files {
        let kinds = [("failed", &paths.failed), ("skipped", &paths.skipped), ("unprocessed", &paths.unprocessed)];
        let (kind, path) = kinds.into_iter().find(|(kind, _)| file.is(kind)).unwrap_or(("in", &None));
        let path = resolve(&file.name, &paths.folder, PathOption { flag: &format!("--{kind}"), path });
        lines.push(line(&file.name, path, |path| compare_output(file, path)));
    }
    if let Some(results) = &receipt.results {
        lines.extend(results_lines(results, paths));
    }
    lines
}

/// Compares the results file and its index.
fn results_lines(results: &Results, paths: &Paths) -> [Line; 2] {
    let flag = PathOption { flag: "--results", path: &paths.results };
    let file = resolve(&results.name, &paths.folder, flag);
    let flag = PathOption { flag: "--results-index", path: &paths.results_index };
    let index = resolve(&results.index.name, &paths.folder, flag);
    let index_path = index.clone().ok();
    [
        line(&results.name, file, |path| compare_results(results, path, index_path.as_deref())),
        line(&results.index.name, index, |path| compare_index(results, path)),
    ]
}

/// Returns the path of a file, or an error message if there is no such file.
fn resolve(name: &str, folder: &Path, option: PathOption<'_>) -> Result<PathBuf, String> {
    // A name in a receipt is untrusted: only its last path segment is used, within the folder.
    let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let path = option.path.clone().unwrap_or_else(|| folder.join(file_name));
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} does not exist; set its path with {}", path.display(), option.flag))
    }
}

fn line(name: &str, path: Result<PathBuf, String>, compare: impl FnOnce(&Path) -> Result<Comparison>) -> Line {
    let comparison = path.and_then(|path| compare(&path).map_err(|error| format!("{error:#}")));
    Line { name: name.to_owned(), comparison: comparison.unwrap_or_else(Comparison::Different) }
}

fn compare_input(input: &Input, path: &Path) -> Result<Comparison> {
    let Measurement { size, sha256, .. } = measure(path)?;
    Ok(match &input.sha256 {
        _ if size != input.size => {
            Comparison::Different(format!("not the file that was processed: {size} bytes instead of {}", input.size))
        }
        Some(expected) if *expected != sha256 => {
            Comparison::Different(format!("not the file that was processed: SHA-256 {sha256} instead of {expected}"))
        }
        Some(_) => Comparison::Equal(format!("{size} bytes, SHA-256 {sha256}")),
        None => {
            let reason = unknown(&input.basis);
            let text =
                format!("only the size was compared, {size} bytes: the receipt has no checksum, because {reason}");
            Comparison::Unverified(text)
        }
    })
}

/// Returns the reason why a receipt has no SHA-256 of an input.
fn unknown(basis: &str) -> &str {
    match basis {
        "gone" => "the file had been removed or replaced when the job ended",
        "too_long" => "the file could not be read again in time",
        other => other,
    }
}

fn compare_output(file: &Output, path: &Path) -> Result<Comparison> {
    Ok(compare_measured(file, &measure_rows(path)?))
}

/// Compares the measurements of a file with its entry in the receipt.
pub(super) fn compare_measured(file: &Output, measured: &Measurement) -> Comparison {
    let Measurement { size, sha256, rows, .. } = measured;
    let numbers = [("rows", file.rows, *rows), ("bytes", file.size, *size)];
    let differences: Vec<_> = numbers
        .iter()
        .filter(|(_, expected, actual)| expected != actual)
        .map(|(unit, expected, actual)| format!("{actual} {unit} instead of {expected}"))
        .collect();
    if !differences.is_empty() {
        Comparison::Different(differences.join(", "))
    } else if *sha256 != file.sha256 {
        let expected = &file.sha256;
        Comparison::Different(format!("the same number of rows and bytes, but SHA-256 {sha256} instead of {expected}"))
    } else {
        Comparison::Equal(format!("{rows} rows, {size} bytes, SHA-256 {sha256}"))
    }
}
