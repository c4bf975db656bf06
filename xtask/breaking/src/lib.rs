//! Tells what of a change of an OpenAPI document breaks clients that were written for the document before.
//!
//! What a client may send must stay allowed, and what it is answered must stay within what it was told. Where the two
//! documents cannot be compared the change counts as breaking: whoever knows better raises the version.
//!
//! A module of our own: the tools that there are for it come as programs that download themselves.

mod limits;
mod operations;
mod schemas;

use serde_json::Value;

/// One difference that matters to clients.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Change {
    /// Where: a call, and a place in what it takes or answers.
    pub place: String,
    /// What.
    pub what: String,
    /// A client of the old document may fail.
    pub is_breaking: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_breaking { "breaking" } else { "fine    " };
        write!(f, "{kind}  {}: {}", self.place, self.what)
    }
}

/// What differs for clients, in the order of the old document. Words (descriptions, examples, titles) do not.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    operations::compare(&Pair { old, new })
}

/// Whether a version says that clients may break: its leftmost number that is not zero is another (as cargo reads
/// versions), or either is no version.
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

/// The two documents.
struct Pair<'a> {
    old: &'a Value,
    new: &'a Value,
}

/// What a reference leads to, or the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(to) => document.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

/// The members of an object; none of anything else.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// What was found, and where the search is.
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
