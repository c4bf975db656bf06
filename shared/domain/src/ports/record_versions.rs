//! The port through which imports and their undos read versions of records, and replace exactly those.

use std::future::Future;
use std::ops::RangeInclusive;

use super::{NewRecord, PortResult};
use crate::dataset::Dataset;
use crate::history::{PreviousVersion, RecordVersion, VersionMark, VersionPlace};
use crate::writer::{Writer, Written};

/// The versions of the first keys.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownVersions {
    /// The versions that exist, in no particular order.
    pub versions: Vec<RecordVersion>,
    /// Number of keys, from the first one, whose versions were read; at least one. A key without a version among them
    /// has no record.
    pub known: usize,
}

/// A record that replaces one version of its key.
#[derive(Clone, PartialEq, Debug)]
pub struct Overwrite<'a> {
    /// The record to be written.
    pub record: &'a NewRecord,
    /// The version to be replaced, which has a writer.
    pub mark: VersionMark,
    /// Place of the replaced version; `None` keeps the place that the record has.
    pub previous: Option<VersionPlace>,
}

impl Overwrite<'_> {
    /// Returns true if the record replaces this stored version: the one that was read. If a row of the same job wrote
    /// that one, and its place is kept, then any version of the job up to this row, so that the rows of a job do not
    /// refuse each other.
    pub fn replaces(&self, stored: VersionMark) -> bool {
        match self.replaced_writers() {
            Some(writers) => stored.writer.is_some_and(|writer| writers.contains(&writer)),
            None => stored == self.mark,
        }
    }

    /// Returns the writers whose versions may be replaced; `None` if it is only the version that was read.
    pub fn replaced_writers(&self) -> Option<RangeInclusive<Writer>> {
        let own = self.record.writer;
        let is_own = self.previous.is_none() && self.mark.writer.is_some_and(|writer| writer.job == own.job);
        is_own.then_some(Writer { job: own.job, row: 0 }..=own)
    }
}

/// The reversal of one version of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct Revert<'a> {
    /// Key of the record.
    pub key: &'a str,
    /// The version to be reverted, which has a writer.
    pub mark: VersionMark,
    /// The row of the undo.
    pub by: Writer,
    /// The version that the record gets back; `None` deletes the record.
    pub to: Option<&'a PreviousVersion>,
}

/// Versions of records. All writes have one result each, in their order, and no two may have the same key. They start
/// no record after about a second; the first is always tried.
pub trait RecordVersions: Send + Sync + 'static {
    /// Writes records whose key does not exist: [`Written::Taken`] without a writer if it does, even if an earlier
    /// attempt of this call wrote it.
    fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> impl Future<Output = Vec<Written>> + Send;

    /// Reads the versions of keys, consistently: of as many of the first ones as fit into memory. The keys are
    /// different, and not empty.
    fn read_versions(&self, of: &Dataset, keys: &[String]) -> impl Future<Output = PortResult<KnownVersions>> + Send;

    /// Overwrites records, each only if it [replaces](Overwrite::replaces) the stored version: [`Written::Changed`] if it
    /// does not, even if an earlier attempt of this call replaced it. Keeps the record's creator.
    fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> impl Future<Output = Vec<Written>> + Send;

    /// Reverts records, each only if its version is still the given one: [`Written::Changed`] if it is not, even if an
    /// earlier attempt of this call reverted it. A deletion also succeeds if there is no record. A restored record has
    /// the writer, the creator and the place of its previous version, and the row of the undo.
    fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> impl Future<Output = Vec<Written>> + Send;
}
