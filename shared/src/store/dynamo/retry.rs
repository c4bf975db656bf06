//! Lets the SDK try again what lost against a transaction on the same item.
//!
//! The splitter's transaction and the workers' `group_done` write the same job. DynamoDB refuses one of two that
//! meet, and the SDK takes that refusal for final. It is not: nothing was written, and the next try mostly takes.

use aws_sdk_dynamodb::config::interceptors::InterceptorContext;
use aws_sdk_dynamodb::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;

/// Reasons for which a cancelled transaction is worth another try.
const PASSING: [&str; 3] = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

/// Classifies conflicts of transactions as transient.
#[derive(Debug)]
pub struct RetryConflicts;

impl ClassifyRetry for RetryConflicts {
    fn name(&self) -> &'static str {
        "RetryConflicts"
    }

    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let error = context.output_or_error().and_then(|result| result.err()).and_then(|e| e.as_operation_error());
        let passes = error.is_some_and(|error| match error.downcast_ref() {
            Some(UpdateItemError::TransactionConflictException(_)) => true,
            _ => match error.downcast_ref() {
                Some(TransactWriteItemsError::TransactionCanceledException(e)) => passes(e.cancellation_reasons()),
                _ => false,
            },
        });
        if passes { RetryAction::transient_error() } else { RetryAction::NoActionIndicated }
    }
}

/// Nothing but passing reasons: a failed condition stays failed, whatever else went wrong beside it.
fn passes(reasons: &[CancellationReason]) -> bool {
    let mut codes = reasons.iter().filter_map(CancellationReason::code).filter(|code| *code != "None").peekable();
    codes.peek().is_some() && codes.all(|code| PASSING.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_tried_again_only_if_every_reason_passes() {
        for (codes, expected) in [
            (&["None", "TransactionConflict"][..], true),
            (&["ThrottlingError", "None"], true),
            (&["ConditionalCheckFailed", "TransactionConflict"], false),
            (&["None", "ConditionalCheckFailed"], false),
            (&["ValidationError"], false),
            (&[], false),
        ] {
            let reasons: Vec<_> = codes.iter().map(|c| CancellationReason::builder().code(*c).build()).collect();
            assert_eq!(passes(&reasons), expected, "{codes:?}");
        }
    }
}
