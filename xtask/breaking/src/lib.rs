//! Finds the changes of an OpenAPI document that break clients written for the previous version.
//!
//! Everything that a client may send must stay allowed. Everything that the API answers must stay within what the old
//! document promised. A change that cannot be compared counts as breaking; raise the version to accept it.
//!
//! The existing tools for this task are programs that download themselves, hence a crate of our own.

mod limits;
mod operations;
mod schemas;

use serde_json::Value;

/// One difference that matters to clients.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Change {
    /// The call, and the position within its request or response.
    pub place: String,
    /// A description of the difference.
    pub what: String,
    /// True if a client of the old document may fail.
    pub is_breaking: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_breaking { "breaking" } else { "fine    " };
        write!(f, "{kind}  {}: {}", self.place, self.what)
    }
}

/// Lists the differences that matter to clients, in the order of the old document. Descriptions, examples and titles
/// are ignored.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    operations::compare(&Pair { old, new })
}

/// Returns true if the new version permits breaking changes: its leftmost non-zero number differs from the old one's,
/// by cargo's rules. Also true if either version cannot be parsed.
pub fn may_break(old: &Value, new: &Value) -> bool {
    let significant = |document: &Value| {
        let version = document["info"]["version"].as_str()?;
        let numbers: Vec<u64> = version.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let end = numbers.iter().position(|number| *number > 0)?;
        Some(numbers[..=end].to_vec())
    };
    match (significant(old), significant(new)) {
        (Some(old), Some(new)) => old != new,
        _ => true,
    }
}

/// The old and the new document.
struct Pair<'a> {
    old: &'a Value,
    new: &'a Value,
}

/// Resolves a `$ref`, or returns the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(to) => document.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

/// Members of an object; empty for any other value.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The differences found so far.
#[derive(Default)]
struct Found(Vec<Change>);

impl Found {
    fn breaking(&mut self, place: &str, what: impl Into<String>) {
        self.0.push(Change { place: place.to_owned(), what: what.into(), is_breaking: true });
    }

    fn fine(&mut self, place: &str, what: impl Into<String>) {
        self.0.push(Change { place: place.to_owned(), what: what.into(), is_breaking: false });
    }
}

#[cfg(test)]
mod tests;
