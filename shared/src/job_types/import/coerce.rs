//! Converts a CSV cell to the JSON value that the schema expects.
//!
//! An empty cell is an absent property (handled by the caller). If text is allowed, a cell is text, so leading zeros
//! are kept. Otherwise it is an integer, a decimal, or `true` and `false` in any case; surrounding spaces are ignored.
//! `1`, `0`, `yes` and `no` are not booleans: guessing would import a wrong column as plausible data. A cell of no
//! allowed type stays text, so that the check reports the error.
//!
//! Integers keep every digit or stay text: JSON numbers have 64 bits here. Decimals have double precision, as usual in
//! JSON; use a string property for more digits.

use serde_json::{Number, Value};

use super::kinds::Kind;

/// Converts a non-empty cell.
pub(super) fn coerce(cell: &str, kind: Kind) -> Value {
    if kind.text {
        return Value::String(cell.to_owned());
    }
    let text = cell.trim_ascii();
    let number = if kind.integer { integer(text) } else { None };
    let number = number.or_else(|| if kind.number { decimal(text) } else { None });
    if let Some(number) = number {
        return Value::Number(number);
    }
    if kind.boolean {
        if text.eq_ignore_ascii_case("true") {
            return Value::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Value::Bool(false);
        }
    }
    Value::String(cell.to_owned())
}

/// Returns true if a text is an integer with too many digits for 64 bits.
pub(super) fn is_long_integer(text: &str) -> bool {
    let digits = text.trim_ascii().trim_start_matches(['-', '+']);
    digits.len() > 18 && digits.bytes().all(|b| b.is_ascii_digit())
}

fn integer(text: &str) -> Option<Number> {
    if text.len() < 19 {
        return text.parse::<i64>().ok().map(Number::from);
    }
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// Parses decimals and exponents as in JSON, and also accepts leading pluses and zeros; no `inf`, no `nan`.
fn decimal(text: &str) -> Option<Number> {
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    if !decimal || is_long_integer(text) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, coerce, is_long_integer};

    const INTEGER: Kind = Kind { text: false, integer: true, number: false, boolean: false };
    const NUMBER: Kind = Kind { text: false, integer: true, number: true, boolean: false };
    const BOOLEAN: Kind = Kind { text: false, integer: false, number: false, boolean: true };

    #[test]
    fn a_cell_is_converted_to_the_type_of_the_schema() {
        let rules: [(&str, Kind, Value); 30] = [
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
            ("1,5", NUMBER, json!("1,5")),
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
            ("yes", BOOLEAN, json!("yes")),
        ];
        for (cell, kind, value) in rules {
            assert_eq!(coerce(cell, kind), value, "{cell:?} as {kind:?}");
        }
    }

    #[test]
    fn a_cell_is_converted_to_the_first_matching_type_of_a_list() {
        let any = Kind { boolean: true, ..NUMBER };
        assert_eq!(coerce("true", any), json!(true));
        assert_eq!(coerce("2.5", any), json!(2.5));
        assert_eq!(coerce("2", any), json!(2));
    }

    #[test]
    fn a_long_integer_is_recognized() {
        assert!(is_long_integer("18446744073709551616") && is_long_integer("-99999999999999999999"));
        assert!(!is_long_integer("123") && !is_long_integer("1234567890123456789.5") && !is_long_integer("x"));
    }
}
