//! Compares the limits of two schemas: number ranges, lengths, and enumerated values.

use serde_json::Value;

/// Keywords of an upper limit.
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

/// Keywords that cannot be compared by strictness; any difference counts.
const OPAQUE: [&str; 4] = ["pattern", "format", "multipleOf", "uniqueItems"];

/// Returns the reasons why `outer` does not accept every value that `inner` allows; empty if it does.
pub(crate) fn not_within(inner: &Value, outer: &Value) -> Vec<String> {
    let number = |schema: &Value, name: &str| schema[name].as_f64();
    let over = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner > outer,
    };
    let under = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner < outer,
    };
    let other = |name: &&str| !outer[*name].is_null() && inner[*name] != outer[*name];
    let limits = UPPER.into_iter().filter(over).chain(LOWER.into_iter().filter(under));
    let changed = limits.chain(OPAQUE.into_iter().filter(other));
    let reported = changed.map(|name| format!("{name} {} against {}", inner[name], outer[name]));
    reported.chain(values_not_within(inner, outer)).collect()
}

fn values_not_within(inner: &Value, outer: &Value) -> Option<String> {
    let allowed = values(outer)?;
    match values(inner) {
        None => Some("any value against an enum".to_owned()),
        Some(values) => {
            let more: Vec<_> = values.iter().filter(|value| !allowed.contains(value)).map(Value::to_string).collect();
            (!more.is_empty()).then(|| format!("the value {} in one only", more.join(", ")))
        }
    }
}

/// The values that a schema enumerates by `const` or `enum`; `None` if it does not.
fn values(schema: &Value) -> Option<Vec<Value>> {
    match schema.get("const") {
        Some(value) => Some(vec![value.clone()]),
        None => schema["enum"].as_array().cloned(),
    }
}
