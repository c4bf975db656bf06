//! Two documents or parts of them, access to their members, and a list of the differences between them.

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

/// A difference that is relevant to clients.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Change {
    /// The call, and the position within its request or response.
    pub location: String,
    /// Description of the difference.
    pub description: String,
    /// True if it can break a client of the old document.
    pub is_breaking: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_breaking { "breaking" } else { "compatible" };
        write!(f, "{kind:<10}  {}: {}", self.location, self.description)
    }
}

/// A list of differences.
#[derive(Default)]
pub(crate) struct Changes(pub(crate) Vec<Change>);

impl Changes {
    pub(crate) fn breaking(&mut self, location: &str, description: impl Into<String>) {
        self.0.push(Change { location: location.to_owned(), description: description.into(), is_breaking: true });
    }

    pub(crate) fn compatible(&mut self, location: &str, description: impl Into<String>) {
        self.0.push(Change { location: location.to_owned(), description: description.into(), is_breaking: false });
    }
}
