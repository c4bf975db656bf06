//! The benchmark's input files: rows of five columns and exactly 100 bytes, identical in every run.
//!
//! A row has an integer, two strings, a decimal and a time. The schema checks the type of each column, and one limit,
//! pattern or format. No field is quoted.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The header row.
const COLUMNS: &str = "id,name,email,amount,created";

/// Size of a row in bytes, including its line break.
const ROW_BYTES: usize = 100;

/// Returns the schema of the rows.
#[must_use]
pub fn schema() -> Value {
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

/// Writes a file of `rows` rows; see [`write_to`]. Returns the size in bytes.
pub(crate) fn write(path: &Path, rows: u64, bad_every: u64) -> Result<u64> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    write_to(&mut writer, rows, bad_every)?;
    let file = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(file.metadata()?.len())
}

/// Writes a header and `rows` rows. Every `bad_every`th row fails validation, or none if it is 0.
///
/// # Errors
/// Those of the writer.
pub fn write_to(writer: &mut impl Write, rows: u64, bad_every: u64) -> std::io::Result<()> {
    writeln!(writer, "{COLUMNS}")?;
    for n in 1..=rows {
        let validity = if bad_every > 0 && n % bad_every == 0 { Validity::Invalid } else { Validity::Valid };
        writer.write_all(row(n, validity).as_bytes())?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Validity {
    Valid,
    /// The amount is negative.
    Invalid,
}

/// Returns row `n`, counted from 1.
fn row(n: u64, validity: Validity) -> String {
    let hash = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let (cents, minute) = (hash % 9_999_999, hash % 1_440);
    let (sign, day) = (if validity == Validity::Invalid { "-" } else { "" }, 1 + hash % 28);
    let (hour, minute) = (minute / 60, minute % 60);
    let start = format!("{},Ada Lovelace", 10_000_000 + n);
    let end = format!(
        ",customer-{n:08}@mail.example.com,{sign}{}.{:02},2026-03-{day:02}T{hour:02}:{minute:02}:00Z\n",
        10 + cents / 100,
        cents % 100
    );
    // The name is padded, because the length of the amount varies.
    let padding = ROW_BYTES.saturating_sub(start.len() + end.len());
    format!("{start}{:x>padding$}{end}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_hundred_bytes_and_five_cells() {
        for n in [1, 2, 999, 123_456, 10_000_000] {
            for validity in [Validity::Valid, Validity::Invalid] {
                let row = row(n, validity);
                assert_eq!((row.len(), row.matches(',').count()), (ROW_BYTES, 4), "{row}");
                assert_eq!(row.contains(",-"), validity == Validity::Invalid);
            }
        }
    }

    #[test]
    fn the_rows_are_the_same_in_every_run() {
        let row = |n| row(n, Validity::Valid);
        assert_eq!(row(7), row(7));
        assert_ne!(row(7).get(20..), row(8).get(20..));
    }
}
