//! Limits of DynamoDB, and the checks of items, keys, expressions and calls.
//!
//! Sizes follow DynamoDB's rules, rounded up where these are vague: what passes here is never refused for its size.
//! Source: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>

mod item;

use super::Refusal;

pub use item::{Item, check_item, check_key, item_bytes};

super::limit::limits! {
    "DynamoDB";
    /// Size of an item, names and values together.
    ITEM_BYTES = 400 * 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Size of the value of a partition key, of a table or an index; at least 1.
    PARTITION_KEY_BYTES = 2048, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Size of the value of a sort key, of a table or an index; at least 1.
    SORT_KEY_BYTES = 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Nesting of lists and maps, the attribute itself being the first level.
    NESTING_LEVELS = 32, "levels", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Significant digits of a number.
    NUMBER_DIGITS = 38, "digits", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Size of an expression.
    EXPRESSION_BYTES = 4096, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Size of the name or the value of a placeholder; of all values of an expression 2 MiB.
    PLACEHOLDER_BYTES = 255, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Operators and functions of an expression.
    EXPRESSION_OPERATORS = 300, "operators", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html";
    /// Length of a PartiQL statement.
    STATEMENT_CHARACTERS = 8192, "characters", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementRequest.html";
    /// Statements of one `BatchExecuteStatement`: reads or writes, and each of another item.
    BATCH_STATEMENTS = 25, "statements", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html";
    /// Keys of one `BatchGetItem`, each another one.
    BATCH_GET_KEYS = 100, "keys", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html";
    /// Size of what one `BatchGetItem` returns; the other keys come back as `UnprocessedKeys`.
    BATCH_GET_BYTES = 16 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html";
    /// Writes of one `BatchWriteItem`, each of another item.
    BATCH_WRITES = 25, "writes", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html";
    /// Size of one `BatchWriteItem`.
    BATCH_WRITE_BYTES = 16 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html";
    /// Actions of one transaction, each on another item.
    TRANSACTION_ACTIONS = 100, "actions", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html";
    /// Size of the items of one transaction together.
    TRANSACTION_BYTES = 4 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html";
    /// Size of a page of a query or a scan.
    PAGE_BYTES = 1024 * 1024, "bytes", "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html";
    /// Writes of one partition key a second.
    PARTITION_WRITES_PER_SECOND = 1000, "units", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html";
    /// Writes that a new on-demand table takes a second.
    NEW_TABLE_WRITES_PER_SECOND = 4000, "units", "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html";
}

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
    pub const fn most(self) -> usize {
        match self {
            Self::BatchGet => BATCH_GET_KEYS,
            Self::BatchWrite => BATCH_WRITES,
            Self::BatchStatements => BATCH_STATEMENTS,
            Self::Transaction => TRANSACTION_ACTIONS,
        }
    }

    const fn of_duplicates(self) -> &'static str {
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
    let most = call.most();
    if keys.is_empty() || keys.len() > most {
        let rule = format!("Member must have length less than or equal to {most}, and at least 1");
        return Err(invalid(format!("1 validation error detected: a list of {} items; {rule}", keys.len())));
    }
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    if distinct.len() < keys.len() { Err(invalid(call.of_duplicates())) } else { Ok(()) }
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

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new("ValidationException", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_so_many_items_and_none_twice() {
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
    fn a_transaction_has_4_mib() {
        assert_eq!(check_transaction_bytes(TRANSACTION_BYTES), Ok(()));
        assert!(check_transaction_bytes(TRANSACTION_BYTES + 1).is_err());
    }
}
