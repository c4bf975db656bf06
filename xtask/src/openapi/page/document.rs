//! Access to parts of the document.

use serde_json::Value;

/// A call.
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

/// Lists the calls of a tag.
pub(super) fn calls<'a>(document: &'a Value, tag: &'a Value) -> Vec<Call<'a>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let calls = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| Call { document, method, path, operation })
    });
    calls.filter(|call| array(&call.operation["tags"]).contains(&tag["name"])).collect()
}

/// Returns the items of an array. Any other value has none.
pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a string. It is empty for any other value.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Follows a `$ref`. Returns any other value itself.
pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}
