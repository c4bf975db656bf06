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
