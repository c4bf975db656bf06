//! The demo's last check: the receipt matches the input file and the report files.

use crate::api::{Api, Output};
use crate::receipt::{Comparison, Places, verify};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io;
use std::path::Path;

/// Downloads the receipt into the report's folder, and verifies it against the files.
pub(super) fn check(api: &Api, output: &Output, input: &Path, folder: &Path) -> Result<()> {
    let link = output.receipt.as_ref().context("the result has no receipt")?;
    let receipt = folder.join("receipt.json");
    io::copy(&mut api.download(&link.url, "fetching the receipt")?.into_reader(), &mut File::create(&receipt)?)?;
    let own = |name: &str| Some(folder.join(name));
    let places = Places {
        folder: folder.to_owned(),
        input: Some(input.to_owned()),
        failed: own("failed.csv"),
        skipped: own("skipped.csv"),
        unprocessed: own("unprocessed.csv"),
        ..Places::default()
    };
    let lines = verify(&receipt, &places)?;
    for line in &lines {
        if let Comparison::Different(differs) = &line.comparison {
            bail!("the receipt is not that of {}: {differs}", line.name);
        }
    }
    let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
    println!("✓ the receipt is that of the files: {}", names.join(", "));
    Ok(())
}
