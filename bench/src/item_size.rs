//! The size of an item by DynamoDB's rules.

use serde_json::Value;

/// Bytes of one strongly consistent read unit.
pub(crate) const UNIT_BYTES: u64 = 4_096;

/// Returns the size of an item in bytes: names and strings in UTF-8, a number with one byte per two digits plus one, a
/// map or list with three bytes plus one per entry.
pub(crate) fn size(item: &Value) -> u64 {
    let attributes = item.as_object().into_iter().flatten();
    attributes.map(|(name, value)| name.len() as u64 + value_size(value)).sum()
}

fn value_size(value: &Value) -> u64 {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else { return 0 };
    let length = |value: &Value| value.as_str().unwrap_or_default().len() as u64;
    match kind.as_str() {
        "S" => length(value),
        "N" => length(value).div_ceil(2) + 1,
        "NS" => value.as_array().into_iter().flatten().map(|number| length(number).div_ceil(2) + 1).sum(),
        "M" => 3 + size(value) + value.as_object().map_or(0, |map| map.len() as u64),
        "L" => 3 + value.as_array().into_iter().flatten().map(|value| 1 + value_size(value)).sum::<u64>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_size_of_an_item_follows_the_rules_of_dynamodb() {
        let item = json!({
            "PK": { "S": "JOB#1" }, "n": { "N": "1234" }, "open": { "BOOL": true }, "none": { "NULL": true },
            "cur": { "M": { "0": { "S": "abc" } } }, "set": { "NS": ["1", "22"] }, "list": { "L": [{ "S": "ab" }] }
        });
        assert_eq!(size(&item), 7 + 4 + 5 + 5 + (3 + 3 + 1 + 1 + 3) + (3 + 4) + (4 + 3 + 1 + 2));
    }
}
