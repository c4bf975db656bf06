//! Limits of DynamoDB, and the checks of items, keys, expressions and calls.
//!
//! Sizes follow DynamoDB's rules, rounded up where these are vague: DynamoDB accepts every size that these checks
//! accept. Source: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>

mod call;
mod item;
mod limits;

pub use call::{Call, check_call, check_expression, check_transaction_bytes};
pub use item::{Item, check_item, check_key, item_bytes};
pub use limits::*;
