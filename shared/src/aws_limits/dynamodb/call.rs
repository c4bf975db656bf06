//! Checks of a call: its items, its transaction, and its expressions.

use super::{
    BATCH_GET_KEYS, BATCH_STATEMENTS, BATCH_WRITES, EXPRESSION_BYTES, EXPRESSION_OPERATORS, TRANSACTION_ACTIONS,
    TRANSACTION_BYTES,
};
use crate::aws_limits::Refusal;

/// Kind of a call that names several items.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Call {
    /// `BatchGetItem`.
    BatchGet,
    /// `BatchWriteItem`.
    BatchWrite,
    /// `BatchExecuteStatement`.
    BatchStatements,
    /// `TransactWriteItems` or `TransactGetItems`.
    Transaction,
}

impl Call {
    /// Returns the maximum number of items.
    pub const fn max_items(self) -> usize {
        match self {
            Self::BatchGet => BATCH_GET_KEYS,
            Self::BatchWrite => BATCH_WRITES,
            Self::BatchStatements => BATCH_STATEMENTS,
            Self::Transaction => TRANSACTION_ACTIONS,
        }
    }

    const fn duplicates_message(self) -> &'static str {
        match self {
            Self::BatchGet | Self::BatchWrite => "Provided list of item keys contains duplicates",
            Self::BatchStatements => "Each statement in a batch must be for a distinct item.",
            Self::Transaction => "Transaction request cannot include multiple operations on one item",
        }
    }
}

/// Checks the number of items of a call, and that no two are the same. A key identifies an item by table and key.
///
/// # Errors
/// The refusal of the call as a whole.
pub fn check_call<K: Ord>(call: Call, keys: &[K]) -> Result<(), Refusal> {
    let max = call.max_items();
    if keys.is_empty() || keys.len() > max {
        let rule = format!("Member must have length less than or equal to {max}, and at least 1");
        return Err(invalid(format!("1 validation error detected: a list of {} items; {rule}", keys.len())));
    }
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    if distinct.len() < keys.len() { Err(invalid(call.duplicates_message())) } else { Ok(()) }
}

/// Checks the size of all items of a transaction.
///
/// # Errors
/// The refusal of the transaction.
pub fn check_transaction_bytes(bytes: usize) -> Result<(), Refusal> {
    if bytes <= TRANSACTION_BYTES {
        return Ok(());
    }
    Err(invalid(format!("Collection size exceeded the limit of {TRANSACTION_BYTES} bytes for the transaction")))
}

/// Checks an expression by its size and the number of its operators.
///
/// # Errors
/// The refusal of the call.
pub fn check_expression(kind: &str, expression: &str) -> Result<(), Refusal> {
    if expression.len() > EXPRESSION_BYTES {
        let size = expression.len();
        let rule = "Expression size has exceeded the maximum allowed size";
        return Err(invalid(format!("Invalid {kind}: {rule}; expression size: {size}")));
    }
    let is_word = |word: &&str| ["AND", "OR", "NOT", "IN", "BETWEEN"].contains(&word.to_ascii_uppercase().as_str());
    let words = expression.split_ascii_whitespace().filter(is_word).count();
    let signs = expression.matches(['=', '<', '>', '+', '-', '(']).count();
    if words + signs > EXPRESSION_OPERATORS {
        let rule = "The expression contains too many operators";
        return Err(invalid(format!("Invalid {kind}: {rule}; max operators: {EXPRESSION_OPERATORS}")));
    }
    Ok(())
}

pub(super) fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new("ValidationException", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_a_maximum_number_of_items_without_duplicates() {
        for (call, most) in
            [(Call::BatchGet, 100), (Call::BatchWrite, 25), (Call::BatchStatements, 25), (Call::Transaction, 100)]
        {
            let keys: Vec<_> = (0..=most).collect();
            assert_eq!(check_call(call, &keys[1..]), Ok(()), "{call:?}");
            assert!(check_call(call, &keys).is_err(), "{call:?}");
            assert!(check_call::<u8>(call, &[]).is_err(), "{call:?}");
            assert!(check_call(call, &[1, 2, 1]).is_err(), "{call:?}");
        }
    }

    #[test]
    fn an_expression_is_refused_for_its_size_and_its_operators() {
        let sized = |bytes: usize| "#".to_owned() + &"a".repeat(bytes - 1);
        assert_eq!(check_expression("UpdateExpression", &sized(4096)), Ok(()));
        assert!(check_expression("UpdateExpression", &sized(4097)).is_err());
        assert_eq!(check_expression("ConditionExpression", &vec!["#a"; 301].join(" OR ")), Ok(()));
        assert!(check_expression("ConditionExpression", &vec!["#a"; 302].join(" OR ")).is_err());
    }

    #[test]
    fn a_transaction_may_have_4_mib() {
        assert_eq!(check_transaction_bytes(TRANSACTION_BYTES), Ok(()));
        assert!(check_transaction_bytes(TRANSACTION_BYTES + 1).is_err());
    }
}
