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
    /// A description of the match, or of the difference.
    pub found: Result<String, String>,
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
            lines.push(line(&input.name, places, (given, option), |path| of_input(input, path)));
        }
    }
    for file in &receipt.files {
        let kinds = [("failed", &places.failed), ("skipped", &places.skipped), ("unprocessed", &places.unprocessed)];
        let (kind, given) = kinds.into_iter().find(|(kind, _)| file.is(kind)).unwrap_or(("in", &None));
        lines.push(line(&file.name, places, (given, &format!("--{kind}")), |path| of_output(file, path)));
    }
    lines
}

fn line(
    name: &str,
    places: &Places,
    (given, option): (&Option<PathBuf>, &str),
    check: impl FnOnce(&Path) -> Result<Result<String, String>>,
) -> Line {
    // A name in a receipt is untrusted: only its last path segment is used, within this folder.
    let own = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let path = given.clone().unwrap_or_else(|| places.folder.join(own));
    let found = if path.is_file() {
        check(&path).unwrap_or_else(|error| Err(format!("{error:#}")))
    } else {
        Err(format!("there is no {}; say where it is with {option}", path.display()))
    };
    Line { name: name.to_owned(), found }
}

fn of_input(input: &Input, path: &Path) -> Result<Result<String, String>> {
    let Measured { size, sha256, .. } = measure(path)?;
    Ok(match &input.sha256 {
        _ if size != input.size => Err(format!("another file went in: {} bytes, and this one has {size}", input.size)),
        Some(expected) if *expected != sha256 => {
            Err(format!("another file went in: SHA-256 {expected}, and this one has {sha256}"))
        }
        Some(_) => Ok(format!("{size} bytes, SHA-256 {sha256}")),
        None => Ok(format!("{size} bytes; its SHA-256 is not known ({}), and was not compared", input.basis)),
    })
}

fn of_output(file: &Output, path: &Path) -> Result<Result<String, String>> {
    let Measured { size, sha256, rows } = measure_rows(path)?;
    let mut differs = Vec::new();
    let numbers = [("rows", file.rows, rows), ("bytes", file.size, size)];
    differs.extend(numbers.iter().filter(|(_, a, b)| a != b).map(|(what, a, b)| format!("{b} {what} in place of {a}")));
    if differs.is_empty() && sha256 != file.sha256 {
        differs.push(format!("as many rows and bytes, and other ones: SHA-256 {sha256} in place of {}", file.sha256));
    }
    Ok(if differs.is_empty() {
        Ok(format!("{rows} rows, {size} bytes, SHA-256 {sha256}"))
    } else {
        Err(differs.join(", "))
    })
}
