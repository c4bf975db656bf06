//! Decisions from the first rows of a file.

use serde_json::{Value, json};

use super::super::sheet::properties;
use super::*;

fn decide_in(others: Value, header: &str, rows: &[&str]) -> Result<Value, JobError> {
    let mut options = json!({ "dataset": "d", "key": "id", "schema": { "properties": {
        "id": { "type": "string" },
        "price": { "type": "number" },
        "on": { "type": "string", "format": "date" },
        "note": { "type": "string" }
    } } });
    options.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    let options: ImportOptions = serde_json::from_value(options).unwrap();
    assert_eq!(options.check(), []);
    let split = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    let (header, rows) = (split(header), rows.iter().map(|row| split(row)).collect::<Vec<_>>());
    let decided = decide(&options, &header, &properties(&options, &header), &rows)?;
    Ok(json!(decided))
}

fn code(others: Value, header: &str, rows: &[&str]) -> (String, String) {
    let error = decide_in(others, header, rows).unwrap_err();
    (error.code, error.message)
}

#[test]
fn the_first_rows_decide_each_column() {
    let rows = ["1|1.234,5|13.2.2024|1.234", "2|7|1.2.2024|x"];
    let decided = decide_in(json!({}), "id|price|on|note", &rows);
    assert_eq!(decided, Ok(json!({ "price": { "numbers": "," }, "on": { "dates": "dmy" } })));
    assert_eq!(decide_in(json!({}), "id|price|on", &["1|7|2024-02-01"]), Ok(json!({})));
    assert_eq!(decide_in(json!({}), "id|price", &["1|1.5"]), Ok(json!({ "price": { "numbers": "." } })));
    assert_eq!(decide_in(json!({}), "id|price", &[]), Ok(json!({})));
}

#[test]
fn a_column_with_two_readings_is_a_question_with_a_cell_and_both() {
    let mapped = json!({ "columns": { "Preis": "price" } });
    let (ambiguous, message) = code(mapped, "id|Preis", &["1|2.500"]);
    assert_eq!(ambiguous, "ambiguous_column");
    assert_eq!(
        message,
        r#"the numbers of the column "Preis" can be read in two ways: "2.500" is 2.500 with {"formats":{"price":{"numbers":"."}}}, and 2500 with {"formats":{"price":{"numbers":","}}}; give one of these in the options"#
    );
    let (ambiguous, message) = code(json!({}), "id|on", &["1|1/2/2024"]);
    assert_eq!(ambiguous, "ambiguous_column");
    assert!(message.contains("2024-02-01 with") && message.contains("2024-01-02 with"), "{message}");
    let (conflicting, message) = code(json!({}), "id|price", &["1|1.5", "2|1,5"]);
    assert_eq!(conflicting, "conflicting_column");
    assert!(message.contains(r#""1.5" and "1,5""#) || message.contains(r#""1,5" and "1.5""#), "{message}");
    assert_eq!(code(json!({}), "id|on", &["1|13/2/2024", "2|2/13/2024"]).0, "conflicting_column");
}

#[test]
fn what_is_given_is_not_asked() {
    let rows = ["1|1.234|1/2/2024"];
    let given = json!({ "numbers": ".", "formats": { "on": { "dates": "mdy" } } });
    assert_eq!(decide_in(given, "id|price|on", &rows), Ok(json!({})));
    // The options say what the text is.
    let valued = json!({ "values": { "price": { "1.234": 0 } }, "dates": "dmy" });
    assert_eq!(decide_in(valued, "id|price|on", &rows), Ok(json!({})));
    // The column is left out, or not read.
    let left_out = json!({ "columns": { "price": null, "on": null } });
    assert_eq!(decide_in(left_out, "id|price|on", &rows), Ok(json!({})));
    let delete = json!({ "mode": "delete", "undo": false });
    assert_eq!(decide_in(delete, "id|price|on", &rows), Ok(json!({})));
}

#[test]
fn a_year_of_two_digits_needs_a_pivot_year() {
    let rows = ["1||13.2.24"];
    let (code, message) = code(json!({}), "id|price|on", &rows);
    assert_eq!(code, "pivot_year_missing");
    assert!(message.contains(r#""on""#) && message.contains(r#""13.2.24""#), "{message}");
    assert_eq!(decide_in(json!({ "pivotYear": 1950 }), "id|price|on", &rows), Ok(json!({ "on": { "dates": "dmy" } })));
}

#[test]
fn a_notice_names_what_was_decided() {
    let found = |numbers, dates| Formats { numbers, dates, pivot_year: None };
    let decided = BTreeMap::from([
        ("a".to_owned(), found(Some(NumberNotation::DecimalComma), None)),
        ("b".to_owned(), found(Some(NumberNotation::DecimalPoint), Some(DateOrder::Mdy))),
    ]);
    let message = notice(&decided).unwrap().message;
    assert_eq!(
        message,
        r#"the first rows decide these notations: numbers with a decimal comma: "a"; dates as month, day, year: "b""#
    );
    assert_eq!(notice(&BTreeMap::from([("c".to_owned(), found(Some(NumberNotation::DecimalPoint), None))])), None);
}
