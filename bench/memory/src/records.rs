//! A dataset whose records are generated when they are read, so that no store is measured.

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{KeyPage, KeyWalk, KnownRecords, PortResult, RecordReader, StoredRecord};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Map, Value};

/// Names of the properties of a record.
pub(crate) const NAMES: [&str; 3] = ["id", "name", "email"];

/// Keys on a page of the walk, as many as a page of the table has.
const PAGE_KEYS: u64 = 500;

/// This many records of about 100 bytes of JSON.
pub(crate) struct Records(pub(crate) u64);

/// Size of a record in the table, as the real adapter computes it.
const AVERAGE_BYTES: usize = 650;

impl RecordReader for Records {
    async fn walk_keys(&self, _: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        let first = walk.after.as_ref().and_then(|key| key.parse().ok()).map_or(0, |last: u64| last + 1);
        let end = (first + PAGE_KEYS).min(self.0);
        let keys: Vec<_> = (first..end).map(key).collect();
        let next = keys.last().filter(|_| end < self.0).cloned();
        Ok(KeyPage { keys, next })
    }

    async fn read_records(&self, _: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        let records = keys.iter().map(|key| record(key)).collect();
        Ok(KnownRecords { records, known: keys.len(), average_bytes: AVERAGE_BYTES })
    }
}

fn key(number: u64) -> String {
    format!("{number:010}")
}

fn record(key: &str) -> StoredRecord {
    let values = [key.to_owned(), "Ada Lovelace, Countess of London".into(), format!("customer-{key}@example.com")];
    let properties = NAMES.iter().zip(values).map(|(name, value)| ((*name).to_owned(), Value::String(value)));
    StoredRecord { key: key.to_owned(), record: Map::from_iter(properties), writer: None, updated_at: Timestamp(0) }
}
