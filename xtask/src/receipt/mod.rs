//! `verify-receipt`: verifies a job's receipt against the files that it names, offline.
//!
//! | file | content |
//! | --- | --- |
//! | `document` | the receipt |
//! | `measure` | measurements of a local file |
//! | `check` | the comparison of both |

mod check;
mod document;
mod measure;
#[cfg(test)]
mod tests;

use anyhow::{Result, bail};
use document::Receipt;
use std::path::{Path, PathBuf};

/// Options of `verify-receipt`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The receipt of a job: `receipt.json`, or the name that it was downloaded under
    receipt: PathBuf,
    /// Folder of the files that have no option here [default: the receipt's folder]
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The input file
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The corrected failures file of the retry
    #[arg(long, value_name = "FILE")]
    corrected: Option<PathBuf>,
    /// The file of failed items
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
    /// The file of skipped items
    #[arg(long, value_name = "FILE")]
    skipped: Option<PathBuf>,
    /// The file of unprocessed items
    #[arg(long, value_name = "FILE")]
    unprocessed: Option<PathBuf>,
}

/// Locations of the files: explicit paths, and the folder of all others.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) folder: PathBuf,
    pub(crate) input: Option<PathBuf>,
    pub(crate) corrected: Option<PathBuf>,
    pub(crate) failed: Option<PathBuf>,
    pub(crate) skipped: Option<PathBuf>,
    pub(crate) unprocessed: Option<PathBuf>,
}

/// Runs the command: prints a line for each file, and fails if one of them differs.
pub(crate) fn run(options: &Options) -> Result<()> {
    let here = options.receipt.parent().unwrap_or(Path::new("")).to_owned();
    let places = Places {
        folder: options.folder.clone().unwrap_or(here),
        input: options.input.clone(),
        corrected: options.corrected.clone(),
        failed: options.failed.clone(),
        skipped: options.skipped.clone(),
        unprocessed: options.unprocessed.clone(),
    };
    let lines = verify(&options.receipt, &places)?;
    let mut wrong = 0;
    for line in &lines {
        match &line.found {
            Ok(found) => println!("✓ {}: {found}", line.name),
            Err(differs) => {
                wrong += 1;
                println!("✗ {}: {differs}", line.name);
            }
        }
    }
    if wrong > 0 {
        bail!("{wrong} of {} files are not those of the receipt", lines.len());
    }
    Ok(())
}

/// Verifies a receipt against the files. Returns a line for each.
///
/// # Errors
/// If the file is not a receipt, or its numbers are inconsistent.
pub(crate) fn verify(receipt: &Path, places: &Places) -> Result<Vec<check::Line>> {
    Ok(check::lines(&Receipt::read(receipt)?, places))
}
