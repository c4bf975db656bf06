//! A line of JSON Lines as the properties of a record.

use serde_json::Value;

use super::row::not_an_object;
use crate::handler::{Record, Rejection};
use crate::store::records::MAX_ITEM_BYTES;

/// Maximum number of values in a line. A value takes at least two bytes of a record, so a line with more could never
/// be stored.
const MAX_VALUES: usize = MAX_ITEM_BYTES / 2;

/// Parses a line of JSON, whose numbers keep all digits.
///
/// # Errors
/// `record_too_large`, `malformed_json`, `not_an_object`, `number_too_long`.
pub(super) fn object(record: &Record<'_>, line: &[u8]) -> Result<Value, Rejection> {
    if has_too_many_values(line) {
        let message = format!(
            "the line has more than {MAX_VALUES} values; a record can have up to {} bytes, including names",
            MAX_ITEM_BYTES
        );
        return Err(Rejection::new("record_too_large", None, message));
    }
    let value: Value = record.parse()?;
    if !value.is_object() {
        return Err(not_an_object(&value));
    }
    if has_huge_number(&value) && has_long_integer(line) {
        let message = "the line has an integer that does not fit into 64 bits; write it as a string to keep all digits";
        return Err(Rejection::new("number_too_long", None, message));
    }
    Ok(value)
}

/// Returns true if a line has more values than a record can hold. Long lines are checked before they are parsed: a
/// value of two bytes takes hundreds in memory.
fn has_too_many_values(line: &[u8]) -> bool {
    if line.len() <= MAX_VALUES {
        return false;
    }
    let (mut values, mut in_text, mut escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

/// Returns true if there is a decimal so large that it may have been an integer with too many digits.
fn has_huge_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|n| n.abs() >= 9.2e18),
        Value::Array(values) => values.iter().any(has_huge_number),
        Value::Object(members) => members.values().any(has_huge_number),
        _ => false,
    }
}

/// Returns true if a line has an integer that does not fit into 64 bits.
fn has_long_integer(line: &[u8]) -> bool {
    let (mut start, mut in_text, mut escaped) = (None, false, false);
    for (at, byte) in line.iter().chain(b" ").enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9' => _ = start.get_or_insert(at),
            _ => {
                if start.take().is_some_and(|start| is_long_integer(&line[start..at])) {
                    return true;
                }
            }
        }
    }
    false
}

fn is_long_integer(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let text = std::str::from_utf8(number).unwrap_or_default();
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_integer && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}
