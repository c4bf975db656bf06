//! Access to the parts of the document.

use serde_json::Value;

/// One call.
pub(super) struct Call<'a> {
    pub(super) document: &'a Value,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) operation: &'a Value,
}

impl Call<'_> {
    pub(super) fn id(&self) -> &str {
        text(&self.operation["operationId"])
    }

    pub(super) fn is_public(&self) -> bool {
        self.operation.get("security").is_some()
    }
}

pub(super) fn calls<'a>(document: &'a Value, tag: &'a Value) -> Vec<Call<'a>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let calls = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| Call { document, method, path, operation })
    });
    calls.filter(|call| array(&call.operation["tags"]).contains(&tag["name"])).collect()
}

/// The items of an array; empty for any other value.
pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The string; empty for any other value.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Resolves a `$ref`, or returns the value itself.
pub(super) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(to) => document.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}
