//! The last check of an import: the receipt matches the input file and the report files.

use crate::api::{Api, Output};
use crate::receipt::{Comparison, Paths, verify};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io;
use std::path::Path;

/// Downloads the receipt into the report's folder and verifies it against the files.
pub(super) fn check(api: &Api, output: &Output, input: &Path, folder: &Path) -> Result<()> {
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
        if let Comparison::Different(reason) = &line.comparison {
            bail!("{} does not match the receipt: {reason}", line.name);
        }
    }
    let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
    println!("✓ the receipt matches the files: {}", names.join(", "));
    Ok(())
}
