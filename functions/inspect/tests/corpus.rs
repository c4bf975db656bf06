//! The files of the corpus: what an inspection says of each, compared with what an independent reader says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use longshore::handler::AnyJobType;
use longshore::inspection::{Inspected, Inspection, Intended, inspect};
use longshore::job_types::builtin;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::Files;
use longshore_domain::records::{Form, Format, GivenReading};
use longshore_preparation::{Limits, Prepared, SheetChoice, convert};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Rows of a file that an inspection shows.
const SHOWN_ROWS: usize = 100;

/// The codes of rows that no import can read.
const UNREADABLE: [&str; 5] = ["too_few_cells", "too_many_cells", "not_utf8", "undecodable", "unterminated_quote"];

/// A file of the corpus, as `tests/files/README.md` describes it.
#[derive(Deserialize)]
struct Case {
    name: String,
    reading: Map<String, Value>,
    options: Map<String, Value>,
    expect: BTreeMap<String, Value>,
    columns: Vec<String>,
    rows: Vec<Row>,
    failing: Vec<Failing>,
    disagreements: Vec<Disagreement>,
    error: Option<String>,
}

#[derive(Clone, Eq, PartialEq, Debug, Deserialize)]
struct Row {
    row: u64,
    cells: Vec<String>,
}

#[derive(Deserialize)]
struct Failing {
    row: u64,
    code: String,
}

#[derive(Deserialize)]
struct Disagreement {
    row: u64,
    column: usize,
    ours: String,
}

/// What was read of a file.
struct Found {
    inspection: Inspection,
    prepared: Prepared,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        std::fs::read(folder().join(&self.name)).unwrap()
    }

    fn sheet(&self) -> SheetChoice {
        let name = self.reading.get("sheet").and_then(Value::as_str);
        name.map_or(SheetChoice::FirstVisible, |name| SheetChoice::Name(name.to_owned()))
    }

    /// Reads the file as an inspection does. Returns the code of its refusal, if it cannot be converted.
    async fn read(&self) -> Result<Found, String> {
        let (mut text, mut prepared) = (self.bytes(), Prepared::default());
        if let Some(form) = Form::detect(&text) {
            let mut converted = Vec::new();
            let convert = convert(form, Cursor::new(&text), &self.sheet(), &Limits::default(), &mut converted);
            prepared = convert.map_err(|error| error.code().unwrap_or("io").to_owned())?;
            text = converted;
        }
        let files = MemoryFiles::default();
        files.put("file", text);
        let info = files.info("file").await.unwrap().unwrap();
        let format = if self.is_json_lines() { Format::JsonLines } else { Format::Csv };
        let (size_bytes, etag, name) = (info.size_bytes, info.etag, self.name.clone());
        let source = SourceFile { key: "file".into(), size_bytes, etag, format, name, reading: None, original: None };
        let mut given = self.reading.clone();
        given.remove("sheet");
        let given: GivenReading = serde_json::from_value(given.into()).unwrap();
        let registry = builtin(MemoryRecords::default(), files.clone());
        let job_type = registry.find("import").unwrap();
        let mut inspection = found(inspect(&files, &source, given, None).await.unwrap());
        if let (None, Some(key)) = (&inspection.error, inspection.columns.first()) {
            let options = self.options(&key.name);
            let intended = Some(intended(job_type, &options));
            inspection = found(inspect(&files, &source, given, intended).await.unwrap());
        }
        match &inspection.error {
            Some(error) => Err(error.code.clone()),
            None => Ok(Found { inspection, prepared }),
        }
    }

    fn options(&self, key: &str) -> Value {
        let mut options = json!({ "dataset": "corpus", "key": key });
        options.as_object_mut().unwrap().extend(self.options.clone());
        options
    }

    fn is_json_lines(&self) -> bool {
        self.expect.get("format").is_some_and(|format| format == "jsonl")
    }

    /// The rows that are expected, with the cells that differ by design.
    fn rows(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        for Disagreement { row, column, ours } in &self.disagreements {
            let row = rows.iter_mut().find(|other| other.row == *row).unwrap();
            row.cells.resize(row.cells.len().max(*column), String::new());
            row.cells[*column - 1].clone_from(ours);
        }
        rows.iter_mut().for_each(|row| trim(&mut row.cells));
        rows.retain(|row| !row.cells.is_empty());
        rows.truncate(SHOWN_ROWS);
        rows
    }

    /// Returns what differs from the manifest.
    async fn differences(&self) -> Vec<String> {
        let Found { inspection, prepared } = match (self.read().await, &self.error) {
            (Ok(found), None) => found,
            (Ok(_), Some(error)) => return vec![format!("is read, and should be refused: {error}")],
            (Err(code), Some(error)) if *error == code => return Vec::new(),
            (Err(code), error) => return vec![format!("is refused as {code}, and should be {error:?}")],
        };
        let mut differences = Vec::new();
        let reading = json!(inspection.reading);
        for (name, expected) in &self.expect {
            let found = match name.as_str() {
                "encoding" | "delimiter" | "headerRow" | "quote" => &reading[name],
                "sheet" => &json!(prepared.sheet),
                _ => continue,
            };
            if found != expected {
                differences.push(format!("{name} is {found}, and should be {expected}"));
            }
        }
        let columns: Vec<_> = inspection.columns.iter().map(|column| column.name.clone()).collect();
        if columns != self.columns {
            differences.push(format!("the columns are {columns:?}, and should be {:?}", self.columns));
        }
        let sheet_rows = sheet_rows(&prepared);
        let above = sheet_rows.len() - sheet_rows.len().min(inspection.rows.len());
        let above = self.expect.get("headerRow").and_then(Value::as_u64).map_or(above, |row| row as usize);
        let rows = inspection.rows.iter().map(|found| {
            let mut cells = found.cells.clone();
            trim(&mut cells);
            let row = sheet_rows.get(above + found.number as usize - 1).copied().unwrap_or(found.number);
            Row { row, cells }
        });
        let rows: Vec<_> = rows.filter(|row| !row.cells.is_empty()).collect();
        let expected = self.rows();
        if rows.len() != expected.len() {
            differences.push(format!("{} rows are read, and there should be {}", rows.len(), expected.len()));
        }
        let different = rows.iter().zip(&expected).find(|(found, expected)| found != expected);
        if let Some((found, expected)) = different {
            differences.push(format!("found {found:?}\n    expected {expected:?}"));
        }
        for row in &inspection.rows {
            let found = row.problem.as_ref().map(|problem| problem.code.as_str());
            let found = found.filter(|code| UNREADABLE.contains(code));
            let failing = self.failing.iter().find(|failing| failing.row == row.number);
            let expected = failing.map(|failing| failing.code.as_str());
            if found != expected {
                differences.push(format!("row {} fails as {found:?}, and should as {expected:?}", row.number));
            }
        }
        differences
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/files"))
}

fn intended<'a>(job_type: &'a dyn AnyJobType, options: &'a Value) -> Intended<'a> {
    Intended { job_type, options, prepared: job_type.prepare(options).unwrap() }
}

fn trim(cells: &mut Vec<String>) {
    while cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
}

fn found(inspected: Inspected<'_>) -> Inspection {
    match inspected {
        Inspected::Found(inspection) => inspection,
        Inspected::Unprepared(form, _) => panic!("the file is still a {form:?}"),
    }
}

/// The numbers of the rows in the sheet.
fn sheet_rows(prepared: &Prepared) -> Vec<u64> {
    let (mut rows, mut last, mut step, mut shift) = (Vec::new(), 0, 0, 0);
    for byte in &prepared.row_steps {
        step |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            last += step;
            rows.push(last);
            (step, shift) = (0, 0);
        }
    }
    rows
}

#[tokio::test]
async fn every_file_is_read_as_an_independent_reader_reads_it() {
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(folder().join("corpus.json")).unwrap()).unwrap();
    assert!(cases.len() >= 200);
    let mut report = Vec::new();
    for case in &cases {
        let differences = case.differences().await;
        if !differences.is_empty() {
            report.push(format!("{}\n  {}", case.name, differences.join("\n  ")));
        }
    }
    assert!(report.is_empty(), "{} files of {}:\n{}", report.len(), cases.len(), report.join("\n"));
}
