//! Cells as the values that a schema expects.

use longshore_tabular::DateOrder;
use serde_json::json;

use super::*;

const NONE: Kind = Kind { text: false, integer: false, number: false, boolean: false, date: false, date_time: false };
const INTEGER: Kind = Kind { integer: true, ..NONE };
const NUMBER: Kind = Kind { integer: true, number: true, ..NONE };
const BOOLEAN: Kind = Kind { boolean: true, ..NONE };
const DATE: Kind = Kind { date: true, ..Kind::TEXT };

#[test]
fn a_cell_is_converted_to_the_type_of_the_schema() {
    let rules: [(&str, Kind, Value); 35] = [
        ("007", Kind::TEXT, json!("007")),
        (" a ", Kind::TEXT, json!(" a ")),
        ("42", Kind { text: true, ..INTEGER }, json!("42")),
        ("42", INTEGER, json!(42)),
        (" 42 ", INTEGER, json!(42)),
        ("+42", INTEGER, json!(42)),
        ("-0", INTEGER, json!(0)),
        ("007", INTEGER, json!(7)),
        ("-9223372036854775808", INTEGER, json!(i64::MIN)),
        ("18446744073709551615", INTEGER, json!(u64::MAX)),
        ("18446744073709551616", INTEGER, json!("18446744073709551616")),
        ("1.0", INTEGER, json!("1.0")),
        ("1e3", INTEGER, json!("1e3")),
        ("12a", INTEGER, json!("12a")),
        ("", INTEGER, json!("")),
        (" ", INTEGER, json!(" ")),
        ("1,5", NUMBER, json!(1.5)),
        ("1.5", NUMBER, json!(1.5)),
        ("-.5", NUMBER, json!(-0.5)),
        ("12", NUMBER, json!(12)),
        ("9007199254740993", NUMBER, json!(9_007_199_254_740_993_i64)),
        ("99999999999999999999", NUMBER, json!("99999999999999999999")),
        ("1E3", NUMBER, json!(1000.0)),
        ("inf", NUMBER, json!("inf")),
        ("NaN", NUMBER, json!("NaN")),
        ("1e999", NUMBER, json!("1e999")),
        ("TRUE", BOOLEAN, json!(true)),
        ("False ", BOOLEAN, json!(false)),
        ("1", BOOLEAN, json!("1")),
        ("y", BOOLEAN, json!("y")),
        ("yes", BOOLEAN, json!(true)),
        ("Nein", BOOLEAN, json!(false)),
        ("13.2.2024", DATE, json!("2024-02-13")),
        ("2024-02-13T10:00:00Z", DATE, json!("2024-02-13T10:00:00Z")),
        ("soon", DATE, json!("soon")),
    ];
    for (cell, kind, value) in rules {
        assert_eq!(coerce(cell, kind, Notations::default(), None), Ok(value), "{cell:?} as {kind:?}");
    }
}

#[test]
fn a_cell_is_converted_in_the_notation_of_its_column() {
    let notations = |decimal_separator, date_order, pivot_year| Notations { decimal_separator, date_order, pivot_year };
    let point = notations(Some(NumberNotation::DecimalPoint), Some(DateOrder::Mdy), None);
    let comma = notations(Some(NumberNotation::DecimalComma), Some(DateOrder::Dmy), Some(1950));
    for (cell, kind, notations, value) in [
        ("1.234", NUMBER, point, json!(1.234)),
        ("1.234", NUMBER, comma, json!(1234)),
        ("1.234,5", NUMBER, comma, json!(1234.5)),
        ("1,5", NUMBER, point, json!("1,5")),
        ("1.234", INTEGER, comma, json!(1234)),
        ("1.234", INTEGER, point, json!("1.234")),
        ("1/2/2024", DATE, point, json!("2024-01-02")),
        ("1/2/99", DATE, comma, json!("1999-02-01")),
    ] {
        assert_eq!(coerce(cell, kind, notations, None), Ok(value), "{cell} {notations:?}");
    }
    let open = Notations::default();
    let ambiguity = |cell, kind| coerce(cell, kind, open, None).unwrap_err();
    assert!(matches!(ambiguity("1.234", NUMBER), Uncertain::Notation(Ambiguity::Number(_))));
    assert!(matches!(ambiguity("1/2/2024", DATE), Uncertain::Notation(Ambiguity::Date(_))));
    assert_eq!(ambiguity("1/2/99", DATE), Uncertain::Notation(Ambiguity::TwoDigitYear));
    assert_eq!(coerce("1.234", Kind::TEXT, open, None), Ok(json!("1.234")));
}

#[test]
fn a_time_has_the_zone_of_its_cell_or_that_of_the_options() {
    const TIME: Kind = Kind { date_time: true, ..Kind::TEXT };
    let berlin = Zone::new("Europe/Berlin").unwrap();
    let time = |cell, zone| coerce(cell, TIME, Notations::default(), zone);
    for (cell, value) in [
        ("2024-02-13T18:30:00Z", "2024-02-13T18:30:00Z"),
        ("13.2.2024 18:30 +0100", "2024-02-13T18:30:00+01:00"),
        ("soon", "soon"),
        ("18:30", "18:30"),
    ] {
        assert_eq!(time(cell, None), Ok(json!(value)), "{cell}");
        assert_eq!(time(cell, Some(&berlin)), Ok(json!(value)), "{cell}");
    }
    for (cell, value) in [
        ("2024-07-13T18:30:00", "2024-07-13T18:30:00+02:00"),
        ("13.2.2024, 6:30 pm", "2024-02-13T18:30:00+01:00"),
        ("2024-02-13", "2024-02-13T00:00:00+01:00"),
    ] {
        assert_eq!(time(cell, None), Err(Uncertain::NoZone), "{cell}");
        assert_eq!(time(cell, Some(&berlin)), Ok(json!(value)), "{cell}");
    }
    assert_eq!(time("2024-03-31 02:30", Some(&berlin)), Err(Uncertain::Never("Europe/Berlin".into())));
    let twice = ["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"].map(str::to_owned);
    assert_eq!(
        time("2024-10-27 02:30", Some(&berlin)),
        Err(Uncertain::Twice { zone: "Europe/Berlin".into(), times: twice })
    );
    let cairo = Zone::new("Africa/Cairo").unwrap();
    assert_eq!(time("2024-04-26", Some(&cairo)), Ok(json!("2024-04-26T01:00:00+03:00")));
    let both = Kind { date: true, ..TIME };
    assert_eq!(coerce("2024-02-13", both, Notations::default(), None), Ok(json!("2024-02-13")));
}

#[test]
fn a_cell_is_converted_to_the_first_matching_type_of_a_list() {
    let any = |cell| coerce(cell, Kind { boolean: true, ..NUMBER }, Notations::default(), None);
    assert_eq!(any("true"), Ok(json!(true)));
    assert_eq!(any("2.5"), Ok(json!(2.5)));
    assert_eq!(any("2"), Ok(json!(2)));
}

#[test]
fn a_long_integer_is_recognized() {
    assert!(is_long_integer("18446744073709551616") && is_long_integer("-99999999999999999999"));
    assert!(!is_long_integer("123") && !is_long_integer("1234567890123456789.5") && !is_long_integer("x"));
}
