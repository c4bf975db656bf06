//! The shapes of items that are made of attributes. Values of their golden files are written as DynamoDB's API does.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::job::{Job, JobTimes};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Map, Value, json};

use super::group_item;
use super::item::{Item, ItemError, read_number, read_text};
use super::job_item::parse_job_id;
use super::jobs::{definition_from_item, definition_item};
use super::keys::SK;
use crate::shapes::golden::{RoundTrip, check};

/// The shapes, by the names of their golden files.
pub(crate) const SHAPES: [(&str, RoundTrip); 3] = [
    ("item-group", |value| round_trip(value, group)),
    ("item-manifest", |value| round_trip(value, manifest)),
    ("item-definition", |value| round_trip(value, definition)),
];

fn group(item: &Item) -> Result<Item, ItemError> {
    let group = group_item::from_item(item)?;
    Ok(group_item::to_item(parse_job_id(item)?, &group, read_number(item, "expiresAt")?))
}

fn manifest(item: &Item) -> Result<Item, ItemError> {
    let number = read_text(item, SK)?.strip_prefix("MANIFEST#").and_then(|digits| digits.parse().ok());
    let committed = group_item::manifest_from_item(number.ok_or(ItemError::Attribute(SK))?, item)?;
    group_item::manifest_item(parse_job_id(item)?, &committed, read_number(item, "expiresAt")?)
}

fn definition(item: &Item) -> Result<Item, ItemError> {
    let times = JobTimes { expires_at: read_number(item, "expiresAt")?, ..JobTimes::accepted(Timestamp(0)) };
    let job = Job::waiting(parse_job_id(item)?, TenantId::from_static("acme"), "import", Timestamp(0));
    definition_item(&Job { times, ..job }, &definition_from_item(item)?)
}

fn round_trip(value: &Value, written_again: fn(&Item) -> Result<Item, ItemError>) -> Result<Value, String> {
    let item = written_again(&read_item(value)?).map_err(|error| error.to_string())?;
    Ok(write_item(&item))
}

fn read_item(value: &Value) -> Result<Item, String> {
    let attributes = value.as_object().ok_or("the item is not an object")?;
    attributes.iter().map(|(name, value)| Ok((name.clone(), read_attribute(value)?))).collect()
}

fn read_attribute(value: &Value) -> Result<AttributeValue, String> {
    let unreadable = || format!("{value} is not an attribute");
    let (kind, content) = value.as_object().and_then(|object| object.iter().next()).ok_or_else(unreadable)?;
    let text = || content.as_str().map(str::to_owned).ok_or_else(unreadable);
    match kind.as_str() {
        "S" => text().map(AttributeValue::S),
        "N" => text().map(AttributeValue::N),
        "BOOL" => content.as_bool().map(AttributeValue::Bool).ok_or_else(unreadable),
        "M" => read_item(content).map(AttributeValue::M),
        "L" => {
            let elements = content.as_array().ok_or_else(unreadable)?;
            elements.iter().map(read_attribute).collect::<Result<_, _>>().map(AttributeValue::L)
        }
        _ => Err(unreadable()),
    }
}

fn write_item(item: &HashMap<String, AttributeValue>) -> Value {
    item.iter().map(|(name, value)| (name.clone(), write_attribute(value))).collect::<Map<_, _>>().into()
}

fn write_attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(digits) => json!({ "N": digits }),
        AttributeValue::Bool(truth) => json!({ "BOOL": truth }),
        AttributeValue::M(members) => json!({ "M": write_item(members) }),
        AttributeValue::L(elements) => json!({ "L": elements.iter().map(write_attribute).collect::<Vec<_>>() }),
        other => panic!("no item of these shapes has {other:?}"),
    }
}

#[test]
fn items_of_all_versions_are_read_and_those_of_this_version_are_written() {
    check(&SHAPES);
}
