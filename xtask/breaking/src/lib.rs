//! Finds the changes of an OpenAPI document that break clients written for the previous version.
//!
//! Everything that a client can send must stay allowed. Every response must satisfy the old document. A change that
//! cannot be compared counts as breaking; a new version permits it.
//!
//! This is a separate crate, because the existing tools for this task are programs that must be downloaded.

mod change;
mod operations;
mod schemas;

pub use change::Change;

use change::Pair;
use serde_json::Value;

/// Lists the differences that are relevant to clients, in the order of the old document. Ignores descriptions, examples
/// and titles.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    operations::compare(&Pair { old, new })
}

/// Returns true if the new version permits breaking changes: as in cargo, its leftmost non-zero number differs from the
/// old one's. Also returns true if a version cannot be parsed.
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
