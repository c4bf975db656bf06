//! Fuzz target for one record: its cells, its outcome as a row of an import, and its round trip through a report.
//!
//! The first byte gives the number of columns and the delimiter; the rest is the record.

use futures::FutureExt;
use longshore::failures_file::{Columns, CorrectedFile, Correction};
use longshore::formula::{harmless, original};
use longshore::handler::{CellReader, JobContext, Outcome, Outputs, RawItem, Registry, Shape};
use longshore::job_types::builtin;
use longshore_domain::ids::JobId;
use longshore_domain::outcome::Rejection;
use longshore_domain::records::{CellKind, Delimiter, Dialect, Format, csv_records};
use longshore_domain::tenant::TenantId;
use longshore_domain::work_file::{End, Entry};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Value, json};

use crate::oracle;

pub(crate) fn check(input: &[u8]) {
    let Some((parameters, bytes)) = input.split_first() else { return };
    let delimiter = [Delimiter::Comma, Delimiter::Semicolon, Delimiter::Tab][usize::from(parameters % 3)];
    let columns: Vec<_> = (0..usize::from(parameters / 3 % 5) + 1).map(|n| format!("c{n}")).collect();
    compare_with_oracle(delimiter, bytes);
    line(bytes);
    corrected(bytes, &columns);
    if let Some(span) = csv_records(Dialect::default(), bytes).next().filter(|span| !span.unterminated) {
        let record = span.content(bytes);
        imported(record, &columns);
        round_trip(record, &columns);
    }
}

/// Compares the cells of every record, read one after the other by one reader, with the oracle's.
fn compare_with_oracle(delimiter: Delimiter, bytes: &[u8]) {
    let dialect = Dialect { delimiter, ..Dialect::default() };
    let mut reader = CellReader::new(dialect);
    let spans = csv_records(dialect, bytes);
    let actual: Vec<Vec<_>> =
        spans.map(|span| reader.read(span.content(bytes)).encoded().map(<[u8]>::to_vec).collect()).collect();
    assert_eq!(actual, oracle::records(delimiter.byte(), bytes));
    for cell in actual.iter().flatten() {
        let shown = harmless(cell, b',');
        assert_eq!(&*original(&shown, b','), &cell[..], "{shown:?}");
        let first = shown.first().copied().unwrap_or_default();
        let number = || std::str::from_utf8(&shown).is_ok_and(|text| text.parse::<f64>().is_ok());
        assert!(!b"=@\t\r".contains(&first) && (!b"+-".contains(&first) || number()), "{shown:?} is a formula");
    }
}

fn outcome(shape: Shape<'_>, options: &Value) -> Outcome {
    let registry: Registry = builtin(MemoryRecords::default(), MemoryFiles::default());
    let import = registry.find("import").unwrap_or_else(|| panic!("the import job type is missing"));
    let import = import.prepare(options).unwrap_or_else(|errors| panic!("{errors:?}"));
    let job = JobContext {
        job_id: JobId::parse(&"1".repeat(32)).unwrap_or_else(JobId::generate),
        tenant: TenantId::from_static("t"),
        dataset: None,
        round: 0,
    };
    let items = [RawItem { number: 1, shape }];
    let outcomes = import.run(&job, &items, Outputs::Kept).now_or_never();
    outcomes.and_then(|mut processed| processed.outcomes.pop()).unwrap_or_else(|| panic!("a row without an outcome"))
}

/// Checks the import of a row: it succeeds if it has the header's cells, in UTF-8, and a key.
fn imported(record: &[u8], columns: &[String]) {
    let shape = Shape::Record { format: Format::Csv, columns, bytes: record, unterminated: false };
    let cells = oracle::records(b',', record).into_iter().next().unwrap_or_default();
    let key = cells.first().map_or(0, Vec::len);
    // Numbers and cells without a value in a prepared sheet.
    if cells.iter().any(|cell| CellKind::parse(cell).0 != CellKind::Text) {
        return;
    }
    let valid = std::str::from_utf8(record).is_ok() && cells.len() == columns.len() && (1..=1024).contains(&key);
    for mode in ["upsert", "insert", "delete", "validate"] {
        let outcome = outcome(shape, &json!({ "dataset": "d", "key": "c0", "mode": mode }));
        assert_eq!(outcome == Outcome::Ok(()), valid, "{mode}: {outcome:?}");
        assert!(valid || matches!(outcome, Outcome::Reject(_)), "{mode}: {outcome:?}");
    }
    let schema = json!({ "properties": { "c0": { "type": "integer" }, "c1": { "type": ["number", "boolean"] }, "c2": { "maxLength": 2 } } });
    let validated = outcome(shape, &json!({ "dataset": "d", "key": "c0", "schema": schema, "mode": "validate" }));
    assert!(valid || validated != Outcome::Ok(()), "a schema makes an invalid row valid");
    let is_integer = |cell: &Vec<u8>| {
        let text = String::from_utf8_lossy(cell);
        // Separators of groups, or one before no digit.
        let is_digit = |c: &char| !matches!(c, '.' | ',' | '\'' | '\u{2019}') && !c.is_whitespace();
        let digits: String = text.replace('\u{2212}', "-").chars().filter(is_digit).collect();
        digits.parse::<i128>().is_ok()
    };
    assert!(validated != Outcome::Ok(()) || is_integer(&cells[0]), "{:?} is not an integer", cells[0]);
}

/// Checks the import of a line: one that succeeds is an object with a key.
fn line(bytes: &[u8]) {
    let shape = Shape::Record { format: Format::JsonLines, columns: &[], bytes, unterminated: false };
    let outcome = outcome(shape, &json!({ "dataset": "d", "key": "id" }));
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let has_key = value["id"].is_boolean()
        || value["id"].is_i64()
        || value["id"].is_u64()
        || value["id"].as_str().is_some_and(|key| !key.is_empty());
    assert!(outcome != Outcome::Ok(()) || has_key, "{value}: {outcome:?}");
    let plain = value.as_object().is_some_and(|members| members.len() == 1 && value["id"].is_boolean());
    assert!(outcome == Outcome::Ok(()) || !plain, "{value}: {outcome:?}");
}

/// Checks the round trip of a failed row: its form in a report gives back the original record.
fn round_trip(record: &[u8], columns: &[String]) {
    // A corrected file that contains a NUL counts as binary, and is refused.
    let Some(raw) = std::str::from_utf8(record).ok().filter(|raw| !raw.contains('\0')) else { return };
    let mut cells = Vec::new();
    let read = oracle::records(b',', record).into_iter().next().unwrap_or_default();
    Columns::rectangular(columns.len(), read.iter().map(Vec::as_slice), &mut |cell| cells.push(cell.to_vec()));
    for delimiter in [b',', b';', b'\t'] {
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        let header =
            std::iter::once("row").chain(columns.iter().map(String::as_str)).chain(["code", "field", "message"]);
        let shown = cells.iter().map(|cell| harmless(cell, b',').into_owned());
        let row = std::iter::once(b"7".to_vec()).chain(shown).chain([b"code".to_vec(), Vec::new(), b"why".to_vec()]);
        let written = writer.write_record(header).and_then(|()| writer.write_record(row));
        let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
        let file = CorrectedFile::parse(bytes, Columns::Named(columns.to_vec()), 1 << 20);
        let file = file.unwrap_or_else(|error| panic!("a report cannot be read: {error}"));
        let Correction::As(correction) = file.correction(&entry(7, raw)) else { panic!("the row is not found") };
        assert_eq!(oracle::records(b',', correction.as_bytes()), [&cells[..]], "{correction:?}");
        assert_eq!(file.correction(&entry(8, raw)), Correction::Absent);
    }
}

fn entry(n: u64, raw: &str) -> Entry {
    Entry { n, end: End::Failed(Rejection::new("code", None, "why")), raw: raw.to_owned(), damaged: false }
}

/// Checks any bytes as a corrected file: it is refused, or each row gives one record with as many cells as columns.
fn corrected(bytes: &[u8], columns: &[String]) {
    let Ok(file) = CorrectedFile::parse(bytes.to_vec(), Columns::Named(columns.to_vec()), 1 << 20) else { return };
    for number in 0..20 {
        if let Correction::As(record) = file.correction(&entry(number, "")) {
            let records = oracle::records(b',', record.as_bytes());
            assert!(records.len() == 1 && records[0].len() == columns.len(), "{record:?}");
        }
    }
}
