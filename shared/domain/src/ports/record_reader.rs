//! The port from which jobs over a dataset read: its keys in order, and the records of some keys.

use std::future::Future;

use super::{PortResult, StoredRecord};
use crate::dataset::Dataset;
use crate::timestamp::Timestamp;

/// A place in the walk over the keys of a dataset, and the records that the walk includes.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct KeyWalk {
    /// The walk continues after this key; from the beginning if `None`.
    pub after: Option<String>,
    /// Only records that were written at this time or later, and those without a time.
    pub updated_since: Option<Timestamp>,
}

/// The next keys of a walk.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct KeyPage {
    /// Keys in the order of their bytes; may be empty although the walk has not ended.
    pub keys: Vec<String>,
    /// The place after which the walk continues: every key up to it was read. `None` at the end.
    pub next: Option<String>,
}

/// The records of the first keys.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownRecords {
    /// The records that exist, in no particular order.
    pub records: Vec<StoredRecord>,
    /// Number of keys, from the first one, whose records were read; at least one. A key without a record among them
    /// has none.
    pub known: usize,
    /// Average size of the records that were read, in bytes; 0 if none was found.
    pub average_bytes: usize,
}

/// Reads a dataset, consistently, in the order of its keys.
pub trait RecordReader: Send + Sync + 'static {
    /// Reads the next keys. A record that exists during the whole walk is found exactly once.
    fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> impl Future<Output = PortResult<KeyPage>> + Send;

    /// Reads the records of keys, which are in order and not empty: of as many of the first ones as fit into memory and
    /// can be read in about a second. It is cheap for neighbours in a walk, and possible for any keys.
    fn read_records(&self, of: &Dataset, keys: &[String]) -> impl Future<Output = PortResult<KnownRecords>> + Send;
}
