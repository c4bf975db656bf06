//! A file of the corpus, as `tests/files/README.md` describes it.

#![allow(clippy::unwrap_used, reason = "a wrong manifest fails the test")]
#![allow(dead_code, reason = "`tests/corpus` and `tests/flows` use different parts")]

use std::collections::BTreeMap;
use std::path::Path;

use longshore_domain::records::{Format, GivenReading, GivenSheet};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A file of the corpus.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Whether it is imported on the emulator, too.
    pub(crate) sample: bool,
    pub(crate) reading: Map<String, Value>,
    pub(crate) options: Map<String, Value>,
    pub(crate) expect: BTreeMap<String, Value>,
    pub(crate) columns: Vec<String>,
    rows: Vec<Row>,
    values: Vec<TypedRow>,
    pub(crate) failing: Vec<Failing>,
    disagreements: Vec<Disagreement>,
    pub(crate) error: Option<String>,
}

/// A row with its cells as text, without empty ones at the end.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) row: u64,
    pub(crate) cells: Vec<String>,
    /// True if a cell has no usable value.
    #[serde(default)]
    pub(crate) has_error: bool,
}

/// The typed values of a row.
#[derive(Deserialize)]
struct TypedRow {
    row: u64,
    values: Map<String, Value>,
}

/// A row that fails in every import.
#[derive(Deserialize)]
pub(crate) struct Failing {
    pub(crate) row: u64,
    pub(crate) code: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Disagreement {
    row: u64,
    column: usize,
    ours: String,
    #[serde(default)]
    is_error: bool,
}

impl Case {
    /// Reads the manifest.
    pub(crate) fn all() -> Vec<Self> {
        let cases: Vec<Self> = serde_json::from_slice(&std::fs::read(folder().join("corpus.json")).unwrap()).unwrap();
        assert!(cases.len() >= 500);
        cases
    }

    /// Returns the name of the file without its folder.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(folder().join(&self.name)).unwrap()
    }

    pub(crate) fn format(&self) -> Format {
        let is_json_lines = self.expect.get("format").is_some_and(|format| format == "jsonl");
        if is_json_lines { Format::JsonLines } else { Format::Csv }
    }

    pub(crate) fn sheet(&self) -> Option<GivenSheet> {
        self.reading.get("sheet").map(|sheet| serde_json::from_value(sheet.clone()).unwrap())
    }

    pub(crate) fn given(&self) -> GivenReading {
        let mut given = self.reading.clone();
        given.remove("sheet");
        serde_json::from_value(given.into()).unwrap()
    }

    /// The first column, which is the key of an import.
    pub(crate) fn key(&self) -> &str {
        self.columns.first().map_or("id", String::as_str)
    }

    /// The options of an import.
    pub(crate) fn options(&self) -> Value {
        let mut options = json!({ "dataset": "corpus", "key": self.key() });
        options.as_object_mut().unwrap().extend(self.options.clone());
        options
    }

    /// The rows that are expected, with the cells that differ by design.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        for Disagreement { row, column, ours, is_error } in &self.disagreements {
            let row = rows.iter_mut().find(|other| other.row == *row).unwrap();
            row.cells.resize(row.cells.len().max(*column), String::new());
            row.cells[*column - 1].clone_from(ours);
            row.has_error |= is_error;
        }
        rows.iter_mut().for_each(|row| trim(&mut row.cells));
        rows.retain(|row| !row.cells.is_empty() || row.has_error);
        rows
    }

    /// The rows that count in a job: those of quotes alone, too. A blank row of a sheet does not.
    pub(crate) fn counted_rows(&self, is_sheet: bool) -> Vec<Row> {
        if is_sheet { self.rows() } else { self.rows.clone() }
    }

    /// Returns true if the manifest has values with types.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns true if properties have types, and the manifest does not have their values.
    pub(crate) fn has_unknown_values(&self) -> bool {
        self.options.contains_key("schema") && !self.has_values()
    }

    /// The typed values of a row.
    pub(crate) fn values(&self, row: u64) -> Option<&Map<String, Value>> {
        self.values.iter().find(|typed| typed.row == row).map(|typed| &typed.values)
    }
}

/// Compares each file with the manifest, and fails with the differences of all files.
pub(crate) async fn assert_no_differences(check: impl AsyncFn(&Case) -> Vec<String>) {
    let (cases, mut report) = (Case::all(), Vec::new());
    for case in &cases {
        let differences = check(case).await;
        if !differences.is_empty() {
            report.push(format!("{}\n  {}", case.name, differences.join("\n  ")));
        }
    }
    assert!(report.is_empty(), "{} files of {}:\n{}", report.len(), cases.len(), report.join("\n"));
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/files"))
}

/// Removes the empty cells at the end of a row.
pub(crate) fn trim(cells: &mut Vec<String>) {
    while cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
}
