//! Expected outcome of each row of a file, as documented.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::case::{File, Format, Run, Work};
use super::reading::{Input, Row};

/// Maximum size of a key.
const KEY_BYTES: usize = 1024;
/// Maximum size of a record: names and values together. No file of the corpus has a record of nearly that size.
const RECORD_BYTES: usize = 400 << 10;

/// Expected outcome of a row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expected {
    /// The row succeeds. An imported row leaves this record under this key.
    Succeeds(Option<(String, Value)>),
    Fails,
    IsSkipped,
    /// The row stops the job: it is failed, or unprocessed.
    Stops,
}

/// The expected outcome of every row, regardless of other rows.
pub(super) fn expectations(run: &Run<'_>, input: &Input) -> Vec<Expected> {
    let expected = |(row, number): (&Row, u64)| match (run.work, run.file.format) {
        (Work::Probe, _) => probed(input, row),
        (_, Format::Csv) => imported(input, row),
        (_, Format::JsonLines) => line(run.file, row, number),
    };
    input.rows.iter().zip(1..).map(expected).collect()
}

fn is_damaged(input: &Input, row: &Row) -> bool {
    !row.is_readable() || row.cells.len() != input.columns.len()
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}

/// The outcome that a row of the probe names.
fn probed(input: &Input, row: &Row) -> Expected {
    let action = input.columns.iter().position(|name| name == "action").and_then(|column| row.cells.get(column));
    if is_damaged(input, row) {
        return Expected::Fails;
    }
    match action.map(Vec::as_slice) {
        Some(b"ok" | b"retry") => Expected::Succeeds(None),
        Some(b"skip") => Expected::IsSkipped,
        Some(b"fatal") => Expected::Stops,
        _ => Expected::Fails,
    }
}

/// The first column is the key; an empty cell is an absent property.
fn imported(input: &Input, row: &Row) -> Expected {
    let bytes = row.cells.iter().map(Vec::len).sum::<usize>();
    if is_damaged(input, row) || row.cells[0].is_empty() || row.cells[0].len() > KEY_BYTES || bytes > RECORD_BYTES {
        return Expected::Fails;
    }
    let cells = input.columns.iter().zip(&row.cells).filter(|(_, cell)| !cell.is_empty());
    let record: Map<_, _> = cells.map(|(name, cell)| (name.clone(), json!(text(cell)))).collect();
    Expected::Succeeds(Some((text(&row.cells[0]), Value::Object(record))))
}

fn line(file: &File, row: &Row, number: u64) -> Expected {
    if file.bad_lines.contains(&number) {
        return Expected::Fails;
    }
    let record: Value = serde_json::from_slice(&row.cells[0]).unwrap_or_default();
    let key = record["id"].as_str().map_or_else(|| record["id"].to_string(), str::to_owned);
    Expected::Succeeds(Some((key, record)))
}

/// Rows that succeed regardless of other rows, by key, in their order.
pub(super) fn by_key(expectations: &[Expected]) -> BTreeMap<&str, Vec<(u64, &Value)>> {
    let mut keys: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (expected, number) in expectations.iter().zip(1..) {
        if let Expected::Succeeds(Some((key, record))) = expected {
            keys.entry(key.as_str()).or_default().push((number, record));
        }
    }
    keys
}
