//! Checks of an item: its size, its keys, and each of its values.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::call::invalid;
use super::{ITEM_BYTES, NESTING_LEVELS, NUMBER_DIGITS, PARTITION_KEY_BYTES, SORT_KEY_BYTES};
use crate::aws_limits::Refusal;

/// An item by attribute.
pub type Item = HashMap<String, AttributeValue>;

/// Partition keys of the tables and their indexes.
const PARTITION_KEYS: [&str; 3] = ["PK", "tenant", "unfinished"];

/// Sort keys of the tables and their indexes.
const SORT_KEYS: [&str; 2] = ["SK", "createdAt"];

/// Checks an item that a put or an update stores.
///
/// # Errors
/// The refusal that DynamoDB would return.
pub fn check_item(item: &Item) -> Result<(), Refusal> {
    check_key(item)?;
    item.iter().try_for_each(|(name, value)| check_value(name, value, 1))?;
    if item_bytes(item) > ITEM_BYTES {
        return Err(invalid("Item size has exceeded the maximum allowed size"));
    }
    Ok(())
}

/// Checks the attributes among these that are keys of a table or an index.
///
/// # Errors
/// The refusal that DynamoDB would return.
pub fn check_key(item: &Item) -> Result<(), Refusal> {
    let texts = item.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_s().ok()?)));
    for (name, text) in texts {
        let (is_partition, is_sort) = (PARTITION_KEYS.contains(&name), SORT_KEYS.contains(&name));
        if (is_partition || is_sort) && text.is_empty() {
            let rule = "The AttributeValue for a key attribute cannot contain an empty string value";
            return Err(invalid(format!("One or more parameter values are not valid. {rule}. Key: {name}")));
        }
        if is_partition && text.len() > PARTITION_KEY_BYTES {
            let rule = format!("Size of hashkey has exceeded the maximum size limit of {PARTITION_KEY_BYTES} bytes");
            return Err(invalid(format!("One or more parameter values were invalid: {rule}")));
        }
        if is_sort && text.len() > SORT_KEY_BYTES {
            let rule =
                format!("Aggregated size of all range keys has exceeded the size limit of {SORT_KEY_BYTES} bytes");
            return Err(invalid(format!("One or more parameter values were invalid: {rule}")));
        }
    }
    Ok(())
}

/// Returns the size of an item, as DynamoDB counts it or some bytes more.
pub fn item_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn check_value(name: &str, value: &AttributeValue, level: usize) -> Result<(), Refusal> {
    match value {
        AttributeValue::N(digits) => check_number(digits),
        AttributeValue::Ns(numbers) => {
            check_set(name, numbers)?;
            numbers.iter().try_for_each(|digits| check_number(digits))
        }
        AttributeValue::Ss(texts) => check_set(name, texts),
        AttributeValue::Bs(blobs) if blobs.is_empty() => Err(empty_set(name)),
        AttributeValue::L(_) | AttributeValue::M(_) if level > NESTING_LEVELS => {
            Err(invalid("Nesting Levels have exceeded supported limits"))
        }
        AttributeValue::L(values) => values.iter().try_for_each(|value| check_value(name, value, level + 1)),
        AttributeValue::M(members) => members.values().try_for_each(|value| check_value(name, value, level + 1)),
        _ => Ok(()),
    }
}

fn check_set(name: &str, members: &[String]) -> Result<(), Refusal> {
    if members.is_empty() {
        return Err(empty_set(name));
    }
    let distinct: std::collections::BTreeSet<_> = members.iter().collect();
    if distinct.len() < members.len() {
        return Err(invalid("One or more parameter values were invalid: Input collection contains duplicates"));
    }
    Ok(())
}

fn empty_set(name: &str) -> Refusal {
    invalid(format!("One or more parameter values were invalid: An string set  may not be empty: {name}"))
}

/// Checks a number: at most 38 significant digits, and a size of 1E-130 up to less than 1E126.
fn check_number(text: &str) -> Result<(), Refusal> {
    let number: f64 =
        text.parse().map_err(|_| invalid(format!("The parameter cannot be converted to a numeric value: {text}")))?;
    if significant_digits(text) > NUMBER_DIGITS {
        return Err(invalid(format!("Attempting to store more than {NUMBER_DIGITS} significant digits in a Number")));
    }
    let size = number.abs();
    if !size.is_finite() || size >= 1e126 {
        return Err(invalid(
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ));
    }
    if size != 0.0 && size < 1e-130 {
        return Err(invalid(
            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        ));
    }
    Ok(())
}

fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

/// Returns the size of a number: two digits a byte, one byte more, and one for the sign.
fn number_bytes(text: &str) -> usize {
    significant_digits(text).div_ceil(2) + 2
}

fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(digits) => number_bytes(digits),
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(texts) => texts.iter().map(|text| text.len() + 1).sum::<usize>() + 3,
        AttributeValue::Ns(numbers) => numbers.iter().map(|digits| number_bytes(digits) + 1).sum::<usize>() + 3,
        AttributeValue::Bs(blobs) => blobs.iter().map(|blob| blob.as_ref().len() + 1).sum::<usize>() + 3,
        AttributeValue::L(values) => values.iter().map(|value| value_bytes(value) + 1).sum::<usize>() + 3,
        AttributeValue::M(members) => {
            members.iter().map(|(name, value)| name.len() + value_bytes(value) + 1).sum::<usize>() + 3
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: impl Into<String>) -> AttributeValue {
        AttributeValue::S(value.into())
    }

    fn item(name: &str, value: AttributeValue) -> Item {
        [("PK", text("p")), ("SK", text("s")), (name, value)].map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn nested(levels: usize) -> AttributeValue {
        (0..levels).fold(text(""), |inner, _| AttributeValue::L(vec![inner]))
    }

    #[test]
    fn an_item_may_have_400_kib() {
        assert_eq!(check_item(&item("a", text("x".repeat(ITEM_BYTES - 7)))), Ok(()));
        let refusal = check_item(&item("a", text("x".repeat(ITEM_BYTES - 6)))).unwrap_err();
        assert_eq!(refusal.code, "ValidationException");
        assert_eq!(refusal.message, "Item size has exceeded the maximum allowed size");
    }

    #[test]
    fn keys_are_neither_empty_nor_too_long() {
        for (name, most) in [("PK", 2048), ("tenant", 2048), ("SK", 1024), ("createdAt", 1024)] {
            for (bytes, fine) in [(0, false), (1, true), (most, true), (most + 1, false)] {
                assert_eq!(check_item(&item(name, text("x".repeat(bytes)))).is_ok(), fine, "{name} {bytes}");
            }
        }
        assert_eq!(check_item(&item("other", text(""))), Ok(()));
    }

    #[test]
    fn values_must_be_valid_for_their_types() {
        let number = |digits: &str| AttributeValue::N(digits.to_owned());
        let set = |members: &[&str]| AttributeValue::Ss(members.iter().map(|member| (*member).to_owned()).collect());
        for (value, fine) in [
            (number("1.5e125"), true),
            (number("1e126"), false),
            (number("-1e-130"), true),
            (number("1e-131"), false),
            (number(&"9".repeat(38)), true),
            (number(&"9".repeat(39)), false),
            (number(&("9".repeat(38) + "00")), true),
            (number("x"), false),
            (number("NaN"), false),
            (set(&["a", "b"]), true),
            (set(&["a", "a"]), false),
            (set(&[]), false),
            (nested(32), true),
            (nested(33), false),
        ] {
            assert_eq!(check_item(&item("a", value.clone())).is_ok(), fine, "{value:?}");
        }
    }
}
