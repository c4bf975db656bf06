//! Checks of DynamoDB's calls.
//!
//! Conflicts with DynamoDB's transactions: if two concurrent writes change the same item and one of them is a
//! transaction, the later write is refused. The emulator executes the writes one after the other.
//!
//! "A PutItem, UpdateItem, or DeleteItem request for an item conflicts with an ongoing TransactWriteItems request
//! that includes the same item", and "an item within a TransactWriteItems request is part of another ongoing
//! TransactWriteItems request":
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use longshore::aws_limits::Refusal;
use longshore::aws_limits::dynamodb::{
    Call, Item, STATEMENT_CHARACTERS, check_call, check_expression, check_item, check_key, check_transaction_bytes,
    item_bytes,
};
use serde_json::{Value, json};

use super::refused::in_json;

const EXPRESSIONS: [&str; 5] =
    ["UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression"];

/// Checks a call.
pub(super) fn check(operation: &str, call: &Value) -> Result<(), Refusal> {
    match operation {
        "BatchGetItem" => {
            let tables = members(&call["RequestItems"]);
            let keys: Vec<_> =
                tables.flat_map(|(table, request)| list(&request["Keys"]).map(move |key| named(table, key))).collect();
            check_call(Call::BatchGet, &keys)
        }
        "BatchWriteItem" => batch_write(call),
        "TransactWriteItems" => transaction(call),
        "BatchExecuteStatement" => statements(call),
        _ => check_one(call).map(|_| ()),
    }
}

/// Checks a call on one item, or one action of a transaction. Returns its size in bytes.
fn check_one(call: &Value) -> Result<usize, Refusal> {
    for name in EXPRESSIONS {
        call[name].as_str().map_or(Ok(()), |text| check_expression(name, text))?;
    }
    check_key(&item(&call["Key"]))?;
    check_key(&item(&call["ExclusiveStartKey"]))?;
    let values = item(&call["ExpressionAttributeValues"]);
    check_item(&values)?;
    let put = item(&call["Item"]);
    check_item(&put)?;
    Ok(item_bytes(&values) + item_bytes(&put))
}

fn batch_write(call: &Value) -> Result<(), Refusal> {
    let mut keys = Vec::new();
    for (table, writes) in members(&call["RequestItems"]) {
        for write in list(writes) {
            let put = &write["PutRequest"]["Item"];
            check_item(&item(put))?;
            keys.push(named(table, if put.is_null() { &write["DeleteRequest"]["Key"] } else { put }));
        }
    }
    check_call(Call::BatchWrite, &keys)
}

fn transaction(call: &Value) -> Result<(), Refusal> {
    let bytes = actions(call).try_fold(0, |bytes, action| Ok(bytes + check_one(action)?))?;
    check_call(Call::Transaction, &written("TransactWriteItems", call))?;
    check_transaction_bytes(bytes)
}

/// Names of the items that a call writes, or checks in a transaction, if it can cause a conflict.
fn written(operation: &str, call: &Value) -> Vec<String> {
    let key = |write: &Value| {
        let key = if write["Item"].is_null() { &write["Key"] } else { &write["Item"] };
        named(write["TableName"].as_str().unwrap_or_default(), key)
    };
    match operation {
        "TransactWriteItems" => actions(call).map(key).collect(),
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![key(call)],
        _ => Vec::new(),
    }
}

fn actions(call: &Value) -> impl Iterator<Item = &Value> {
    list(&call["TransactItems"]).flat_map(members).map(|(_, action)| action)
}

fn statements(call: &Value) -> Result<(), Refusal> {
    let (mut keys, mut reads) = (Vec::new(), 0);
    for request in list(&call["Statements"]) {
        let statement = request["Statement"].as_str().unwrap_or_default();
        if statement.len() > STATEMENT_CHARACTERS {
            return Err(Refusal::new(
                "ValidationException",
                format!("a statement can have up to {STATEMENT_CHARACTERS} characters"),
            ));
        }
        reads += usize::from(statement.starts_with("SELECT"));
        let named_values = parameters(statement).zip(list(&request["Parameters"]).map(value));
        let item: Item = named_values.collect();
        check_item(&item)?;
        keys.push(["PK", "SK"].map(|name| format!("{:?}", item.get(name))).concat());
    }
    if reads > 0 && reads < keys.len() {
        let message = "The entire batch must consist of either read statements or write statements, you cannot mix both in one batch";
        return Err(Refusal::new("ValidationException", message));
    }
    check_call(Call::BatchStatements, &keys)
}

/// The attribute of each `?` in a statement: the last quoted name before it.
fn parameters(statement: &str) -> impl Iterator<Item = String> + '_ {
    let before = statement.split('?').filter(|text| text.contains(['\'', '"']));
    before.map(|text| text.split(['\'', '"']).rev().nth(1).unwrap_or_default().to_owned())
}

/// The name of an item: table and key.
fn named(table: &str, item: &Value) -> String {
    format!("{table} {} {}", item["PK"], item["SK"])
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn item(value: &Value) -> Item {
    members(value).map(|(name, typed)| (name.to_owned(), self::value(typed))).collect()
}

/// An attribute's value from its JSON form: `{"S": "x"}`.
fn value(typed: &Value) -> AttributeValue {
    let Some((kind, inner)) = members(typed).next() else { return AttributeValue::Null(true) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match kind {
        "S" => AttributeValue::S(text(inner)),
        "N" => AttributeValue::N(text(inner)),
        // The size is that of the Base64 text, which is a third longer than the bytes.
        "B" => AttributeValue::B(Blob::new(text(inner))),
        "SS" => AttributeValue::Ss(list(inner).map(text).collect()),
        "NS" => AttributeValue::Ns(list(inner).map(text).collect()),
        "L" => AttributeValue::L(list(inner).map(value).collect()),
        "M" => AttributeValue::M(
            members(inner).map(|(name, typed)| (name.to_owned(), value(typed))).collect::<HashMap<_, _>>(),
        ),
        _ => AttributeValue::Null(true),
    }
}

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
