//! Limits of DynamoDB, and the checks of items, keys, expressions and calls.
//!
//! Sizes follow DynamoDB's rules, rounded up where these are vague: DynamoDB accepts every size that these checks
//! accept. Source: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>

mod call;
mod item;

pub use call::{Call, check_call, check_expression, check_transaction_bytes};
pub use item::{Item, check_item, check_key, item_bytes};

crate::aws_limits::limit::limits! {
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
