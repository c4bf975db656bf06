//! Conditional writes of records that are stored as JSON with a revision.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ports::{ConditionalWrite, PortResult};
use serde::Serialize;

use super::item::{Item, ItemError, text};
use super::update::Updated;

/// Returns the outcome of a write. `is_own` is true for an item that an earlier attempt of the same call has written, whose
/// response was lost.
pub(super) fn written(updated: Updated, is_own: impl FnOnce(&Item) -> bool) -> PortResult<ConditionalWrite> {
    Ok(match updated {
        Updated::Applied(_) => ConditionalWrite::Stored,
        Updated::Refused(item) if is_own(&item) => ConditionalWrite::Stored,
        Updated::Refused(_) | Updated::Absent => ConditionalWrite::Changed,
    })
}

/// Returns the value of an update with this name.
pub(super) fn value<'a>(values: &'a [(&'static str, AttributeValue)], name: &str) -> Option<&'a AttributeValue> {
    values.iter().find(|(of, _)| *of == name).map(|(_, value)| value)
}

/// Returns a record as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<AttributeValue, ItemError> {
    Ok(text(serde_json::to_string(value)?))
}
