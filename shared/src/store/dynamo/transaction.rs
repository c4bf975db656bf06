//! Transactions over several items: all or nothing, and the conditions that did not hold.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update as UpdateOfOne};
use longshore_domain::ports::PortResult;
use uuid::Uuid;

use super::expression::names;
use super::item::Item;
use super::keys::PK;
use super::retry::unwritten;
use super::update::Update;
use super::{DynamoStore, failed};

/// Result of a transaction.
#[derive(Debug)]
pub(super) enum Transacted {
    /// Every write was applied.
    Took,
    /// None was applied. For each write, in order, true if its condition is known not to have held.
    Refused(Vec<bool>),
}

impl Transacted {
    /// Returns true if the condition of the write at this index did not hold.
    pub(super) fn refused_at(&self, place: usize) -> bool {
        matches!(self, Self::Refused(refused) if refused.get(place).is_some_and(|refused| *refused))
    }
}

impl DynamoStore {
    /// TransactWriteItems. All its attempts have one client request token: a canceled one wrote nothing, and an
    /// applied one whose reply was lost returns the same response for ten minutes
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>). A
    /// retry that the token does not cover is refused because of this same call's earlier write, and the caller
    /// compares.
    pub(super) async fn transact(
        &self,
        operation: &'static str,
        writes: Vec<TransactWriteItem>,
    ) -> PortResult<Transacted> {
        let call = self.client.transact_write_items().set_transact_items(Some(writes));
        let call = call.client_request_token(Uuid::new_v4().to_string());
        match self.write(|| call.clone().send()).await {
            Ok(_) => Ok(Transacted::Took),
            Err(error) => match refused(&error) {
                Some(refused) => Ok(Transacted::Refused(refused)),
                None => Err(unwritten(operation, error)),
            },
        }
    }

    /// Returns a put that never overwrites.
    pub(super) fn put_if_absent(&self, item: Item) -> PortResult<TransactWriteItem> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#PK)")
            .expression_attribute_names("#PK", PK)
            .build()
            .map_err(failed("put"))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Returns a conditional update as one of a transaction's writes.
    pub(super) fn update_of(&self, update: Update) -> PortResult<TransactWriteItem> {
        let values = update.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let update = UpdateOfOne::builder()
            .table_name(&self.table)
            .set_key(Some(update.key.attributes()))
            .set_expression_attribute_names(Some(names(&[&update.update, &update.condition])))
            .set_expression_attribute_values(Some(values))
            .update_expression(update.update)
            .condition_expression(update.condition)
            .build()
            .map_err(failed(update.operation))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

/// Returns the conditions that did not hold, if they were the cause, alone or with others. DynamoDB lists a reason
/// for each write, in order:
/// <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>. Other cancellations
/// have already been retried, and are errors now.
fn refused(error: &SdkError<TransactWriteItemsError>) -> Option<Vec<bool>> {
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error() else {
        return None;
    };
    let reasons = canceled.cancellation_reasons().iter();
    let refused: Vec<_> = reasons.map(|reason| reason.code() == Some("ConditionalCheckFailed")).collect();
    refused.contains(&true).then_some(refused)
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
