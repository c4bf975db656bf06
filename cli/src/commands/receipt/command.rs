//! Options and output of `verify-receipt`.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::check::{Comparison, Line, Paths, verify};

/// The exit codes, for `--help`.
const CODES: &str = "Exit codes: 0 every file matches the receipt, 1 a file differs, is missing or has no checksum in the \
receipt, or the receipt cannot be read, 2 wrong usage.";

/// Options of `verify-receipt`.
#[derive(clap::Args, Default)]
#[command(after_help = CODES)]
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
    /// Accept an input of which the receipt has no checksum, so that only its size is compared
    #[arg(long)]
    allow_unknown: bool,
}

/// Runs the command: prints a line for each file, and fails unless all files match.
///
/// # Errors
/// If a file differs or is not verified, or the receipt cannot be read.
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
    for Line { name, comparison } in &lines {
        match comparison {
            Comparison::Equal(measurements) => println!("✓ {name}: {measurements}"),
            Comparison::Unverified(reason) => println!("? {name}: {reason}"),
            Comparison::Different(reason) => println!("✗ {name}: {reason}"),
        }
    }
    options.conclude(&lines)
}

impl Options {
    /// Returns the result of the comparisons.
    ///
    /// # Errors
    /// If a file differs, or is not verified and that is not accepted.
    fn conclude(&self, lines: &[Line]) -> Result<()> {
        let count = |is: fn(&Comparison) -> bool| lines.iter().filter(|line| is(&line.comparison)).count();
        let different = count(|comparison| matches!(comparison, Comparison::Different(_)));
        if different > 0 {
            bail!("{different} of {} files differ from the receipt", lines.len());
        }
        let unverified = count(|comparison| matches!(comparison, Comparison::Unverified(_)));
        if unverified > 0 && !self.allow_unknown {
            bail!(
                "{unverified} of {} files are not verified: the receipt has no checksum of them, so only the size was \
                 compared; --allow-unknown accepts that",
                lines.len()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_verified_is_an_error_unless_it_is_accepted() {
        let line = |comparison: fn(String) -> Comparison| Line { name: "a".into(), comparison: comparison("b".into()) };
        let equal = || line(Comparison::Equal);
        let unverified = [equal(), line(Comparison::Unverified)];
        let different = [equal(), line(Comparison::Unverified), line(Comparison::Different)];
        let (strict, lenient) = (Options::default(), Options { allow_unknown: true, ..Options::default() });
        let error = |options: &Options, lines: &[Line]| options.conclude(lines).unwrap_err().to_string();
        assert!(strict.conclude(&[equal()]).is_ok() && lenient.conclude(&unverified).is_ok());
        assert!(error(&strict, &unverified).starts_with("1 of 2 files are not verified: the receipt has no checksum"));
        for options in [&strict, &lenient] {
            assert_eq!(error(options, &different), "1 of 3 files differ from the receipt");
        }
    }
}
