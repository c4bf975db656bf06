//! Conversion of rows and lines to records.

use longshore_domain::records::CellKind;
use longshore_tabular::{DateOrder, NumberNotation};
use serde_json::{Value, json};

use super::super::options::ImportOptions;
use super::{Row, read};
use crate::handler::{CellReader, Record, Rejection};

fn options(mode: &str, schema: Value) -> ImportOptions {
    let options = json!({"dataset": "d", "key": "id", "mode": mode, "schema": schema});
    let options: ImportOptions = serde_json::from_value(options).unwrap();
    assert_eq!(options.check(), []);
    options
}

pub(super) fn row(options: &ImportOptions, header: &str, row: &str) -> Result<Row, Rejection> {
    let columns: Vec<String> = header.split(',').map(str::to_owned).collect();
    let mut reader = CellReader::default();
    read(options, &Record::row(&columns, row.as_bytes(), reader.read(row.as_bytes()))?)
}

pub(super) fn line(options: &ImportOptions, line: &str) -> Result<Row, Rejection> {
    read(options, &Record::Line(line.as_bytes()))
}

pub(super) fn rejection(result: Result<Row, Rejection>) -> (String, Option<String>) {
    let rejection = result.unwrap_err();
    (rejection.code, rejection.field)
}

#[test]
fn a_row_becomes_an_object_by_header() {
    let schema = json!({"properties": {"age": {"type": "integer"}, "vip": {"type": "boolean"}}});
    let read = row(&options("upsert", schema), "id,age,vip,note,", "007,42,TRUE,,lost").unwrap();
    assert_eq!(read.key, "007");
    assert_eq!(Value::Object(read.data), json!({"id": "007", "age": 42, "vip": true}));
}

#[test]
fn without_a_schema_every_cell_is_text() {
    let read = row(&options("upsert", Value::Null), "id,n", "1,2").unwrap();
    assert_eq!(Value::Object(read.data), json!({"id": "1", "n": "2"}));
}

#[test]
fn escaped_formulas_are_restored_in_cells_and_names() {
    let of = |formulas: &str| -> ImportOptions {
        serde_json::from_value(json!({"dataset": "d", "key": "=id", "formulas": formulas})).unwrap()
    };
    let cells = ["=1+1", "+a", "-b", "@c", "\t=d", "\re", "a;=b", "'=f", "-5", "plain", "'quoted'"];
    let header: String = (0..cells.len()).map(|n| format!(",c{n}")).collect();
    let escaped =
        cells.map(|cell| format!(",\"{}\"", String::from_utf8_lossy(&crate::formula::harmless(cell.as_bytes(), b','))));
    let read = row(&of("escaped"), &format!("'=id{header}"), &format!("'=k{}", escaped.concat())).unwrap();
    let values: Vec<_> = (0..cells.len()).map(|n| read.data[&format!("c{n}")].as_str().unwrap()).collect();
    assert_eq!((read.key.as_str(), values.as_slice()), ("=k", &cells[..]));
    let raw = row(&of("raw"), "=id,c", "'=k,'=1").unwrap();
    assert_eq!((raw.key.as_str(), &raw.data["c"]), ("'=k", &json!("'=1")), "raw cells are taken as they are");
}

#[test]
fn a_cell_without_a_value_fails_its_row_unless_its_column_is_left_out() {
    let mut left_out = options("upsert", Value::Null);
    left_out.columns = [("b".to_owned(), None), ("c".to_owned(), None)].into();
    let options = options("upsert", Value::Null);
    let error = CellKind::Error("why").encode("#N/A");
    let read = |options: &ImportOptions| row(options, "id,b,c", &format!("1,{error},{error}"));
    let (code, field) = rejection(read(&options));
    assert_eq!((code.as_str(), field.as_deref()), ("cell_error", Some("b")));
    assert!(read(&left_out).is_ok());
}

#[test]
fn a_number_of_a_workbook_has_a_decimal_point_in_every_column() {
    let schema = json!({"properties": {"price": {"type": "number"}, "count": {"type": "integer"}}});
    let mut options = options("upsert", schema);
    options.decimal_separator = Some(NumberNotation::DecimalComma);
    let number = CellKind::Number.encode("1.234");
    let read = row(&options, "id,price,note", &format!("1,{number},{number}")).unwrap();
    assert_eq!(Value::Object(read.data), json!({"id": "1", "price": 1.234, "note": "1.234"}));
    assert_eq!(row(&options, "id,price", "1,1.234").unwrap().data["price"], 1234);
    let (code, field) = rejection(row(&options, "id,count", &format!("1,{number}")));
    assert_eq!((code.as_str(), field.as_deref()), ("schema_type", Some("count")));
}

#[test]
fn the_message_about_a_number_or_date_names_the_notation_of_the_column() {
    let schema = json!({"properties": {"price": {"type": "number"}, "on": {"format": "date"}, "mail": {"format": "email"},
        "vip": {"type": "boolean"}}});
    let without = options("upsert", schema.clone());
    let message =
        |options: &ImportOptions, cells: &str| row(options, "id,price,on,mail,vip", cells).unwrap_err().message;
    assert_eq!(message(&without, "1,2.5x,,,"), r#"price is "2.5x"; it must be a number"#);
    let mut options = options("upsert", schema);
    options.decimal_separator = Some(NumberNotation::DecimalComma);
    options.date_order = Some(DateOrder::Dmy);
    for (cells, expected) in [
        ("1,2.5,,,", r#"price is "2.5"; it must be a number; numbers in this column have a decimal comma"#),
        (
            "1,,02/13/2024,,",
            r#"on is "02/13/2024"; it must be a valid date, such as 2024-02-13; dates in this column are day, month, year"#,
        ),
        ("1,,,nobody,", r#"mail is "nobody"; it must be an email address"#),
        ("1,,,,maybe", r#"vip is "maybe"; it must be true or false"#),
    ] {
        assert_eq!(message(&options, cells), expected);
    }
}

#[test]
fn an_empty_cell_is_an_absent_property() {
    let schema = json!({"properties": {"a": {"minLength": 1}}, "required": ["a"]});
    let options = options("upsert", schema);
    assert_eq!(rejection(row(&options, "id,a", "1,")), ("schema_required".into(), Some("a".into())));
    assert!(row(&options, "id,a", "1,x").is_ok());
}

#[test]
fn a_line_must_be_an_object() {
    let options = options("upsert", Value::Null);
    assert_eq!(line(&options, r#"{"id": 1, "a": [1.5, null]}"#).unwrap().key, "1");
    for bad in ["[]", "1", "\"x\"", "null"] {
        assert_eq!(rejection(line(&options, bad)).0, "not_an_object", "{bad}");
    }
    assert_eq!(rejection(line(&options, "{")).0, "malformed_json");
}

#[test]
fn an_integer_in_a_line_keeps_every_digit_or_is_refused() {
    let options = options("upsert", Value::Null);
    let read = line(&options, r#"{"id": 1, "n": 18446744073709551615}"#).unwrap();
    assert_eq!(read.data["n"], json!(u64::MAX));
    assert_eq!(rejection(line(&options, r#"{"id": 1, "n": [18446744073709551616]}"#)).0, "number_too_long");
    assert!(line(&options, r#"{"id": 1, "n": 1e30}"#).is_ok());
    assert!(line(&options, r#"{"id": 1, "n": "18446744073709551616"}"#).is_ok());
    // Numbers that are no integers, and digits in texts and names, are beside it.
    for other in
        [r#""x": "18446744073709551616""#, r#""18446744073709551616\\": true"#, r#""x": 0.12345678901234567890"#]
    {
        assert!(line(&options, &format!(r#"{{"id": 1, "n": 1e20, {other}}}"#)).is_ok(), "{other}");
    }
    assert!(line(&options, r#"{"id": 1, "n": 1e20, "m": -9223372036854775808, "o": 18446744073709551615}"#).is_ok());
    assert_eq!(rejection(line(&options, r#"{"id":1,"n":-9223372036854775809}"#)).0, "number_too_long");
}

#[test]
fn a_number_is_written_as_it_was_read() {
    let options = options("upsert", Value::Null);
    for number in ["51.248178375505404", "1e-7", "0.1", "9.5e124"] {
        let read = line(&options, &format!(r#"{{"id":1,"n":{number}}}"#)).unwrap();
        assert_eq!(read.data["n"].to_string().replace('+', ""), number);
    }
}

#[test]
fn a_key_is_text_an_integer_or_a_boolean() {
    let options = options("upsert", Value::Null);
    for (value, key) in [(json!("a"), "a"), (json!(-7), "-7"), (json!(true), "true"), (json!(" "), " ")] {
        assert_eq!(line(&options, &json!({"id": value}).to_string()).unwrap().key, key);
    }
    for value in [json!(""), json!(null)] {
        let error = rejection(line(&options, &json!({"id": value}).to_string()));
        assert_eq!(error, ("missing_key".into(), Some("id".into())));
    }
    assert_eq!(rejection(line(&options, "{}")).0, "missing_key");
    for value in [json!({}), json!([]), json!(1.5)] {
        assert_eq!(rejection(line(&options, &json!({"id": value}).to_string())).0, "invalid_key");
    }
    let (fits, long) = ("é".repeat(512), "é".repeat(513));
    assert!(row(&options, "id,a", &format!("{fits},1")).is_ok());
    assert_eq!(rejection(row(&options, "id,a", &format!("{long},1"))).0, "key_too_long");
}

#[test]
fn a_row_that_the_table_cannot_store_is_rejected() {
    let options = options("upsert", Value::Null);
    let large = "x".repeat(410_000);
    assert_eq!(rejection(row(&options, "id,a", &format!("1,{large}"))).0, "record_too_large");
    assert_eq!(rejection(line(&options, r#"{"id": 1, "a": 1e200}"#)), ("number_out_of_range".into(), Some("a".into())));
    assert_eq!(rejection(line(&options, r#"{"id": 1, "a": {"": 1}}"#)).0, "property_without_name");
    let deep = format!(r#"{{"id": 1, "a": {}1{}}}"#, "[".repeat(40), "]".repeat(40));
    assert_eq!(rejection(line(&options, &deep)).0, "record_too_deep");
}

#[test]
fn validate_reports_the_same_errors_and_returns_an_empty_row() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let [write, validate] = ["insert", "validate"].map(|mode| options(mode, schema.clone()));
    for cells in ["1,2", ",2", "1,x", &format!("{},1", "x".repeat(2_000)), &format!("1,{}", "9".repeat(410_000))] {
        let (written, checked) = (row(&write, "id,n", cells), row(&validate, "id,n", cells));
        assert_eq!(written.err(), checked.clone().err());
        assert!(checked.is_err() || checked == Ok(Row::default()));
    }
}

#[test]
fn a_row_contains_no_values_of_the_previous_row() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let options = options("upsert", schema);
    let read = |header, cells| Value::Object(row(&options, header, cells).unwrap().data);
    assert_eq!(read("id,n,a", "1,2,long text"), json!({"id": "1", "n": 2, "a": "long text"}));
    assert_eq!(read("id,n,a", "2,,b"), json!({"id": "2", "a": "b"}));
    assert_eq!(read("id,n,a", "3,4,"), json!({"id": "3", "n": 4}));
    assert_eq!(read("a,id", "x,4"), json!({"id": "4", "a": "x"}));
}

#[test]
fn only_the_row_that_takes_too_much_work_fails() {
    let heavy: Vec<_> = (0..50).map(|n| json!({"pattern": format!("(?=a)a{n}")})).collect();
    let schema = json!({"properties": {"n": {"type": "integer"}, "t": {"anyOf": heavy[..5]}}});
    let options = options("upsert", schema);
    let long = format!(r#"{{"id": 1, "t": "{}"}}"#, "a".repeat(300_000));
    assert_eq!(rejection(line(&options, &long)), ("row_too_complex".into(), None));
    assert_eq!(rejection(line(&options, r#"{"id": 1, "n": "x"}"#)).0, "schema_type");
    assert!(line(&options, r#"{"id": 2, "n": 1, "t": "a1"}"#).is_ok());
}

#[test]
fn a_line_of_millions_of_values_is_refused_before_it_is_parsed() {
    let options = options("upsert", json!({"additionalProperties": {"items": {"type": "string"}}}));
    for part in ["1,", "[],", "{},", r#"{"":1},"#] {
        let line_of = format!(r#"{{"id": 1, "a": [{}1]}}"#, part.repeat((16 << 20) / part.len() - 20));
        assert_eq!(rejection(line(&options, &line_of)).0, "record_too_large", "{part}");
    }
    let text = format!(r#"{{"id": 1, "a": "{}"}}"#, ",[{\\\"".repeat(50_000));
    assert!(line(&self::options("upsert", Value::Null), &text).is_ok(), "commas in a text are not counted");
}

#[test]
fn only_the_first_error_of_a_large_row_is_reported() {
    let columns: Vec<_> = (0..1_000).map(|n| format!("c{n}")).collect();
    let options = options("upsert", json!({"additionalProperties": {"type": "integer"}}));
    let cells = vec!["x"; 1_000].join(",");
    let header = format!("id,{}", columns.join(","));
    let few = row(&options, "id,c0", "1,x").unwrap_err();
    assert!(few.message.contains("(and 1 more: "), "{}", few.message);
    let many = row(&options, &header, &format!("1,{cells}")).unwrap_err();
    assert_eq!((many.code.as_str(), many.message.contains("more")), ("schema_type", true));
    let list = format!(r#"{{"id": 1, "a": [{}1]}}"#, "1,".repeat(150_000));
    let strings = json!({"properties": {"a": {"items": {"type": "string"}}}});
    let error = line(&self::options("upsert", strings), &list).unwrap_err();
    assert_eq!((error.code.as_str(), error.field.as_deref()), ("schema_type", Some("a/0")));
    assert!(!error.message.contains("more)"), "{}", error.message);
    let branches = json!({"properties": {"a": {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}});
    assert_eq!(rejection(line(&self::options("upsert", branches), &list)).0, "schema_violation");
}

#[test]
fn a_delete_reads_the_key_as_the_schema_types_it_and_checks_nothing_else() {
    let schema = json!({"properties": {"id": {"type": "integer"}, "n": {"maximum": 1}}, "required": ["name"]});
    let [delete, upsert] = ["delete", "upsert"].map(|mode| options(mode, schema.clone()));
    let read = row(&delete, "id,n", "007,2").unwrap();
    assert_eq!((read.key.as_str(), read.data.len()), ("7", 0));
    assert!(row(&upsert, "id,n", "007,2").is_err());
    assert_eq!(line(&delete, r#"{"id": 7, "n": "x"}"#).unwrap().key, "7");
    assert_eq!(rejection(row(&delete, "id,n", ",2")).0, "missing_key");
    assert_eq!(rejection(line(&delete, "[]")).0, "not_an_object");
}
