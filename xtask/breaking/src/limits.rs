//! Compares the limits of two schemas: number ranges, lengths, and enumerated values.

use serde_json::Value;

/// Keywords of upper limits.
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords of lower limits.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

/// Keywords that are neither upper nor lower limits: any difference counts.
const OPAQUE: [&str; 4] = ["pattern", "format", "multipleOf", "uniqueItems"];

/// Lists the reasons why `outer` does not accept every value that `inner` accepts.
pub(crate) fn violations(inner: &Value, outer: &Value) -> Vec<String> {
    let number = |schema: &Value, name: &str| schema[name].as_f64();
    let is_above = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner > outer,
    };
    let is_below = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner < outer,
    };
    let differs = |name: &&str| !outer[*name].is_null() && inner[*name] != outer[*name];
    let limits = UPPER.into_iter().filter(is_above).chain(LOWER.into_iter().filter(is_below));
    let names = limits.chain(OPAQUE.into_iter().filter(differs));
    let reasons = names.map(|name| format!("{name} {} and {}", inner[name], outer[name]));
    reasons.chain(extra_values(inner, outer)).collect()
}

/// Returns a reason if `inner` accepts a value that `outer` does not enumerate.
fn extra_values(inner: &Value, outer: &Value) -> Option<String> {
    let allowed = values(outer)?;
    match values(inner) {
        None => Some("one is an enum, and the other is not".to_owned()),
        Some(values) => {
            let extra: Vec<_> = values.iter().filter(|value| !allowed.contains(value)).map(Value::to_string).collect();
            (!extra.is_empty()).then(|| format!("only one has the value {}", extra.join(", ")))
        }
    }
}

/// Returns the values that a schema enumerates with `const` or `enum`, or `None` if it enumerates none.
fn values(schema: &Value) -> Option<Vec<Value>> {
    match schema.get("const") {
        Some(value) => Some(vec![value.clone()]),
        None => schema["enum"].as_array().cloned(),
    }
}
