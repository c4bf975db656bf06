//! Repeats writes that conflict with other writes of the same items.
//!
//! All creates of one tenant write one set of active jobs; the splitter's transaction and the workers' `group_done`
//! write one job. DynamoDB does not queue conflicting writes: "a `PutItem`, `UpdateItem`, or `DeleteItem` request for
//! an item conflicts with an ongoing `TransactWriteItems` request that includes the same item", and so does "an item
//! within a `TransactWriteItems` request" that "is part of another ongoing `TransactWriteItems` request". The single
//! write fails with `TransactionConflictException`, the transaction is canceled, and "AWS SDKs do not retry the
//! request" (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>). Nothing was
//! written, so the next attempt may succeed. The SDK's own retries are not enough: they are few, and all calls of a
//! client share their number.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;
use longshore_domain::ports::{Busy, PortError};

use super::{DynamoStore, failed};
use crate::back_off::BackOff;

/// Reasons for which a canceled transaction is retried.
const TRANSIENT: [&str; 3] = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

/// Codes of a call that is throttled, after the SDK has repeated it
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>).
const THROTTLED: [&str; 3] = ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"];

/// A refusal of a write.
pub(super) trait WriteError: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static {
    /// Returns true if nothing was written and the same call may succeed a moment later.
    fn is_transient(&self) -> bool;
}

impl WriteError for UpdateItemError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::TransactionConflictException(_))
    }
}

impl WriteError for DeleteItemError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::TransactionConflictException(_))
    }
}

impl WriteError for TransactWriteItemsError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::TransactionCanceledException(canceled) if all_transient(canceled.cancellation_reasons()))
    }
}

impl DynamoStore {
    /// Sends a write until it succeeds or fails permanently. Gives up after some seconds, within the time of an API
    /// call.
    pub(super) async fn write<T, E: WriteError, F>(&self, send: impl Fn() -> F) -> Result<T, SdkError<E>>
    where
        F: Future<Output = Result<T, SdkError<E>>>,
    {
        let mut back_off = BackOff::for_conflicts(self.sleep);
        loop {
            match send().await {
                Err(error) if is_transient(&error) && back_off.wait().await => {}
                answer => return answer,
            }
        }
    }
}

/// Names a failed write as the port does: [`Busy`] if it failed because of other writes.
pub(super) fn unwritten<E: WriteError>(operation: &'static str, error: SdkError<E>) -> PortError {
    if is_transient(&error) { failed(operation)(Busy(error.into())) } else { unanswered(operation)(error) }
}

/// Names a failed call as the port does: [`Busy`] if it was throttled.
pub(in crate::store) fn unanswered<E>(operation: &'static str) -> impl Fn(SdkError<E>) -> PortError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    move |error| match error.code() {
        Some(code) if THROTTLED.contains(&code) => failed(operation)(Busy(error.into())),
        _ => failed(operation)(error),
    }
}

fn is_transient<E: WriteError>(error: &SdkError<E>) -> bool {
    error.as_service_error().is_some_and(WriteError::is_transient)
}

/// Returns true if there are only transient reasons: a failed condition stays failed, regardless of other reasons.
fn all_transient(reasons: &[CancellationReason]) -> bool {
    let mut codes = reasons.iter().filter_map(CancellationReason::code).filter(|code| *code != "None").peekable();
    codes.peek().is_some() && codes.all(|code| TRANSIENT.contains(&code))
}

#[cfg(test)]
#[path = "retry_tests.rs"]
pub(super) mod tests;
