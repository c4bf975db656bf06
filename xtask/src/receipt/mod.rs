//! `verify-receipt`: holds a job's receipt against the files that it names, on this machine alone.
//!
//! | file | holds |
//! | --- | --- |
//! | `document` | the receipt |
//! | `measure` | what a file on this machine is |
//! | `check` | the one held against the other |

mod check;
mod document;
mod measure;
#[cfg(test)]
mod tests;

use anyhow::{Result, bail};
use document::Receipt;
use std::path::{Path, PathBuf};

/// What `verify-receipt` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The receipt of a job: `receipt.json`, or the name that it was downloaded under
    receipt: PathBuf,
    /// Folder of the files that are not named here [default: that of the receipt]
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The file that went in
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The corrected failures file of the retry
    #[arg(long, value_name = "FILE")]
    corrected: Option<PathBuf>,
    /// The items that failed
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
    /// The items that were skipped
    #[arg(long, value_name = "FILE")]
    skipped: Option<PathBuf>,
    /// The items that were not processed
    #[arg(long, value_name = "FILE")]
    unprocessed: Option<PathBuf>,
}

/// Where the files are: each that is named, and the folder of all others.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) folder: PathBuf,
    pub(crate) input: Option<PathBuf>,
    pub(crate) corrected: Option<PathBuf>,
    pub(crate) failed: Option<PathBuf>,
    pub(crate) skipped: Option<PathBuf>,
    pub(crate) unprocessed: Option<PathBuf>,
}

/// The command: a line for each file, and an error if one of them differs.
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

/// Holds a receipt against the files: a line for each.
///
/// # Errors
/// If it is no receipt, or contradicts itself.
pub(crate) fn verify(receipt: &Path, places: &Places) -> Result<Vec<check::Line>> {
    Ok(check::lines(&Receipt::read(receipt)?, places))
}
