//! Mapped columns and values, spaces, and cells with two readings.

use serde_json::{Value, json};

use super::super::options::ImportOptions;
use super::read_key;
use super::tests::{line, rejection, row};
use crate::handler::{CellReader, Record};

fn with(mut options: Value, others: Value) -> ImportOptions {
    options.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    let options: ImportOptions = serde_json::from_value(options).unwrap();
    assert_eq!(options.check(), []);
    options
}

fn data(options: &ImportOptions, header: &str, cells: &str) -> Value {
    Value::Object(row(options, header, cells).unwrap().data)
}

#[test]
fn columns_and_texts_are_mapped() {
    let base = json!({"dataset": "d", "key": "id", "schema": {"properties": {"vip": {"type": "boolean"}}}});
    let mapping = json!({
        "columns": {"Nr": "id", "Notiz": null, "a": "b", "b": "a"},
        "values": {"vip": {"1": true, "0": false}, "b": {"x": null, "": "none"}}
    });
    let options = with(base, mapping);
    assert_eq!(
        data(&options, "Nr,Notiz,a,b,vip", "7,private,x,y,1"),
        json!({"id": "7", "b": null, "a": "y", "vip": true})
    );
    assert_eq!(data(&options, "Nr,Notiz,a,b,vip", "8,,,,ja"), json!({"id": "8", "b": "none", "vip": true}));
}

#[test]
fn an_error_names_the_column_of_the_file() {
    let properties = json!({"id": {}, "a": {"type": "integer"}, "b": {"type": "number"}, "on": {"format": "date"},
        "free": {"maxLength": 1}});
    let base = json!({"dataset": "d", "key": "id", "schema": {"properties": properties, "required": ["b"]}});
    let options = with(base, json!({"columns": {"Nr": "id", "a": "b", "b": "a", "Seit": "on"}}));
    let header = "Nr,a,b,Seit,free";
    for (cells, code, field) in [
        (",1,1,,", "missing_key", "Nr"),
        ("1,x,1,,", "schema_type", "a"),
        ("1,1,x,,", "schema_type", "b"),
        ("1,,1,,", "schema_required", "a"),
        ("1,1,1,1/2/2024,", "ambiguous_date", "Seit"),
        ("1,1,1,,xx", "schema_max_length", "free"),
    ] {
        assert_eq!(rejection(row(&options, header, cells)), (code.into(), Some(field.into())), "{cells}");
    }
    for (text, code, field) in [
        (r#"{"Nr": "1", "a": "x"}"#, "schema_type", "a"),
        (r#"{"Nr": "1", "b": 1}"#, "schema_required", "a"),
        (r#"{"a": 1}"#, "missing_key", "Nr"),
    ] {
        assert_eq!(rejection(line(&options, text)), (code.into(), Some(field.into())), "{text}");
    }
}

#[test]
fn spaces_and_blanks_are_read_as_the_options_say() {
    let base = || json!({"dataset": "d", "key": "id"});
    let plain = with(base(), json!({}));
    assert_eq!(data(&plain, "id,a,b", " 1 , x ,"), json!({"id": " 1 ", "a": " x "}));
    let trimmed = with(base(), json!({"trim": true, "blanks": "null"}));
    assert_eq!(data(&trimmed, "id,a,b,c", " 1 , x , ,"), json!({"id": "1", "a": "x", "b": null, "c": null}));
    assert_eq!(rejection(row(&trimmed, "id,a", " ,x")).0, "missing_key");
}

#[test]
fn a_time_without_an_instant_fails_its_row() {
    let schema = json!({"properties": {"at": {"type": "string", "format": "date-time"}}});
    let base = || json!({"dataset": "d", "key": "id", "schema": schema.clone()});
    let (open, berlin) = (with(base(), json!({})), with(base(), json!({"timeZone": "Europe/Berlin"})));
    for (options, cell, code, part) in [
        (&open, "2024-02-13 18:30", "time_zone_missing", "timeZone"),
        (&berlin, "2024-10-27 02:30", "ambiguous_time", "2024-10-27T02:30:00+02:00 or 2024-10-27T02:30:00+01:00"),
        (&berlin, "2024-03-31 02:30", "no_such_time", "no time in Europe/Berlin, because its clock is put forward"),
    ] {
        let rejection = row(options, "id,at", &format!("1,{cell}")).unwrap_err();
        assert_eq!((rejection.code.as_str(), rejection.field.as_deref()), (code, Some("at")));
        assert!(rejection.message.contains(part), "{}", rejection.message);
    }
    assert_eq!(data(&berlin, "id,at", "2,13.2.2024 18:30"), json!({"id": "2", "at": "2024-02-13T18:30:00+01:00"}));
    assert_eq!(data(&open, "id,at", "3,2024-02-13T18:30:00Z"), json!({"id": "3", "at": "2024-02-13T18:30:00Z"}));
    let unknown = json!({"dataset": "d", "key": "id", "timeZone": "Europe/Bonn"});
    let unknown: ImportOptions = serde_json::from_value(unknown).unwrap();
    assert_eq!(unknown.check()[0].code, "invalid_time_zone");
}

#[test]
fn a_cell_that_has_two_readings_fails_its_row() {
    let schema = json!({"properties": {"n": {"type": "number"}, "d": {"type": "string", "format": "date"}}});
    let base = || json!({"dataset": "d", "key": "id", "schema": schema.clone()});
    let open = with(base(), json!({}));
    for (cells, code, field, readings) in [
        ("1,1.234,", "ambiguous_number", "n", "1.234 or 1234"),
        ("1,,1/2/2024", "ambiguous_date", "d", "2024-02-01 or 2024-01-02"),
        ("1,,1/2/99", "two_digit_year", "d", "pivotYear"),
    ] {
        let rejection = row(&open, "id,n,d", cells).unwrap_err();
        assert_eq!((rejection.code.as_str(), rejection.field.as_deref()), (code, Some(field)));
        assert!(rejection.message.contains(readings), "{}", rejection.message);
    }
    // The row after a failed one has nothing of it.
    assert_eq!(data(&open, "id,n,d", "2,1.5,13.2.2024"), json!({"id": "2", "n": 1.5, "d": "2024-02-13"}));
    assert_eq!(data(&open, "id,n,d", "3,,"), json!({"id": "3"}));
    let given =
        with(base(), json!({"decimalSeparator": ",", "dateOrder": "dmy", "notations": {"d": {"pivotYear": 1950}}}));
    assert_eq!(data(&given, "id,n,d", "1,1.234,1/2/99"), json!({"id": "1", "n": 1234, "d": "1999-02-01"}));
    // A delete reads the key only.
    let delete = with(base(), json!({"mode": "delete", "undo": false}));
    assert_eq!(row(&delete, "id,n,d", "1,1.234,1/2/2024").unwrap().key, "1");
    let by_number = with(base(), json!({"mode": "delete", "undo": false, "key": "n"}));
    assert_eq!(row(&by_number, "d,n", "1/2/2024,7").unwrap().key, "7");
    assert_eq!(rejection(row(&by_number, "d,n", "1/2/2024,1.234")).0, "ambiguous_number");
    let key = |cells: &str| {
        let columns = ["d".to_owned(), "n".to_owned()];
        let mut reader = CellReader::default();
        read_key(&by_number, &Record::row(&columns, cells.as_bytes(), reader.read(cells.as_bytes())).unwrap())
    };
    assert_eq!([key("1/2/2024,8"), key(",1.234"), key(",9")], [Some("8".to_owned()), None, Some("9".to_owned())]);
}
