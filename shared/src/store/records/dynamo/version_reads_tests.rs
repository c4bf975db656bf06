//! Reads of versions return the first keys, hold a bounded number of bytes, and wait only if nothing was read.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures::FutureExt;
use futures::executor::block_on;
use longshore_domain::ports::{KnownVersions, PortResult};
use serde_json::{Map, Value};

use super::{Found, GetCalls, Item, read};
use crate::back_off::Sleep;
use crate::store::records::VERSIONS_BYTES;

/// Bytes that one response can have.
const RESPONSE_BYTES: usize = 16_000_000;

/// A table in which every key has a record, except those that begin with `none`; those that begin with `small` are
/// small. Responses are full as those of DynamoDB, and a call leaves the keys of `no_capacity` unprocessed, once per
/// mention.
#[derive(Default)]
struct Table {
    record_bytes: usize,
    no_capacity: Mutex<Vec<&'static str>>,
    calls: Mutex<Vec<usize>>,
}

impl GetCalls for Table {
    async fn get(&self, keys: &[String]) -> PortResult<Found> {
        self.calls.lock().unwrap().push(keys.len());
        let mut no_capacity = self.no_capacity.lock().unwrap();
        let (mut found, mut bytes) = (Found::default(), 0);
        // In an order that is not that of the keys.
        for key in keys.iter().rev() {
            let throttled = no_capacity.iter().position(|name| name == key);
            let size = match key {
                key if key.starts_with("none") => 0,
                key if key.starts_with("small") => 100,
                _ => self.record_bytes,
            };
            bytes += size;
            if let Some(throttled) = throttled {
                no_capacity.remove(throttled);
                found.unprocessed.insert(key.clone());
            } else if bytes > RESPONSE_BYTES {
                found.unprocessed.insert(key.clone());
            } else if !key.starts_with("none") {
                found.items.insert(key.clone(), item(key, size));
            }
        }
        Ok(found)
    }

    fn sleep(&self) -> Sleep {
        |_: Duration| futures::future::ready(()).boxed()
    }
}

fn item(key: &str, bytes: usize) -> Item {
    let data: Map<String, Value> = [("a".to_owned(), Value::String("x".repeat(bytes)))].into_iter().collect();
    let data = serde_dynamo::to_attribute_value(&data).unwrap();
    [("SK".to_owned(), AttributeValue::S(key.to_owned())), ("data".to_owned(), data)].into()
}

fn keys(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{name}{n:04}")).collect()
}

fn read_from(table: &Table, keys: &[String]) -> KnownVersions {
    let known = block_on(read(table, keys)).unwrap();
    let found: BTreeSet<_> = known.versions.iter().map(|version| version.key.clone()).collect();
    let expected = keys[..known.known].iter().filter(|key| !key.starts_with("none")).cloned().collect();
    assert_eq!(found, expected, "the versions are those of the first keys");
    known
}

fn bytes(known: &KnownVersions) -> usize {
    known.versions.iter().map(|version| version.data["a"].as_str().unwrap().len()).sum()
}

#[test]
fn all_keys_are_read_if_their_records_are_small() {
    let (table, keys) = (Table { record_bytes: 100, ..Table::default() }, keys("k", 1_000));
    assert_eq!(read_from(&table, &keys).known, 1_000);
    assert_eq!(*table.calls.lock().unwrap(), [100; 10]);
    let missing = self::keys("none", 250);
    assert_eq!(read_from(&table, &missing), KnownVersions { versions: vec![], known: 250 });
    assert_eq!(read_from(&table, &[]).known, 0);
}

/// A hundred keys without a record, or with a small one, say nothing about the next nine hundred.
#[test]
fn no_read_holds_more_than_its_bytes_whatever_the_first_records_are() {
    let table = Table { record_bytes: 400_000, ..Table::default() };
    for first in ["none", "small", "k"] {
        table.calls.lock().unwrap().clear();
        let keys: Vec<_> = keys(first, 100).into_iter().chain(keys("large", 900)).collect();
        let known = read_from(&table, &keys);
        assert!(known.known > 0 && bytes(&known) <= VERSIONS_BYTES, "{} of {} keys", bytes(&known), known.known);
        assert!(table.calls.lock().unwrap().len() <= 4, "no further call begins: {:?}", table.calls);
    }
}

#[test]
fn every_read_makes_progress_until_all_keys_are_read() {
    let (table, keys) = (Table { record_bytes: 400_000, ..Table::default() }, keys("k", 90));
    let (mut at, mut reads) = (0, 0);
    while at < keys.len() {
        at += read_from(&table, &keys[at..]).known;
        reads += 1;
    }
    assert!(reads <= 90 / 15, "{reads}");
}

#[test]
fn keys_behind_one_without_capacity_are_read_by_the_next_call() {
    let (table, keys) = (Table { record_bytes: 100, ..Table::default() }, keys("k", 500));
    table.no_capacity.lock().unwrap().push("k0070");
    assert_eq!(read_from(&table, &keys).known, 70);
    assert_eq!(*table.calls.lock().unwrap(), [100], "nothing waits for the key");
    table.no_capacity.lock().unwrap().push("k0250");
    assert_eq!(read_from(&table, &keys).known, 250);
}

#[test]
fn a_read_waits_for_its_first_key() {
    let (table, keys) = (Table { record_bytes: 100, ..Table::default() }, keys("k", 100));
    table.no_capacity.lock().unwrap().extend(["k0000", "k0000", "k0000", "k0003"]);
    assert_eq!(read_from(&table, &keys).known, 100);
    assert_eq!(*table.calls.lock().unwrap(), [100, 2, 1, 1]);
    table.no_capacity.lock().unwrap().extend(["k0000"; 20]);
    assert!(block_on(read(&table, &keys)).unwrap_err().is_busy());
}
