//! The records of the export: three texts, and exactly 100 bytes of JSON, identical in every run.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The property that is the key.
pub(crate) const KEY: &str = "id";

/// Bytes of a record as JSON, without its line break.
const RECORD_BYTES: usize = 100;

/// Writes a file of JSON Lines with this many records. Returns the size in bytes.
pub(crate) fn write(path: &Path, records: u64) -> Result<u64> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    for n in 1..=records {
        writeln!(writer, "{}", record(n))?;
    }
    let file = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(file.metadata()?.len())
}

/// Returns record `n`.
fn record(n: u64) -> String {
    let start = format!(r#"{{"email":"customer-{n:08}@mail.example.com","id":"{n:08}","name":"Ada Lovelace"#);
    let padding = RECORD_BYTES.saturating_sub(start.len() + 2);
    format!(r#"{start}{:x>padding$}"}}"#, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_has_a_hundred_bytes_and_its_key() -> Result<()> {
        for n in [1, 999, 200_000] {
            let record = record(n);
            assert_eq!(record.len(), RECORD_BYTES, "{record}");
            let value: serde_json::Value = serde_json::from_str(&record)?;
            assert_eq!(value[KEY], format!("{n:08}"));
        }
        Ok(())
    }
}
