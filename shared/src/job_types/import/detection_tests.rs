//! Detection of notations in the first rows of a file.

use serde_json::{Value, json};

use super::super::row_reader::properties;
use super::*;

fn detect_in(others: Value, header: &str, rows: &[&str]) -> Result<Value, JobError> {
    let mut options = json!({ "dataset": "d", "key": "id", "schema": { "properties": {
        "id": { "type": "string" },
        "price": { "type": "number" },
        "count": { "type": "integer" },
        "on": { "type": "string", "format": "date" },
        "note": { "type": "string" }
    } } });
    options.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    let options: ImportOptions = serde_json::from_value(options).unwrap();
    assert_eq!(options.check(), []);
    let split = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    let header = split(header);
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.split('|').map(FirstCell::from).collect()).collect();
    detect(&options, &header, &properties(&options, &header), &rows).map(|detected| json!(detected))
}

fn error(others: Value, header: &str, rows: &[&str]) -> (String, String) {
    let error = detect_in(others, header, rows).unwrap_err();
    (error.code, error.message)
}

#[test]
fn the_first_rows_decide_each_column() {
    let rows = ["1|1.234,5|13.2.2024|1.234", "2|7|1.2.2024|x"];
    let detected = detect_in(json!({}), "id|price|on|note", &rows);
    assert_eq!(detected, Ok(json!({ "price": { "decimalSeparator": "," }, "on": { "dateOrder": "dmy" } })));
    for (header, row, expected) in [
        ("id|price|on", "1|7|2024-02-01", json!({})),
        ("id|price", "1|1.5", json!({ "price": { "decimalSeparator": "." } })),
        ("id|count", "1|1,234", json!({ "count": { "decimalSeparator": "." } })),
    ] {
        assert_eq!(detect_in(json!({}), header, &[row]), Ok(expected), "{row}");
    }
    assert_eq!(detect_in(json!({}), "id|price", &[]), Ok(json!({})));
}

#[test]
fn a_column_with_two_readings_is_a_question_with_a_cell_and_both() {
    let mapped = json!({ "columns": { "Preis": "price" } });
    let (code, message) = error(mapped, "id|Preis", &["1|2.500"]);
    assert_eq!(code, "ambiguous_column");
    let expected = concat!(
        r#"the numbers of the column "Preis" can be read in two ways: "2.500" is 2.500 with the options "#,
        r#"{"notations":{"price":{"decimalSeparator":"."}}}, and 2500 with "#,
        r#"{"notations":{"price":{"decimalSeparator":","}}}"#
    );
    assert_eq!(message, expected);
    let (code, message) = error(json!({}), "id|price|on", &["1|2.500|1/2/2024"]);
    assert_eq!(code, "ambiguous_column");
    let both =
        message.contains(r#""price""#) && message.contains("2024-02-01 with") && message.contains("2024-01-02 with");
    assert!(both, "{message}");
    let (code, message) = error(json!({}), "id|price", &["1|1.5", "2|1,5"]);
    assert_eq!(code, "conflicting_column");
    assert!(message.contains(r#""1.5""#) && message.contains(r#""1,5""#), "{message}");
    assert_eq!(error(json!({}), "id|on", &["1|13/2/2024", "2|2/13/2024"]).0, "conflicting_column");
}

#[test]
fn what_is_given_is_not_asked() {
    let rows = ["1|1.234|1/2/2024"];
    for given in [
        json!({ "decimalSeparator": ".", "notations": { "on": { "dateOrder": "mdy" } } }),
        // The options have the value of the cell.
        json!({ "values": { "price": { "1.234": 0 } }, "dateOrder": "dmy" }),
        json!({ "columns": { "price": null, "on": null } }),
        json!({ "mode": "delete", "undo": false }),
    ] {
        assert_eq!(detect_in(given.clone(), "id|price|on", &rows), Ok(json!({})), "{given}");
    }
}

#[test]
fn a_two_digit_year_needs_a_pivot_year() {
    let rows = ["1||13.2.99"];
    let (code, message) = error(json!({}), "id|price|on", &rows);
    assert_eq!(code, "pivot_year_missing");
    assert!(message.contains(r#""on""#) && message.contains(r#""13.2.99""#), "{message}");
    let detected = detect_in(json!({ "pivotYear": 1950 }), "id|price|on", &rows);
    assert_eq!(detected, Ok(json!({ "on": { "dateOrder": "dmy" } })));
    // The year can be first or last.
    assert_eq!(error(json!({ "pivotYear": 1950 }), "id|on", &["1|13.2.24"]).0, "ambiguous_column");
}

#[test]
fn a_time_without_a_zone_needs_one() {
    let schema = json!({ "properties": { "on": { "type": "string", "format": "date-time" } } });
    let given = |more: Value| {
        let mut given = json!({ "schema": schema });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let (code, message) = error(given(json!({})), "id|on", &["1|13.2.2024 18:30"]);
    assert_eq!(code, "time_zone_missing");
    assert!(message.contains(r#""on""#) && message.contains(r#""13.2.2024 18:30""#), "{message}");
    let detected = detect_in(given(json!({ "timeZone": "Europe/Berlin" })), "id|on", &["1|13.2.2024 18:30"]);
    assert_eq!(detected, Ok(json!({ "on": { "dateOrder": "dmy" } })));
    assert_eq!(detect_in(given(json!({})), "id|on", &["1|2024-02-13T18:30:00Z", "2|", "3|soon"]), Ok(json!({})));
    // The order is asked first.
    assert_eq!(error(given(json!({})), "id|on", &["1|1.2.2024 18:30"]).0, "ambiguous_column");
}

#[test]
fn a_notice_names_what_was_detected() {
    let found = |decimal_separator, date_order| Notations { decimal_separator, date_order, pivot_year: None };
    let (point, comma) = (Some(NumberNotation::DecimalPoint), Some(NumberNotation::DecimalComma));
    let detected = DetectedNotations::from([
        ("a".to_owned(), found(comma, None)),
        ("b".to_owned(), found(point, Some(DateOrder::Mdy))),
    ]);
    let message = notice(&detected).unwrap().message;
    assert_eq!(
        message,
        r#"notations that the first rows show: numbers with a decimal comma: "a"; dates as month, day, year: "b""#
    );
    assert_eq!(notice(&DetectedNotations::from([("c".to_owned(), found(point, None))])), None);
}
