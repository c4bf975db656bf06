//! The file of the smoke test: people, some with an age that is not a number.

use anyhow::Result;
use serde_json::json;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of rows.
pub(super) const ROWS: u32 = 200;
/// Every `BAD`th row is invalid.
const BAD: u32 = 20;

/// A unique name for dataset and user.
pub(super) fn fresh_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default();
    format!("smoke-{now}-{}", std::process::id())
}

/// Writes the file and its schema.
pub(super) fn write(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    fs::create_dir_all(folder)?;
    let mut text = String::from("id,name,age\n");
    for row in 1..=ROWS {
        let age = if row % BAD == 0 { "unknown".to_owned() } else { (20 + row % 60).to_string() };
        writeln!(text, "{row},Person {row},{age}")?;
    }
    let properties = json!({ "id": { "type": "string" }, "name": { "type": "string" }, "age": { "type": "integer" } });
    let schema = json!({ "type": "object", "required": ["id", "name", "age"], "properties": properties });
    let places = (folder.join("people.csv"), folder.join("people.schema.json"));
    fs::write(&places.0, text)?;
    fs::write(&places.1, schema.to_string())?;
    Ok(places)
}
