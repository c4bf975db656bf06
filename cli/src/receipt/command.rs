//! Options and output of `verify-receipt`.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::check::{Comparison, Places, verify};

/// Options of `verify-receipt`.
#[derive(clap::Args)]
pub struct Options {
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

/// Runs the command: prints a line for each file, and fails if one of them differs.
///
/// # Errors
/// If a file differs, or the receipt cannot be read.
pub fn run(options: &Options) -> Result<()> {
    let here = options.receipt.parent().map(PathBuf::from).unwrap_or_default();
    let places = Places {
        folder: options.folder.clone().unwrap_or(here),
        input: options.input.clone(),
        corrected: options.corrected.clone(),
        failed: options.failed.clone(),
        skipped: options.skipped.clone(),
        unprocessed: options.unprocessed.clone(),
    };
    let lines = verify(&options.receipt, &places)?;
    let mut different = 0;
    for line in &lines {
        match &line.comparison {
            Comparison::Equal(description) => println!("✓ {}: {description}", line.name),
            Comparison::Different(reason) => {
                different += 1;
                println!("✗ {}: {reason}", line.name);
            }
        }
    }
    if different > 0 {
        bail!("{different} of {} files differ from the receipt", lines.len());
    }
    Ok(())
}
