//! One conditional UpdateItem, and its result.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure};
use longshore_domain::ports::PortResult;

use super::DynamoStore;
use super::item::Item;
use super::keys::Key;
use super::retry::unwritten;

/// An update and its condition. Both expressions name attributes as `#attribute` and values as `:value`.
pub(super) struct Update {
    /// Name of the operation in the port.
    pub(super) operation: &'static str,
    pub(super) key: Key,
    pub(super) update: String,
    /// Condition, with `attribute_exists(PK)` unless an absent item is to be created, as for permits and parked
    /// chunks. Empty for none.
    pub(super) condition: String,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
}

/// Result of a conditional update.
pub(super) enum Updated {
    /// The update was applied; holds the whole new item.
    Applied(Item),
    /// The condition did not hold for this item.
    Refused(Item),
    /// The item does not exist.
    Absent,
}

impl DynamoStore {
    /// UpdateItem that returns the item: the new one if the update was applied, the conflicting one if not. An SDK
    /// retry of an update whose response was lost returns `Refused`; the caller compares.
    pub(super) async fn update(&self, update: Update) -> PortResult<Updated> {
        let values = update.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Item>();
        let call = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(update.key.attributes()))
            .set_expression_attribute_names(Some(names(&[&update.update, &update.condition])))
            .set_expression_attribute_values(Some(values).filter(|values| !values.is_empty()))
            .update_expression(update.update)
            .set_condition_expression(Some(update.condition).filter(|condition| !condition.is_empty()))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match self.write(|| call.clone().send()).await {
            Ok(output) => Ok(Updated::Applied(output.attributes.unwrap_or_default())),
            Err(error) => refusal(error).map_err(|error| unwritten(update.operation, *error)),
        }
    }
}

fn refusal(error: SdkError<UpdateItemError>) -> Result<Updated, Box<SdkError<UpdateItemError>>> {
    match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(refused)) => match refused.item() {
            Some(item) if !item.is_empty() => Ok(Updated::Refused(item.clone())),
            _ => Ok(Updated::Absent),
        },
        _ => Err(Box::new(error)),
    }
}

/// Returns placeholders and names of all attributes in these expressions.
pub(super) fn names(expressions: &[&str]) -> HashMap<String, String> {
    let words = expressions.iter().flat_map(|text| text.split('#').skip(1));
    words
        .map(|word| word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default())
        .map(|name| (format!("#{name}"), name.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn every_placeholder_names_its_attribute() {
        let found = names(&["SET #cur.#3 = :new, #open = :o", "attribute_exists(#open) AND #a_b <> :x"]);
        let mut found: Vec<_> = found.iter().map(|(p, n)| (p.as_str(), n.as_str())).collect();
        found.sort_unstable();
        assert_eq!(found, [("#3", "3"), ("#a_b", "a_b"), ("#cur", "cur"), ("#open", "open")]);
    }
}
