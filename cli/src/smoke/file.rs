//! The file of the smoke test: people, some with an age that is not a number.

use crate::import::Expected;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of rows.
pub(super) const ROWS: u64 = 200;
/// Every `BAD`th row is invalid.
const BAD: u64 = 20;

/// A unique name for dataset and user.
pub(super) fn fresh_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default();
    format!("smoke-{now}-{}", std::process::id())
}

/// Returns what an import of the file must come to.
pub(super) fn expected() -> Expected {
    let (invalid, valid): (BTreeSet<u64>, BTreeSet<u64>) = (1..=ROWS).partition(|row| is_bad(*row));
    Expected { items: ROWS, invalid, keys: valid.iter().map(u64::to_string).collect() }
}

fn is_bad(row: u64) -> bool {
    row.is_multiple_of(BAD)
}

/// Writes the file and its schema.
pub(super) fn write(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let mut text = String::from("id,name,age\n");
    for row in 1..=ROWS {
        let age = if is_bad(row) { "unknown".to_owned() } else { (20 + row % 60).to_string() };
        writeln!(text, "{row},Person {row},{age}")?;
    }
    let properties = json!({ "id": { "type": "string" }, "name": { "type": "string" }, "age": { "type": "integer" } });
    let schema = json!({ "type": "object", "required": ["id", "name", "age"], "properties": properties });
    let places = (folder.join("people.csv"), folder.join("people.schema.json"));
    fs::write(&places.0, text)?;
    fs::write(&places.1, schema.to_string())?;
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_whose_age_is_no_integer_are_those_that_must_fail() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut rows = csv::Reader::from_path(write(folder.path())?.0)?;
        let (mut found, mut row) = (Expected { items: 0, invalid: BTreeSet::new(), keys: BTreeSet::new() }, 0);
        for cells in rows.records() {
            let cells = cells?;
            row += 1;
            if cells[2].parse::<u32>().is_ok() {
                found.keys.insert(cells[0].to_owned());
            } else {
                found.invalid.insert(row);
            }
        }
        assert_eq!(Expected { items: row, ..found }, expected());
        assert_eq!(expected().invalid.len(), 10);
        Ok(())
    }
}
