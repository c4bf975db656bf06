//! Two documents or parts of them, and access to their members.

use serde_json::Value;

/// The old and the new version of a document or of a part of it.
#[derive(Copy, Clone)]
pub(crate) struct Pair<'a> {
    pub(crate) old: &'a Value,
    pub(crate) new: &'a Value,
}

/// Follows a `$ref`. Returns any other value itself.
pub(crate) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

/// Lists the members of an object. Any other value has none.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
