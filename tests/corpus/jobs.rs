//! What jobs over each file write and report: a validation, an import, and the correction of failed rows.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::job::{Job, SourceFile, Status};
use longshore_domain::ports::Definition;
use longshore_domain::records::Format;
use serde_json::{Map, Value, json};

use crate::case::{Case, Row, assert_no_differences};
use crate::inspections::inspect;
use crate::services::{ReportedRow, Services};

/// The codes of rows without a key, and of those that are the same as another one.
const KEY_CODES: [&str; 3] = ["missing_key", "key_exists", "duplicate_key"];

/// The codes of rows that fail only because of other rows, which an inspection does not read.
const CODES_OF_OTHER_ROWS: [&str; 1] = ["duplicate_key"];

/// The prefix with which the keys of failed rows are corrected.
const NEW: &str = "new-";

/// The rows of a file, by their numbers in a job.
struct Expected {
    is_sheet: bool,
    rows: BTreeMap<u64, Vec<String>>,
    failing: BTreeMap<u64, String>,
}

impl Expected {
    /// Returns the rows of a case; those of a sheet by the order of their rows.
    fn new(case: &Case, is_sheet: bool) -> Self {
        let number = |index: usize, row: &Row| if is_sheet { index as u64 + 1 } else { row.row };
        let rows = case.counted_rows(is_sheet);
        let failing = case.failing.iter().map(|failing| (failing.row, failing.code.clone()));
        Self {
            is_sheet,
            rows: rows.iter().enumerate().map(|(index, row)| (number(index, row), row.cells.clone())).collect(),
            failing: rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.has_error)
                .map(|(index, row)| (number(index, row), "cell_error".to_owned()))
                .chain(failing)
                .collect(),
        }
    }
}

/// Differences from the manifest.
struct Report<'a> {
    case: &'a Case,
    found: Vec<String>,
}

impl Report<'_> {
    fn add(&mut self, difference: impl Into<String>) {
        self.found.push(difference.into());
    }

    /// Checks how a job has ended. Returns false if it was refused as it should be, or not.
    fn check_end(&mut self, what: &str, job: &Job) -> bool {
        let code = job.error.as_ref().map(|error| error.code.as_str());
        if code != self.case.error.as_deref() {
            self.add(format!("{what}: the job ended with {code:?}, and should with {:?}", self.case.error));
        }
        job.status == Status::Completed && self.case.error.is_none()
    }

    /// Checks the failed rows: those that no import can read, and those whose key is missing or taken.
    fn check_failed(&mut self, what: &str, expected: &Expected, failed: &[ReportedRow]) {
        for (row, code) in &expected.failing {
            let found = failed.iter().find(|failed| failed.number == *row).map(|failed| failed.code.as_str());
            if found != Some(code) {
                self.add(format!("{what}: row {row} fails as {found:?}, and should as {code}"));
            }
        }
        for row in failed.iter().filter(|row| !expected.failing.contains_key(&row.number)) {
            if !KEY_CODES.contains(&row.code.as_str()) {
                self.add(format!("{what}: row {} fails as {}", row.number, row.code));
            }
        }
    }

    /// Checks that an inspection shows what the validation has found: how the file is read, the notations of its columns,
    /// the issues, and the rows that fail.
    fn check_agreement(&mut self, inspection: &Value, checked: &Job, definition: &Definition, failed: &[ReportedRow]) {
        let file = checked.file();
        let sheet = file.and_then(|file| file.original.as_ref()).and_then(|original| original.sheet.clone());
        // A validation has the issue `no_rows`, an inspection shows none; and a job without rows keeps no reading.
        let has_rows = checked.split.item_count > 0;
        let codes = |issues: &Value| {
            let codes = issues.as_array().into_iter().flatten().map(|issue| issue["code"].clone());
            codes.filter(|code| has_rows || code != "no_rows").collect()
        };
        let (shown, found): (Vec<_>, Vec<_>) = (codes(&inspection["issues"]), codes(&json!(checked.issues)));
        let options = &inspection["request"]["options"];
        let reading = if has_rows { json!(file.and_then(|file| file.reading)) } else { inspection["reading"].clone() };
        for (what, shown, found) in [
            ("reading", &inspection["reading"], &reading),
            ("sheet", &inspection["prepared"]["sheet"], &json!(sheet)),
            ("notations", &options["notations"], &definition.options["notations"]),
            ("issues", &json!(shown), &json!(found)),
        ] {
            if shown != found {
                self.add(format!("the inspection shows the {what} {shown}, and the validation has {found}"));
            }
        }
        let codes: BTreeMap<u64, &str> = failed.iter().map(|row| (row.number, row.code.as_str())).collect();
        for row in inspection["rows"].as_array().into_iter().flatten() {
            let (number, shown) = (row["number"].as_u64().unwrap(), row["problem"]["code"].as_str());
            let found = codes.get(&number).copied().filter(|code| !CODES_OF_OTHER_ROWS.contains(code));
            if shown != found {
                self.add(format!(
                    "row {number} fails as {shown:?} in the inspection, and as {found:?} in the validation"
                ));
            }
        }
    }

    /// Checks the rows of the sheet that failed rows name.
    fn check_sheet_rows(&mut self, failed: &[ReportedRow]) {
        let rows = self.case.rows();
        for row in failed {
            let expected = rows.get(row.number as usize - 1).map(|row| row.row);
            if row.sheet_row != expected {
                self.add(format!(
                    "row {} is row {:?} of the sheet, and should be {expected:?}",
                    row.number, row.sheet_row
                ));
            }
        }
    }

    /// Checks the records of rows with a key of their own.
    fn check_records(&mut self, expected: &Expected, records: &BTreeMap<String, Map<String, Value>>) {
        let case = self.case;
        let keys = expected.rows.values().filter_map(|cells| cells.first());
        let mut counts = BTreeMap::<_, u32>::new();
        keys.for_each(|key| *counts.entry(key).or_default() += 1);
        let is_sheet = expected.is_sheet;
        for ((number, cells), row) in expected.rows.iter().zip(case.counted_rows(is_sheet)) {
            let is_own = |key: &&String| !key.is_empty() && counts[key] == 1 && !expected.failing.contains_key(number);
            let Some(key) = cells.first().filter(is_own) else { continue };
            let typed = case.values(row.row);
            let key = typed.and_then(|typed| typed.get(&case.columns[0])).map_or_else(|| key.clone(), text);
            let named = case.columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
            let mut record: Map<_, _> = named.map(|(name, cell)| (name.clone(), json!(cell))).collect();
            record.extend(typed.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
            record.retain(|_, value| !value.is_null());
            if !records.get(&key).is_some_and(|found| is_same(found, &record)) {
                self.add(format!("the record {key} is {:?},\n    and should be {record:?}", records.get(&key)));
                return;
            }
        }
    }
}

/// Compares records. A number is the same with and without a fraction of zero.
fn is_same(found: &Map<String, Value>, expected: &Map<String, Value>) -> bool {
    found.len() == expected.len()
        && found.iter().all(|(name, value)| match (value.as_f64(), expected.get(name).and_then(Value::as_f64)) {
            (Some(found), Some(expected)) => found == expected,
            _ => expected.get(name) == Some(value),
        })
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the failures file with another key in each row.
fn corrected(file: &[u8], key: usize) -> Vec<u8> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for (index, record) in reader.records().enumerate() {
        let record = record.unwrap();
        let cells = record.iter().enumerate().map(|(at, cell)| match index > 0 && at == key {
            true => format!("{NEW}{}", cell.strip_prefix('\'').unwrap_or(cell)),
            false => cell.to_owned(),
        });
        writer.write_record(cells).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The options of an import in this mode.
fn options(case: &Case, mode: &str) -> Value {
    let mut options = case.options();
    options["mode"] = json!(mode);
    options
}

fn numbers(rows: &[ReportedRow]) -> BTreeSet<u64> {
    rows.iter().map(|row| row.number).collect()
}

/// Validates the file. Returns the rows of an import, and the numbers of those that fail, unless the file is refused.
async fn check_validation(services: &Services, report: &mut Report<'_>) -> Option<(Expected, BTreeSet<u64>)> {
    let case = report.case;
    let checked = services.import(case, &options(case, "validate")).await;
    if !report.check_end("validation", &checked) {
        return None;
    }
    let expected = Expected::new(case, checked.file().is_some_and(SourceFile::is_sheet));
    let failed = services.failed(&checked);
    report.check_failed("validation", &expected, &failed);
    if checked.split.item_count != expected.rows.len() as u64 {
        report.add(format!("{} rows, and there should be {}", checked.split.item_count, expected.rows.len()));
    }
    let definition = services.definition(&checked).await;
    report.check_agreement(&inspect(case).await, &checked, &definition, &failed);
    if case.format() == Format::Csv && definition.columns.as_ref() != Some(&case.columns) {
        report.add(format!("the columns are {:?}", definition.columns));
    }
    Some((expected, numbers(&failed)))
}

/// Imports the file. The rows fail that fail in the validation.
async fn check_import(services: &Services, report: &mut Report<'_>, expected: &Expected, failing: &BTreeSet<u64>) {
    let case = report.case;
    let imported = services.import(case, &options(case, "upsert")).await;
    report.check_end("import", &imported);
    let failed = services.failed(&imported);
    report.check_failed("import", expected, &failed);
    if numbers(&failed) != *failing {
        report.add("other rows fail in the import than in the validation");
    }
    if case.format() == Format::Csv && !case.has_unknown_values() {
        let records = services.records().await;
        report.check_records(expected, &records);
    }
}

/// Inserts the rows, whose keys are all taken now, so every row fails.
async fn check_insert(services: &Services, report: &mut Report<'_>, expected: &Expected) -> Job {
    let inserted = services.import(report.case, &options(report.case, "insert")).await;
    report.check_end("insert", &inserted);
    let failed = services.failed(&inserted);
    if numbers(&failed) != expected.rows.keys().copied().collect() {
        report.add(format!("{} rows fail of {} that exist", failed.len(), expected.rows.len()));
    }
    if expected.is_sheet {
        report.check_sheet_rows(&failed);
    }
    inserted
}

/// Corrects the failed rows by other keys, if the keys are text.
async fn check_correction(services: &Services, report: &mut Report<'_>, expected: &Expected, inserted: &Job) {
    let case = report.case;
    let key = case.columns.first().map_or("", String::as_str);
    let has_typed_key = json!(case.options)["schema"]["properties"].get(key).is_some();
    if case.format() == Format::JsonLines || has_typed_key {
        return;
    }
    let Some(file) = services.failed_file(inserted) else { return };
    let again = services.correct(inserted, corrected(&file, 1 + usize::from(expected.is_sheet))).await;
    report.check_end("correction", &again);
    let stays = |row: &ReportedRow| row.code == "duplicate_key" || row.code == "cell_error";
    let left: Vec<_> = services.failed(&again).into_iter().filter(|row| !stays(row)).collect();
    if !left.is_empty() {
        report.add(format!("corrected rows fail: {left:?}"));
    }
}

/// Returns what differs from the manifest.
async fn differences(case: &Case) -> Vec<String> {
    let (services, mut report) = (Services::new(), Report { case, found: Vec::new() });
    if let Some((expected, failing)) = check_validation(&services, &mut report).await {
        check_import(&services, &mut report, &expected, &failing).await;
        let inserted = check_insert(&services, &mut report, &expected).await;
        check_correction(&services, &mut report, &expected, &inserted).await;
    }
    report.found
}

#[tokio::test]
async fn every_file_is_imported_and_corrected_as_an_independent_reader_reads_it() {
    assert_no_differences(differences).await;
}
