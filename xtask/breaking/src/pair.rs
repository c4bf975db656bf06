//! The two documents, and access to their parts.

use serde_json::Value;

/// The old and the new document.
pub(crate) struct Pair<'a> {
    pub(crate) old: &'a Value,
    pub(crate) new: &'a Value,
}

/// Resolves a `$ref`, or returns the value itself.
pub(crate) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(to) => document.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

/// Members of an object; empty for any other value.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
