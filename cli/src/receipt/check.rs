//! Compares each file of a receipt with the local file.

use super::document::{Input, Output, Receipt};
use super::measure::{Measured, measure, measure_rows};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Locations of the files: explicit paths, and the folder of all others.
#[derive(Default)]
pub struct Places {
    /// Folder of the files that have no path of their own.
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
}

/// The result for one file of a receipt.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// File name.
    pub name: String,
    /// Result of the comparison.
    pub comparison: Comparison,
}

/// The result of the comparison of a file with a receipt.
#[derive(Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The file is the one of the receipt, with a description.
    Equal(String),
    /// The file is another one, or cannot be read, with the reason.
    Different(String),
}

/// Verifies a receipt against the files. Returns a line for each.
///
/// # Errors
/// If the file is not a receipt, or its numbers are inconsistent.
pub fn verify(receipt: &Path, places: &Places) -> Result<Vec<Line>> {
    Ok(lines(&Receipt::read(receipt)?, places))
}

/// One line for each file that the receipt names, inputs first.
fn lines(receipt: &Receipt, places: &Places) -> Vec<Line> {
    let inputs = [(&receipt.input, &places.input, "--input"), (&receipt.corrected, &places.corrected, "--corrected")];
    let mut lines = Vec::new();
    for (input, given, option) in inputs {
        if let Some(input) = input {
            lines.push(line(&input.name, places, (given, option), |path| compare_input(input, path)));
        }
    }
    for file in &receipt.files {
        let kinds = [("failed", &places.failed), ("skipped", &places.skipped), ("unprocessed", &places.unprocessed)];
        let (kind, given) = kinds.into_iter().find(|(kind, _)| file.is(kind)).unwrap_or(("in", &None));
        lines.push(line(&file.name, places, (given, &format!("--{kind}")), |path| compare_output(file, path)));
    }
    lines
}

fn line(
    name: &str,
    places: &Places,
    (given, option): (&Option<PathBuf>, &str),
    compare: impl FnOnce(&Path) -> Result<Comparison>,
) -> Line {
    // A name in a receipt is untrusted: only its last path segment is used, within this folder.
    let own = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let path = given.clone().unwrap_or_else(|| places.folder.join(own));
    let comparison = if path.is_file() {
        compare(&path).unwrap_or_else(|error| Comparison::Different(format!("{error:#}")))
    } else {
        Comparison::Different(format!("{} does not exist; set its path with {option}", path.display()))
    };
    Line { name: name.to_owned(), comparison }
}

fn compare_input(input: &Input, path: &Path) -> Result<Comparison> {
    let Measured { size, sha256, .. } = measure(path)?;
    Ok(match &input.sha256 {
        _ if size != input.size => {
            Comparison::Different(format!("not the file that was processed: {size} bytes instead of {}", input.size))
        }
        Some(expected) if *expected != sha256 => {
            Comparison::Different(format!("not the file that was processed: SHA-256 {sha256} instead of {expected}"))
        }
        Some(_) => Comparison::Equal(format!("{size} bytes, SHA-256 {sha256}")),
        None => {
            Comparison::Equal(format!("{size} bytes; SHA-256 not compared, because it is unknown ({})", input.basis))
        }
    })
}

fn compare_output(file: &Output, path: &Path) -> Result<Comparison> {
    let Measured { size, sha256, rows } = measure_rows(path)?;
    let numbers = [("rows", file.rows, rows), ("bytes", file.size, size)];
    let differences: Vec<_> = numbers
        .iter()
        .filter(|(_, expected, found)| expected != found)
        .map(|(unit, expected, found)| format!("{found} {unit} instead of {expected}"))
        .collect();
    Ok(if !differences.is_empty() {
        Comparison::Different(differences.join(", "))
    } else if sha256 != file.sha256 {
        let expected = &file.sha256;
        Comparison::Different(format!("the same number of rows and bytes, but SHA-256 {sha256} instead of {expected}"))
    } else {
        Comparison::Equal(format!("{rows} rows, {size} bytes, SHA-256 {sha256}"))
    })
}
