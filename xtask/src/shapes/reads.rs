//! The values that a version of the program reads, by the values of its golden file.

use serde_json::Value;

/// Returns true if a version reads a value: it is one of the version's values, or it extends one of them by members
/// that the version ignores. Those are the members that no value of the version has in this place.
pub(super) fn is_read(value: &Value, known: &[&Value], ignores_unknown: bool) -> bool {
    known.contains(&value) || ignores_unknown && known.iter().any(|part| extends(value, part, known))
}

/// Returns true if a value has all that a part has, and otherwise only members that no known value has in this place,
/// or that a known value has with this content.
fn extends(value: &Value, part: &Value, known: &[&Value]) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            let has_all = part.keys().all(|name| value.contains_key(name));
            has_all && value.iter().all(|(name, member)| extends_member(member, part.get(name), &members(known, name)))
        }
        (Value::Array(value), Value::Array(part)) => {
            let known = elements(known);
            value.len() == part.len() && value.iter().zip(part).all(|(value, part)| extends(value, part, &known))
        }
        _ => value == part,
    }
}

fn extends_member(member: &Value, part: Option<&Value>, known: &[&Value]) -> bool {
    match part {
        Some(part) => extends(member, part, known),
        None => known.is_empty() || known.iter().any(|part| extends(member, part, known)),
    }
}

/// Returns the members of this name.
fn members<'a>(values: &[&'a Value], name: &str) -> Vec<&'a Value> {
    values.iter().filter_map(|value| value.get(name)).collect()
}

/// Returns the elements of all arrays.
fn elements<'a>(values: &[&'a Value]) -> Vec<&'a Value> {
    values.iter().filter_map(|value| value.as_array()).flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_version_reads_its_values_and_further_members_that_it_ignores() {
        let values =
            [json!({}), json!({ "kind": "a", "list": [{ "n": 1 }], "more": { "x": 1 } }), json!({ "kind": "b" })];
        let known: Vec<_> = values.iter().collect();
        for (value, ignores_unknown, expected) in [
            (json!({ "kind": "b" }), false, true),
            (json!({ "kind": "b", "new": 1 }), true, true),
            (json!({ "kind": "b", "new": 1 }), false, false),
            (json!({ "new": { "kind": "c" } }), true, true),
            (json!({ "kind": "c" }), true, false),
            (json!({ "kind": "c", "new": 1 }), true, false),
            (json!({ "kind": 1 }), true, false),
            (json!({ "kind": "b", "more": { "x": 1 } }), true, true),
            (json!({ "kind": "b", "more": { "x": 1, "new": 1 } }), true, true),
            (json!({ "kind": "b", "more": { "x": "1" } }), true, false),
            (json!({ "kind": "b", "more": {} }), true, false),
            (json!({ "kind": "b", "list": [{ "n": 1, "new": 1 }] }), true, true),
            (json!({ "kind": "b", "list": [{ "n": 1 }, { "n": 1 }] }), true, false),
        ] {
            assert_eq!(is_read(&value, &known, ignores_unknown), expected, "{value}");
        }
    }
}
