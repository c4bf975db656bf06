//! Conflicts with DynamoDB's transactions: if two concurrent writes change the same item and one of them is a
//! transaction, the later write is refused. The emulator executes the writes one after the other.
//!
//! "A PutItem, UpdateItem, or DeleteItem request for an item conflicts with an ongoing TransactWriteItems request
//! that includes the same item", and "an item within a TransactWriteItems request is part of another ongoing
//! TransactWriteItems request":
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::dynamodb::written;
use super::refused::in_json;
use longshore::aws_limits::Refusal;

const MESSAGE: &str = "Transaction is ongoing for the item";

/// Writes in flight on all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Conflicts(Arc<Mutex<Vec<Write>>>);

#[derive(Debug)]
struct Write {
    id: u64,
    keys: Vec<String>,
    is_transaction: bool,
}

/// Guard of a write in flight. The write ends when the guard is dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    writes: Conflicts,
    id: u64,
}

impl Conflicts {
    /// Records a call as in flight. Returns `None` if it writes nothing that can conflict with a transaction.
    ///
    /// # Errors
    /// DynamoDB's response, if the call conflicts with another one.
    pub(super) fn begin(&self, operation: &str, call: &Value) -> Result<Option<InFlight>, Vec<u8>> {
        let keys = written(operation, call);
        if keys.is_empty() {
            return Ok(None);
        }
        let is_transaction = operation == "TransactWriteItems";
        let mut writes = self.writes();
        let conflicts_with = |key: &String| {
            writes.iter().any(|other| (is_transaction || other.is_transaction) && other.keys.contains(key))
        };
        let conflicts: Vec<bool> = keys.iter().map(conflicts_with).collect();
        if conflicts.contains(&true) {
            return Err(if is_transaction { canceled(&conflicts) } else { conflict() });
        }
        let id = writes.last().map_or(0, |last| last.id + 1);
        writes.push(Write { id, keys, is_transaction });
        Ok(Some(InFlight { writes: self.clone(), id }))
    }

    fn writes(&self) -> MutexGuard<'_, Vec<Write>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.writes.writes().retain(|write| write.id != self.id);
    }
}

fn conflict() -> Vec<u8> {
    in_json("com.amazonaws.dynamodb.v20120810", &Refusal::new("TransactionConflictException", MESSAGE), json!({}))
}

/// The response to a canceled transaction, with a reason for each of its actions.
fn canceled(conflicts: &[bool]) -> Vec<u8> {
    let codes: Vec<_> =
        conflicts.iter().map(|is_conflict| if *is_conflict { "TransactionConflict" } else { "None" }).collect();
    let reason = |code: &&str| match *code {
        "None" => json!({ "Code": code }),
        _ => json!({ "Code": code, "Message": MESSAGE }),
    };
    let reasons: Vec<_> = codes.iter().map(reason).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    let refusal = Refusal::new("TransactionCanceledException", message);
    in_json("com.amazonaws.dynamodb.v20120810", &refusal, json!({ "CancellationReasons": reasons }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    fn key(sk: &str) -> Value {
        json!({ "PK": { "S": "p" }, "SK": { "S": sk } })
    }

    fn transaction(keys: [&str; 2]) -> Value {
        let [one, other] = keys.map(key);
        json!({ "TransactItems": [
            { "Put": { "TableName": "t", "Item": one } },
            { "ConditionCheck": { "TableName": "t", "Key": other } },
        ] })
    }

    fn update(sk: &str) -> Value {
        json!({ "TableName": "t", "Key": key(sk) })
    }

    #[test]
    fn a_write_of_an_item_is_refused_while_a_transaction_with_that_item_is_in_flight() {
        let conflicts = Conflicts::default();
        let begin = |operation: &str, call: Value| {
            conflicts.begin(operation, &call).map_err(|answer| String::from_utf8(answer).unwrap())
        };
        let first = begin("TransactWriteItems", transaction(["a", "b"])).unwrap();
        let other = begin("TransactWriteItems", transaction(["c", "d"])).unwrap();
        let answer = begin("TransactWriteItems", transaction(["e", "b"])).unwrap_err();
        assert!(answer.contains("#TransactionCanceledException") && answer.contains("[None, TransactionConflict]"));
        assert!(answer.contains(r#""CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict""#), "{answer}");
        for operation in ["UpdateItem", "DeleteItem"] {
            let answer = begin(operation, update("a")).unwrap_err();
            assert!(answer.contains("#TransactionConflictException"), "{answer}");
        }
        assert!(begin("GetItem", update("a")).unwrap().is_none(), "a read does not conflict");
        drop(first);
        let single = begin("UpdateItem", update("a")).unwrap();
        assert!(begin("UpdateItem", update("a")).is_ok(), "single writes do not conflict with each other");
        assert!(begin("TransactWriteItems", transaction(["a", "b"])).is_err());
        drop((single, other));
        assert!(begin("TransactWriteItems", transaction(["a", "c"])).is_ok());
        assert!(conflicts.writes().is_empty());
    }
}
