//! Workbooks, read back.

use std::io::Read;

use calamine::{Data, Reader, Xlsx};
use longshore_domain::results::{ResultColumn, ResultRow, ResultsForm};
use proptest::prelude::*;

use super::*;

/// Writes a workbook with sheets of so many rows.
fn bytes(form: &ResultsForm, sheet_rows: u32, lines: &str) -> Vec<u8> {
    let mut rows = ResultRows::new(form);
    let mut sheets = Sheets::with_sheet_rows(&mut rows, sheet_rows).unwrap();
    sheets.append(lines.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    sheets.save().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn read(bytes: Vec<u8>) -> Vec<(String, Vec<Vec<Data>>)> {
    let mut workbook = Xlsx::new(io::Cursor::new(bytes)).unwrap();
    let sheets = workbook.worksheets();
    sheets.into_iter().map(|(name, cells)| (name, cells.rows().map(<[_]>::to_vec).collect())).collect()
}

fn form(names: &[&str]) -> ResultsForm {
    let column = |name: &&str| ResultColumn { name: (*name).into(), heading: (*name).into() };
    ResultsForm { columns: names.iter().map(column).collect(), ..ResultsForm::default() }
}

fn text(text: &str) -> Data {
    Data::String(text.into())
}

#[test]
fn values_are_cells_of_their_type() {
    let line =
        r#"{"number":7,"output":{"a":"=1+1","b":1.5,"c":true,"d":null,"e":[1,{"x":"y"}],"f":" _x0041_ \u0001<&"}}"#;
    let sheets = read(bytes(&form(&["a", "b", "c", "d", "e", "f"]), 9, line));
    let header = ["number", "a", "b", "c", "d", "e", "f"].map(text).to_vec();
    let row = vec![
        Data::Float(7.0),
        text("=1+1"),
        Data::Float(1.5),
        Data::Bool(true),
        Data::Empty,
        text(r#"[1,{"x":"y"}]"#),
        text(" _x0041_ \u{1}<&"),
    ];
    assert_eq!(sheets, [("results".to_owned(), vec![header, row])]);
}

#[test]
fn an_output_without_columns_is_one_cell_of_json() {
    let sheets = read(bytes(&form(&[]), 9, "{\"number\":1,\"output\":\"=1\"}\n{\"number\":2,\"output\":12}\n"));
    let rows = [[text("number"), text("output")], [1.0.into(), text("\"=1\"")], [2.0.into(), text("12")]];
    assert_eq!(sheets[0].1, rows.map(|row| row.to_vec()));
}

#[test]
fn each_sheet_has_the_header_and_its_rows() {
    let plain = ResultsForm { row: ResultRow::Plain, ..form(&["n"]) };
    let lines: String = (1..=5).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    let numbers = |numbers: &[f64]| {
        [text("n")]
            .into_iter()
            .chain(numbers.iter().map(|n| Data::Float(*n)))
            .map(|cell| vec![cell])
            .collect::<Vec<_>>()
    };
    let expected =
        [("results", numbers(&[1.0, 2.0])), ("results 2", numbers(&[3.0, 4.0])), ("results 3", numbers(&[5.0]))];
    assert_eq!(read(bytes(&plain, 2, &lines)), expected.map(|(name, rows)| (name.to_owned(), rows)));
}

#[test]
fn the_file_has_no_time_of_its_own_so_the_same_rows_are_the_same_bytes() {
    let line = "{\"number\":1,\"output\":{\"a\":\"x\"}}\n";
    let first = bytes(&form(&["a"]), 9, line);
    assert_eq!(first, bytes(&form(&["a"]), 9, line));
    let mut archive = zip::ZipArchive::new(io::Cursor::new(first)).unwrap();
    let mut properties = String::new();
    archive.by_name("docProps/core.xml").unwrap().read_to_string(&mut properties).unwrap();
    assert_eq!(properties.matches("2000-01-01T00:00:00Z").count(), 2, "{properties}");
    for file in 0..archive.len() {
        assert_eq!(archive.by_index(file).unwrap().last_modified(), Some(zip::DateTime::DEFAULT));
    }
}

#[test]
fn a_text_that_no_cell_can_hold_does_not_fit() {
    for (length, fits) in [(32_767, true), (32_768, false)] {
        let (form, line) = (form(&["a"]), format!("{{\"number\":1,\"output\":{{\"a\":\"{}\"}}}}", "x".repeat(length)));
        assert_eq!(Sheets::new(&mut ResultRows::new(&form)).unwrap().append(line.as_bytes()).is_ok(), fits, "{length}");
    }
}

#[test]
fn a_number_is_text_if_it_would_be_changed() {
    for kept in [
        "0",
        "-0.0",
        "0e999999999999",
        "123456789012345",
        "-1.50",
        "0.000123456789012345",
        "1e300",
        "1E-300",
        "100000000000000000000",
    ] {
        assert!(matches!(cell(Some(kept)), Cell::Number(_)), "{kept}");
    }
    for changed in [
        "1234567890123456",
        "0.1000000000000000055",
        "1e999",
        "1e-999",
        "1e301",
        "1e99999999999",
        "12345678901234567890123",
    ] {
        assert_eq!(cell(Some(changed)), Cell::Text(changed.into()));
    }
}

proptest! {
    #[test]
    fn a_kept_number_has_the_same_digits_again(mantissa in -999_999_999_999_999_i64..=999_999_999_999_999, exponent in -280..280) {
        let json = format!("{mantissa}e{exponent}");
        let Cell::Number(number) = cell(Some(&json)) else { panic!("{json} is text") };
        let again = format!("{number:.14e}");
        let (digits, power) = again.split_once('e').unwrap();
        let digits: i64 = digits.replace('.', "").parse().unwrap();
        let (mut mantissa, mut power) = (mantissa, power.parse::<i32>().unwrap() - 14 - exponent);
        while mantissa != 0 && power < 0 {
            (mantissa, power) = (mantissa * 10, power + 1);
        }
        prop_assert_eq!(digits, mantissa, "{} {}", json, again);
    }

    #[test]
    fn a_text_is_read_back(text in any::<String>()) {
        let form = form(&["a"]);
        let line = serde_json::json!({ "number": 1, "output": { "a": text } }).to_string();
        let sheets = read(bytes(&form, 9, &line));
        let cell = &sheets[0].1[1].get(1).cloned().unwrap_or_default();
        let expected = if text.is_empty() { Data::Empty } else { Data::String(text) };
        prop_assert_eq!(cell, &expected);
    }
}
