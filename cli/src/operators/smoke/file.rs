//! The file that the smoke test imports: people, some of them with an age that is not a number.

use crate::operators::cleanup_process;
use crate::verified_import::Expected;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Number of rows.
pub(super) const ROWS: u64 = 200;
/// Every `INVALID_EVERY`th row is invalid.
const INVALID_EVERY: u64 = 20;

/// Returns a unique name for the dataset and the user.
pub(super) fn unique_name() -> String {
    cleanup_process::unique_name("smoke")
}

/// Returns the expected result of the import.
pub(super) fn expected() -> Expected {
    let (invalid, valid): (BTreeSet<u64>, BTreeSet<u64>) = (1..=ROWS).partition(|row| is_invalid(*row));
    Expected { items: ROWS, invalid, keys: valid.iter().map(u64::to_string).collect() }
}

fn is_invalid(row: u64) -> bool {
    row.is_multiple_of(INVALID_EVERY)
}

/// Writes the file and its schema. Returns their paths.
pub(super) fn write(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let mut text = String::from("id,name,age\n");
    for row in 1..=ROWS {
        let age = if is_invalid(row) { "unknown".to_owned() } else { (20 + row % 60).to_string() };
        writeln!(text, "{row},Person {row},{age}")?;
    }
    let properties = json!({ "id": { "type": "string" }, "name": { "type": "string" }, "age": { "type": "integer" } });
    let schema = json!({ "type": "object", "required": ["id", "name", "age"], "properties": properties });
    let (rows_path, schema_path) = (folder.join("people.csv"), folder.join("people.schema.json"));
    fs::write(&rows_path, text)?;
    fs::write(&schema_path, schema.to_string())?;
    Ok((rows_path, schema_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_rows_whose_age_is_not_an_integer_must_fail() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut rows = csv::Reader::from_path(write(folder.path())?.0)?;
        let (mut actual, mut row) = (Expected { items: 0, invalid: BTreeSet::new(), keys: BTreeSet::new() }, 0);
        for cells in rows.records() {
            let cells = cells?;
            row += 1;
            if cells[2].parse::<u32>().is_ok() {
                actual.keys.insert(cells[0].to_owned());
            } else {
                actual.invalid.insert(row);
            }
        }
        assert_eq!(Expected { items: row, ..actual }, expected());
        assert_eq!(expected().invalid.len(), 10);
        Ok(())
    }
}
