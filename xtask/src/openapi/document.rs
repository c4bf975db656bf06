//! The API's document: its path, access to its parts, and the check for changes that break clients.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Path of the document in the checkout. `jobs-api` serves it.
pub(super) const DOCUMENT: &str = "docs/openapi.json";

/// Parses a version of the document.
pub(super) fn parse(document: &str) -> Result<Value> {
    serde_json::from_str(document).with_context(|| format!("{DOCUMENT} is not valid JSON"))
}

/// Prints the changes. Fails if they break clients and the version does not permit that.
pub(super) fn refuse_breaking(old: &Value, new: &Value) -> Result<()> {
    let changes = breaking::changes(old, new);
    for change in &changes {
        println!("  {change}");
    }
    let is_breaking = changes.iter().any(|change| change.is_breaking);
    ensure!(
        !is_breaking || breaking::may_break(old, new),
        "this breaks clients of version {}: change it, or increase the leading number of `version` in Cargo.toml",
        old["info"]["version"]
    );
    Ok(())
}

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
