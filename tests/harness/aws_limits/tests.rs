//! Requests that the proxy refuses, and requests that it forwards.

use serde_json::{Value, json};

use super::check::Checks;
use super::request::{Body, Head};

fn head(text: &str) -> Head {
    Head::read(&mut text.as_bytes()).unwrap().unwrap()
}

/// The response to a call of a service that uses JSON. `None` if the call is forwarded.
fn json_call(target: &str, call: &Value) -> Option<String> {
    let head = head(&format!("POST / HTTP/1.1\r\nX-Amz-Target: {target}\r\ncontent-length: 1\r\n\r\n"));
    let refused = Checks::default().pass(&head, call.to_string().as_bytes()).err();
    refused.map(|refused| String::from_utf8(refused.answer).unwrap())
}

fn dynamodb(operation: &str, call: Value) -> Option<String> {
    json_call(&format!("DynamoDB_20120810.{operation}"), &call)
}

fn item(sk: &str) -> Value {
    json!({ "PK": { "S": "p" }, "SK": { "S": sk }, "n": { "N": "1" }, "m": { "M": { "a": { "L": [{ "BOOL": true }] } } } })
}

#[test]
fn a_head_determines_the_kind_of_its_body() {
    let first = "PUT /b/k?partNumber=2&uploadId=u HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\nrest";
    let put = head(first);
    assert_eq!(
        (put.query("uploadId"), put.query("partNumber"), put.body()),
        (Some("u"), Some("2"), Body::Forwarded(7))
    );
    assert_eq!(
        put.bytes,
        first.strip_suffix("rest").unwrap().as_bytes(),
        "headers are signed, so they are forwarded unchanged"
    );
    assert_eq!(head("POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\n").body(), Body::Checked(3));
    assert_eq!(head("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n").body(), Body::Unknown);
    assert!(Head::read(&mut &b""[..]).unwrap().is_none());
    assert!(Head::read(&mut &b"GET / HT"[..]).is_err());
}

#[test]
fn calls_within_the_limits_are_forwarded() {
    let put = |sk: &str| json!({ "Put": { "TableName": "t", "Item": item(sk) } });
    let insert = "INSERT INTO \"t\" VALUE {'PK': ?, 'SK': ?, 'data': ?}";
    let parameters = |sk: &str| json!([{ "S": "p" }, { "S": sk }, { "M": {} }]);
    let statement = |sk: &str| json!({ "Statement": insert, "Parameters": parameters(sk) });
    for (operation, call) in [
        ("PutItem", json!({ "TableName": "t", "Item": item("s") })),
        ("TransactWriteItems", json!({ "TransactItems": [put("a"), put("b")] })),
        ("BatchExecuteStatement", json!({ "Statements": [statement("a"), statement("b")] })),
        ("BatchGetItem", json!({ "RequestItems": { "t": { "Keys": [item("a"), item("b")] } } })),
        (
            "BatchWriteItem",
            json!({ "RequestItems": { "t": [{ "PutRequest": { "Item": item("a") } }, { "DeleteRequest": { "Key": item("b") } }] } }),
        ),
        ("DescribeTable", json!({ "TableName": "t" })),
    ] {
        assert_eq!(dynamodb(operation, call), None, "{operation}");
    }
    assert_eq!(json_call("AmazonSQS.SendMessage", &json!({ "MessageBody": "x", "MessageGroupId": "g" })), None);
    assert_eq!(
        json_call("AmazonSQS.SendMessageBatch", &json!({ "Entries": [{ "MessageBody": "x", "DelaySeconds": 900 }] })),
        None
    );
}

#[test]
fn calls_that_exceed_a_limit_are_refused_with_the_messages_of_dynamodb() {
    let put = |sk: &str| json!({ "Put": { "TableName": "t", "Item": item(sk) } });
    let update = "UPDATE \"t\" SET \"data\" = ? SET \"writer\" = ? WHERE \"PK\" = ? AND \"SK\" = ? AND \"writer\" <= ?";
    let parameters = json!([{ "M": {} }, { "S": "w" }, { "S": "p" }, { "S": "s" }, { "S": "w" }]);
    let statement = json!({ "Statement": update, "Parameters": parameters });
    let read = json!({ "Statement": "SELECT * FROM \"t\" WHERE \"PK\" = ? AND \"SK\" = ?", "Parameters": [{ "S": "p" }, { "S": "x" }] });
    let many: Vec<_> = (0..101).map(|number| item(&number.to_string())).collect();
    for (operation, call, text) in [
        ("PutItem", json!({ "Item": { "PK": { "S": "" } } }), "empty string value"),
        ("PutItem", json!({ "Item": { "a": { "S": "x".repeat(409_600) } } }), "Item size has exceeded"),
        ("UpdateItem", json!({ "UpdateExpression": "x".repeat(4097) }), "Expression size has exceeded"),
        ("UpdateItem", json!({ "ExpressionAttributeValues": { ":a": { "SS": [] } } }), "may not be empty"),
        ("Query", json!({ "ExclusiveStartKey": { "SK": { "S": "x".repeat(1025) } } }), "range keys"),
        ("TransactWriteItems", json!({ "TransactItems": [put("a"), put("a")] }), "multiple operations on one item"),
        ("BatchExecuteStatement", json!({ "Statements": [statement, statement] }), "distinct item"),
        ("BatchExecuteStatement", json!({ "Statements": [statement, read] }), "cannot mix both"),
        ("BatchGetItem", json!({ "RequestItems": { "t": { "Keys": [item("a"), item("a")] } } }), "duplicates"),
        ("BatchGetItem", json!({ "RequestItems": { "t": { "Keys": many } } }), "less than or equal to 100"),
    ] {
        let answer = dynamodb(operation, call).unwrap_or_else(|| panic!("{operation} {text}"));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.contains("#ValidationException") && answer.contains(text), "{text}: {answer}");
    }
}

#[test]
fn calls_that_exceed_a_limit_are_refused_with_the_codes_of_sqs_and_s3() {
    let entries = |count: usize| json!({ "Entries": vec![json!({ "MessageBody": "x" }); count] });
    for (operation, call, code) in [
        ("SendMessage", json!({ "MessageBody": "\u{fffe}" }), "InvalidMessageContents"),
        ("SendMessage", json!({ "MessageBody": "x", "MessageGroupId": "a b" }), "InvalidParameterValue"),
        (
            "SendMessageBatch",
            json!({ "Entries": [{ "MessageBody": "x" }, { "MessageBody": "\u{ffff}" }] }),
            "InvalidMessageContents",
        ),
        ("SendMessageBatch", entries(11), "TooManyEntriesInBatchRequest"),
        ("SendMessageBatch", entries(0), "EmptyBatchRequest"),
    ] {
        let answer = json_call(&format!("AmazonSQS.{operation}"), &call).unwrap();
        assert!(answer.contains(&format!("#{code}")), "{answer}");
    }
    let checks = Checks::default();
    let put = |number: u32, bytes: u32| {
        let text = format!("PUT /b/k?uploadId=u&partNumber={number} HTTP/1.1\r\ncontent-length: {bytes}\r\n\r\n");
        checks.record_part(&head(&text), u64::from(bytes));
    };
    for (number, bytes) in [(1, 5 << 20), (2, 7), (3, 5 << 20)] {
        put(number, bytes);
    }
    let complete = |numbers: &[u32]| {
        let parts: String = numbers.iter().map(|n| format!("<Part><PartNumber>{n}</PartNumber></Part>")).collect();
        let head = head("POST /b/k?uploadId=u HTTP/1.1\r\ncontent-length: 1\r\n\r\n");
        checks.pass(&head, parts.as_bytes()).err().map(|refused| String::from_utf8(refused.answer).unwrap())
    };
    assert_eq!(complete(&[1, 2]), None);
    assert!(complete(&[1, 2, 3]).unwrap().contains("<Code>EntityTooSmall</Code>"));
    assert!(complete(&[3, 1]).unwrap().contains("<Code>InvalidPartOrder</Code>"));
    assert!(checks.pass(&head("DELETE /b/k?uploadId=u HTTP/1.1\r\n\r\n"), b"").is_ok());
}
