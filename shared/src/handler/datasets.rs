//! The reader of datasets, independent of its type, for the functions that have job types over datasets.

use futures::future::BoxFuture;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{KeyPage, KeyWalk, KnownRecords, PortResult, RecordReader};

/// A [`RecordReader`] as an object.
pub trait AnyRecordReader: Send + Sync {
    /// See [`RecordReader::walk_keys`].
    fn walk_keys<'a>(&'a self, of: &'a Dataset, walk: &'a KeyWalk) -> BoxFuture<'a, PortResult<KeyPage>>;
    /// See [`RecordReader::read_records`].
    fn read_records<'a>(&'a self, of: &'a Dataset, keys: &'a [String]) -> BoxFuture<'a, PortResult<KnownRecords>>;
}

impl<R: RecordReader> AnyRecordReader for R {
    fn walk_keys<'a>(&'a self, of: &'a Dataset, walk: &'a KeyWalk) -> BoxFuture<'a, PortResult<KeyPage>> {
        Box::pin(RecordReader::walk_keys(self, of, walk))
    }

    fn read_records<'a>(&'a self, of: &'a Dataset, keys: &'a [String]) -> BoxFuture<'a, PortResult<KnownRecords>> {
        Box::pin(RecordReader::read_records(self, of, keys))
    }
}
