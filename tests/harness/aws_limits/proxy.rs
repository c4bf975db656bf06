//! The proxy's listener, a client's connection, and its requests: those that it refuses, and those that it forwards.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

use super::check::Checks;
use super::dynamodb::InFlight;
use super::refused::{Refusals, Refused};
use super::request::{Body, Head};

/// A running proxy. It ends with this process.
#[derive(Clone, Debug)]
pub struct LimitsProxy {
    /// Base URL of the proxy, without a trailing slash.
    pub endpoint: String,
    refusals: Arc<Refusals>,
}

impl LimitsProxy {
    /// Starts a proxy in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start(upstream: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free for the proxy")?;
        let upstream = upstream.strip_prefix("http://").context("the upstream is not an http:// URL")?.to_owned();
        let proxy = Self { endpoint: format!("http://{}", listener.local_addr()?), refusals: Arc::default() };
        let checks = Arc::new(Checks::default());
        let refusals = Arc::clone(&proxy.refusals);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (upstream, checks, refusals) = (upstream.clone(), Arc::clone(&checks), Arc::clone(&refusals));
                thread::spawn(move || {
                    // An error on the connection closes both sides.
                    let _ = Connection::new(client, checks, refusals).serve(&upstream);
                });
            }
        });
        Ok(proxy)
    }

    /// Calls that have been refused so far because of a limit: operation, code and message.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.limits()
    }

    /// Number of calls that have been refused so far because of a conflict with a transaction.
    pub fn conflicts(&self) -> usize {
        self.refusals.conflicts()
    }
}

/// Size of the blocks in which a response is forwarded.
const BLOCK_BYTES: usize = 64 * 1024;

/// A client's connection, with its own connection to the emulator.
struct Connection {
    client: TcpStream,
    checks: Arc<Checks>,
    refusals: Arc<Refusals>,
    /// The write that has not been answered yet.
    in_flight: Arc<Mutex<Option<InFlight>>>,
}

impl Connection {
    fn new(client: TcpStream, checks: Arc<Checks>, refusals: Arc<Refusals>) -> Self {
        Self { client, checks, refusals, in_flight: Arc::default() }
    }

    /// Forwards requests and responses until the client closes the connection.
    fn serve(&self, upstream: &str) -> Result<()> {
        self.client.set_nodelay(true)?;
        let upstream = TcpStream::connect(upstream)?;
        upstream.set_nodelay(true)?;
        let (mut from_upstream, mut to_client) = (upstream.try_clone()?, self.client.try_clone()?);
        let in_flight = Arc::clone(&self.in_flight);
        let responses = thread::spawn(move || {
            // A client sends a request only after the response to the previous one, so these bytes belong to the
            // response to the last request.
            let mut bytes = vec![0; BLOCK_BYTES];
            while let Some(read) = from_upstream.read(&mut bytes).ok().filter(|read| *read > 0) {
                drop(replace(&in_flight, None));
                if to_client.write_all(&bytes[..read]).is_err() {
                    break;
                }
            }
            let _ = to_client.shutdown(Shutdown::Write);
        });
        let result = self.forward_requests(&upstream);
        let _ = upstream.shutdown(Shutdown::Write);
        let _ = responses.join();
        replace(&self.in_flight, None);
        result
    }

    fn forward_requests(&self, mut upstream: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(&self.client);
        while let Some(head) = Head::read(&mut client)? {
            match head.body() {
                Body::Checked(length) => {
                    let mut body = vec![0; length];
                    client.read_exact(&mut body)?;
                    match self.checks.pass(&head, &body) {
                        Ok(write) => drop(replace(&self.in_flight, write)),
                        Err(refused) => {
                            self.refuse(&refused)?;
                            continue;
                        }
                    }
                    upstream.write_all(&[&head.bytes, body.as_slice()].concat())?;
                }
                Body::Forwarded(length) => {
                    if let Err(refused) = self.checks.pass(&head, &[]) {
                        std::io::copy(&mut (&mut client).take(length), &mut std::io::sink())?;
                        self.refuse(&refused)?;
                        continue;
                    }
                    self.checks.record_part(&head, length);
                    upstream.write_all(&head.bytes)?;
                    std::io::copy(&mut (&mut client).take(length), &mut upstream)?;
                }
                Body::Unknown => {
                    upstream.write_all(&head.bytes)?;
                    std::io::copy(&mut client, &mut upstream)?;
                }
            }
        }
        Ok(())
    }

    fn refuse(&self, refused: &Refused) -> Result<()> {
        self.refusals.record(refused);
        Ok((&self.client).write_all(&refused.answer)?)
    }
}

/// Replaces the write in flight. Returns the previous one.
fn replace(in_flight: &Mutex<Option<InFlight>>, write: Option<InFlight>) -> Option<InFlight> {
    std::mem::replace(&mut in_flight.lock().unwrap_or_else(PoisonError::into_inner), write)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use serde_json::{Value, json};

    use super::{Body, Checks, Head};

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
            json_call(
                "AmazonSQS.SendMessageBatch",
                &json!({ "Entries": [{ "MessageBody": "x", "DelaySeconds": 900 }] })
            ),
            None
        );
    }

    #[test]
    fn calls_that_exceed_a_limit_are_refused_with_the_messages_of_dynamodb() {
        let put = |sk: &str| json!({ "Put": { "TableName": "t", "Item": item(sk) } });
        let update =
            "UPDATE \"t\" SET \"data\" = ? SET \"writer\" = ? WHERE \"PK\" = ? AND \"SK\" = ? AND \"writer\" <= ?";
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
        checks.record_part(&head("PUT /b/small HTTP/1.1\r\ncontent-length: 9\r\n\r\n"), 9);
        let copy = "PUT /b/k?uploadId=u&partNumber=4 HTTP/1.1\r\nx-amz-copy-source: b/small\r\n\r\n";
        checks.record_part(&head(copy), 0);
        put(5, 7);
        assert!(complete(&[1, 4, 5]).unwrap().contains("<Code>EntityTooSmall</Code>"), "a copied part");
        assert!(complete(&[3, 1]).unwrap().contains("<Code>InvalidPartOrder</Code>"));
        assert!(checks.pass(&head("DELETE /b/k?uploadId=u HTTP/1.1\r\n\r\n"), b"").is_ok());
    }
}
