//! The comparison of the results file and its index with a receipt.
//!
//! S3 assembles large files without a read, so the receipt has no SHA-256 of such a file. The index has one for each
//! slice of the file in order.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::check::{Comparison, compare_measured};
use super::document::{Results, Slice};
use super::measure::{HashingReader, Measurement, measure};

/// Compares the results file with the receipt, and with the index if the receipt has no SHA-256 of it.
pub(super) fn compare_results(results: &Results, path: &Path, index: Option<&Path>) -> Result<Comparison> {
    let Measurement { size, sha256, crc64nvme, .. } = measure(path)?;
    if size != results.size {
        return Ok(Comparison::Different(format!("{size} bytes instead of {}", results.size)));
    }
    if crc64nvme != results.crc64nvme {
        let expected = &results.crc64nvme;
        return Ok(Comparison::Different(format!(
            "the same number of bytes, but CRC-64/NVME {crc64nvme} instead of {expected}"
        )));
    }
    match (&results.sha256, index) {
        (Some(expected), _) if *expected != sha256 => {
            Ok(Comparison::Different(format!("the same number of bytes, but SHA-256 {sha256} instead of {expected}")))
        }
        (Some(_), _) => Ok(Comparison::Equal(format!("{size} bytes, SHA-256 {sha256}"))),
        (None, Some(index)) => compare_slices(path, index),
        (None, None) => {
            let text = "the receipt has no SHA-256 of this file, because S3 assembled it, and the index that has those \
                        of its slices is missing";
            Ok(Comparison::Different(text.to_owned()))
        }
    }
}

/// Compares each slice of the results file with its line of the index.
fn compare_slices(path: &Path, index: &Path) -> Result<Comparison> {
    let cannot_read = || format!("cannot read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(cannot_read)?);
    let (mut slices, mut position) = (0, 0);
    for slice in read_slices(BufReader::new(File::open(index)?)) {
        let Slice { bytes, sha256, .. } = slice.with_context(|| format!("cannot read {}", index.display()))?;
        let mut hash = Sha256::new();
        let copied =
            std::io::copy(&mut file.by_ref().take(bytes), &mut HashWriter(&mut hash)).with_context(cannot_read)?;
        let found = HEXLOWER.encode(&hash.finalize());
        if copied != bytes || found != sha256 {
            let text = format!("the {bytes} bytes from byte {position} on have SHA-256 {found} instead of {sha256}");
            return Ok(Comparison::Different(text));
        }
        (slices, position) = (slices + 1, position + bytes);
    }
    if file.fill_buf().with_context(cannot_read)?.is_empty() {
        return Ok(Comparison::Equal(format!("{position} bytes, SHA-256 of all {slices} slices")));
    }
    Ok(Comparison::Different(format!("more than the {position} bytes of the slices in the index")))
}

/// Compares the index with the receipt.
pub(super) fn compare_index(results: &Results, path: &Path) -> Result<Comparison> {
    let mut reader = BufReader::new(HashingReader::open(path)?);
    let (mut lines, mut rows) = (0, 0_u64);
    for slice in read_slices(&mut reader) {
        let slice = slice.with_context(|| format!("line {} of {} is no slice", lines + 1, path.display()))?;
        (lines, rows) = (lines + 1, rows.saturating_add(slice.rows));
    }
    let comparison = compare_measured(&results.index, &reader.into_inner().finish(lines));
    if rows != results.rows && matches!(comparison, Comparison::Equal(_)) {
        bail!("its slices have {rows} rows, but the results have {}", results.rows);
    }
    Ok(comparison)
}

fn read_slices(reader: impl BufRead) -> impl Iterator<Item = Result<Slice>> {
    reader.lines().map(|line| Ok(serde_json::from_str(&line?)?))
}

/// Adds what is written to a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
