//! Options and output of `verify-receipt`.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::check::{Comparison, Paths, verify};

/// Options of `verify-receipt`.
#[derive(clap::Args)]
pub struct Options {
    /// The receipt of a job, such as `receipt.json`
    receipt: PathBuf,
    /// Folder of the files without an option below [default: the receipt's folder]
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
    /// The results file
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// The index of the results
    #[arg(long, value_name = "FILE")]
    results_index: Option<PathBuf>,
}

/// Runs the command: prints a line for each file, and fails if a file differs.
///
/// # Errors
/// If a file differs, or the receipt cannot be read.
pub fn run(options: &Options) -> Result<()> {
    let default_folder = options.receipt.parent().map(PathBuf::from).unwrap_or_default();
    let paths = Paths {
        folder: options.folder.clone().unwrap_or(default_folder),
        input: options.input.clone(),
        corrected: options.corrected.clone(),
        failed: options.failed.clone(),
        skipped: options.skipped.clone(),
        unprocessed: options.unprocessed.clone(),
        results: options.results.clone(),
        results_index: options.results_index.clone(),
    };
    let lines = verify(&options.receipt, &paths)?;
    let mut different = 0;
    for line in &lines {
        match &line.comparison {
            Comparison::Equal(measurements) => println!("✓ {}: {measurements}", line.name),
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
