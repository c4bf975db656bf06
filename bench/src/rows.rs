//! The benchmark's input files: rows of five columns and exactly 100 bytes, identical in every run.
//!
//! The rows are of average difficulty: an integer, two strings, a decimal and a time. The schema checks the type of
//! each, and one limit, pattern or format. No field is quoted.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The header row.
pub(crate) const COLUMNS: &str = "id,name,email,amount,created";

/// Bytes of a row, including its line break.
pub(crate) const ROW_BYTES: usize = 100;

/// The schema of every row.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "minimum": 1 },
            "name": { "type": "string", "minLength": 1, "maxLength": 60 },
            "email": { "type": "string", "pattern": "^[^@ ]+@[^@ ]+\\.[a-z]+$" },
            "amount": { "type": "number", "minimum": 0 },
            "created": { "type": "string", "format": "date-time" }
        },
        "required": ["id", "name", "email", "amount", "created"]
    })
}

/// Writes a header and `rows` rows, of which every `bad_every`th fails validation (none if 0). Returns the size in
/// bytes.
pub(crate) fn write(path: &Path, rows: u64, bad_every: u64) -> Result<u64> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    writeln!(out, "{COLUMNS}")?;
    for n in 1..=rows {
        let bad = bad_every > 0 && n % bad_every == 0;
        out.write_all(row(n, bad).as_bytes())?;
    }
    let file = out.into_inner().map_err(|error| error.into_error())?;
    Ok(file.metadata()?.len())
}

/// Row `n`, from 1. A bad row has a negative amount.
fn row(n: u64, bad: bool) -> String {
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let (cents, minute) = (mixed % 9_999_999, mixed % 1_440);
    let (sign, day) = (if bad { "-" } else { "" }, 1 + mixed % 28);
    let (hour, minute) = (minute / 60, minute % 60);
    let first = format!("{},Ada Lovelace", 10_000_000 + n);
    let rest = format!(
        ",customer-{n:08}@mail.example.com,{sign}{}.{:02},2026-03-{day:02}T{hour:02}:{minute:02}:00Z\n",
        10 + cents / 100,
        cents % 100
    );
    // The name fills the space that the decimal leaves.
    let filling = ROW_BYTES.saturating_sub(first.len() + rest.len());
    format!("{first}{:x>filling$}{rest}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_hundred_bytes_and_five_cells() {
        for n in [1, 2, 999, 123_456, 10_000_000] {
            for bad in [false, true] {
                let row = row(n, bad);
                assert_eq!((row.len(), row.matches(',').count()), (ROW_BYTES, 4), "{row}");
                assert_eq!(row.contains(",-"), bad);
            }
        }
    }

    #[test]
    fn the_rows_are_the_same_in_every_run() {
        assert_eq!(row(7, false), row(7, false));
        assert_ne!(row(7, false).get(20..), row(8, false).get(20..));
    }
}
