//! Reads and creates single attributes of an item. An unreadable attribute is damaged, or from a newer version.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An item, by attribute.
pub(super) type Item = HashMap<String, AttributeValue>;

/// An item of the table that does not match its key.
#[derive(Debug, thiserror::Error)]
pub(super) enum ItemError {
    /// An attribute is absent or of another kind.
    #[error("the stored attribute {0} is absent or unreadable")]
    Attribute(&'static str),
    /// Serde cannot read the item.
    #[error("the stored item is unreadable")]
    Serde(#[from] serde_dynamo::Error),
    /// An attribute is not the JSON that it should be.
    #[error("a stored JSON attribute is unreadable")]
    Json(#[from] serde_json::Error),
    /// DynamoDB repeatedly left keys of a batch unread.
    #[error("DynamoDB repeatedly left keys of a batch unread")]
    Unread,
    /// DynamoDB repeatedly left items of a batch unwritten.
    #[error("DynamoDB repeatedly left items of a batch unwritten")]
    Unwritten,
}

pub(super) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(super) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(super) fn time(value: Timestamp) -> AttributeValue {
    number(value.0)
}

/// Converts any value to DynamoDB's own types.
pub(super) fn nested(value: &impl Serialize) -> Result<AttributeValue, ItemError> {
    Ok(serde_dynamo::to_attribute_value(value)?)
}

/// Returns the value of a nested attribute; `None` if the item has none.
pub(super) fn optional_nested<T: DeserializeOwned>(item: &Item, name: &str) -> Result<Option<T>, ItemError> {
    Ok(item.get(name).cloned().map(serde_dynamo::from_attribute_value).transpose()?)
}

pub(super) fn read_number<T: std::str::FromStr>(item: &Item, name: &'static str) -> Result<T, ItemError> {
    let value = item.get(name).and_then(|value| value.as_n().ok());
    value.and_then(|digits| digits.parse().ok()).ok_or(ItemError::Attribute(name))
}

pub(super) fn read_text<'a>(item: &'a Item, name: &'static str) -> Result<&'a str, ItemError> {
    item.get(name).and_then(|value| value.as_s().ok()).map(String::as_str).ok_or(ItemError::Attribute(name))
}

/// Returns an item's size by DynamoDB's rules: names and strings in UTF-8 bytes; a number one byte per two digits and
/// one more; a Boolean one; a list, a map or a set three, and one more per entry.
#[cfg(test)]
pub(super) fn size(item: &Item) -> usize {
    fn of_value(value: &AttributeValue) -> usize {
        match value {
            AttributeValue::S(text) => text.len(),
            AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
            AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
            AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + of_value(value)).sum::<usize>(),
            AttributeValue::M(map) => 3 + map.len() + size(map),
            AttributeValue::Ns(set) => 3 + set.iter().map(|digits| 2 + digits.len().div_ceil(2)).sum::<usize>(),
            AttributeValue::Ss(set) => 3 + set.iter().map(|text| 1 + text.len()).sum::<usize>(),
            other => panic!("no item has {other:?}"),
        }
    }
    item.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}
