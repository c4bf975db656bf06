//! Finds the changes of an OpenAPI document that break clients written for the previous version.
//!
//! Everything that a client may send must stay allowed. Everything that the API answers must stay within what the old
//! document promised. A change that cannot be compared counts as breaking; raise the version to accept it.
//!
//! The existing tools for this task are programs that download themselves, hence a crate of our own.

mod change;
mod limits;
mod operations;
mod pair;
mod schemas;

pub use change::Change;

use pair::Pair;
use serde_json::Value;

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

#[cfg(test)]
mod tests;
