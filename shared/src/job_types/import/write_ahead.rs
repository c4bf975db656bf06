//! Writes records so that an undo can restore what they replace: the version that a record has is stored in a file of
//! the job before the record is overwritten.
//!
//! The phases go over all records of a batch: insert those whose key is new; read the versions of the others; write one
//! file with the versions that jobs before this one wrote; overwrite each record only if it still is the version that
//! was read, and set the place of its previous version in the same statement. A record that has changed meanwhile is
//! read and stored again, a few times. A file of an attempt that died or was refused is named by no record.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use longshore_domain::dataset::Dataset;
use longshore_domain::history::{ImportStep, PreviousVersion, RecordVersion, VersionMark, VersionPlace, import_step};
use longshore_domain::ports::{Files, KnownVersions, NewRecord, Overwrite, PortResult, RecordVersions};
use longshore_domain::random::nonce;
use longshore_domain::writer::{Rule, Written};

use crate::job_types::batch_results::{BatchResults, Clock, ROUNDS, unwritten};
use crate::ports::JobFolder;

/// A write of one batch.
pub(super) struct WriteAhead<'a, R, F> {
    pub(super) records: &'a R,
    pub(super) files: &'a F,
    pub(super) folder: JobFolder<'a>,
    pub(super) dataset: &'a Dataset,
    /// [`Rule::Upsert`] or [`Rule::Update`].
    pub(super) rule: Rule,
    /// True if most keys of the last batch existed: the next one then begins with the read, so that importing the same
    /// file again costs no insert that fails. Only a hint.
    pub(super) mostly_present: &'a AtomicBool,
    pub(super) clock: Clock,
}

/// The records of a batch, and their results as far as they are known.
struct Unwritten<'a> {
    records: &'a [NewRecord],
    results: BatchResults<Written>,
}

impl<R: RecordVersions, F: Files> WriteAhead<'_, R, F> {
    /// Writes records with different keys. Returns one result each, in their order.
    pub(super) async fn put(&self, records: &[NewRecord]) -> Vec<Written> {
        let mut batch = Unwritten { records, results: BatchResults::new(records.len(), self.clock) };
        if self.rule.creates() && !self.mostly_present.load(Ordering::Relaxed) {
            let all: Vec<_> = (0..records.len()).collect();
            self.insert(&mut batch, &all).await;
            self.mostly_present.store(batch.results.open().len() * 2 > records.len(), Ordering::Relaxed);
        }
        for _ in 0..ROUNDS {
            let open = batch.results.open_in_time();
            if open.is_empty() {
                break;
            }
            self.replace(&mut batch, &open).await;
        }
        batch.results.finish()
    }

    /// Inserts records; those whose key exists stay open.
    async fn insert(&self, batch: &mut Unwritten<'_>, indexes: &[usize]) {
        let records: Vec<_> = indexes.iter().map(|index| &batch.records[*index]).collect();
        let results = self.records.insert_new(self.dataset, &records).await;
        batch.results.take(indexes, results, &Written::Taken(None));
    }

    /// Reads, stores and overwrites the open records. Those that have changed meanwhile stay open.
    async fn replace(&self, batch: &mut Unwritten<'_>, open: &[usize]) {
        let keys: Vec<_> = open.iter().map(|index| batch.records[*index].key.clone()).collect();
        let KnownVersions { versions, known } = match self.records.read_versions(self.dataset, &keys).await {
            Ok(known) => known,
            Err(error) => return batch.results.end(open, &unwritten(&error)),
        };
        let is_whole_batch = open.len() == batch.records.len();
        let (open, unread) = open.split_at(known.clamp(1, open.len()));
        batch.results.end(unread, &Written::Untried);
        if is_whole_batch {
            self.mostly_present.store(versions.len() * 2 > open.len(), Ordering::Relaxed);
        }
        let planned = self.plan(batch, open, &versions);
        // What cannot be overwritten any more need not be stored.
        if batch.results.open_in_time().is_empty() {
            return;
        }
        let places = match self.store_versions(batch.records, &planned).await {
            Ok(places) => places,
            Err(error) => {
                let indexes: Vec<_> = planned.iter().map(|planned| planned.index).collect();
                return batch.results.end(&indexes, &unwritten(&error));
            }
        };
        let (existing, new): (Vec<_>, Vec<_>) = planned.into_iter().partition(|planned| planned.mark.is_some());
        let new: Vec<_> = new.into_iter().map(|planned| planned.index).collect();
        if !existing.is_empty() && !batch.results.open_in_time().is_empty() {
            self.overwrite(batch, &existing, &places).await;
        }
        if !new.is_empty() && !batch.results.open_in_time().is_empty() {
            self.insert(batch, &new).await;
        }
    }

    /// Decides the next write of each record; ends those that need none.
    fn plan<'v>(&self, batch: &mut Unwritten<'_>, open: &[usize], versions: &'v [RecordVersion]) -> Vec<Planned<'v>> {
        let versions: HashMap<_, _> = versions.iter().map(|version| (version.key.as_str(), version)).collect();
        let mut planned = Vec::with_capacity(open.len());
        for index in open.iter().copied() {
            let record = &batch.records[index];
            let version = versions.get(record.key.as_str()).copied();
            match import_step(self.rule, version, record.writer) {
                ImportStep::Done(written) => batch.results.set(index, written),
                ImportStep::Insert => planned.push(Planned { index, mark: None, to_store: None }),
                ImportStep::Overwrite { mark, keeps_version } => {
                    planned.push(Planned { index, mark: Some(mark), to_store: version.filter(|_| keeps_version) });
                }
            }
        }
        planned
    }

    /// Writes one file with the versions to be stored. Returns their places by key.
    async fn store_versions<'v>(
        &self,
        records: &[NewRecord],
        planned: &[Planned<'v>],
    ) -> PortResult<HashMap<&'v str, VersionPlace>> {
        let (mut bytes, mut places, mut file) = (Vec::new(), HashMap::new(), String::new());
        for (Planned { index, .. }, version) in planned.iter().filter_map(|planned| Some((planned, planned.to_store?)))
        {
            // Every version that an import may replace can be written as a line.
            let line = PreviousVersion::from_version(version).and_then(|line| serde_json::to_vec(&line).ok());
            let Some(line) = line else { continue };
            if file.is_empty() {
                // All batches of the job write to one folder, and none may replace the file of another: only attempts
                // at the same row could draw the same name.
                file = format!("{}-{}", nonce(), records[*index].writer.row);
            }
            let start = bytes.len() as u64;
            bytes.extend_from_slice(&line);
            let end = bytes.len() as u64;
            bytes.push(b'\n');
            places.insert(version.key.as_str(), VersionPlace { job: self.folder.id, file: file.clone(), start, end });
        }
        if !places.is_empty() {
            self.files.write(&self.folder.versions_key(&file), "application/x-ndjson", bytes).await?;
        }
        Ok(places)
    }

    /// Overwrites records; those that are no longer the versions that were read stay open.
    async fn overwrite(
        &self,
        batch: &mut Unwritten<'_>,
        existing: &[Planned<'_>],
        places: &HashMap<&str, VersionPlace>,
    ) {
        let (mut indexes, mut overwrites) = (Vec::new(), Vec::new());
        for Planned { index, mark, to_store } in existing {
            let previous = to_store.and_then(|version| places.get(version.key.as_str()).cloned());
            // Without its previous version, a record must stay as it is.
            let (Some(mark), true) = (*mark, previous.is_some() == to_store.is_some()) else { continue };
            indexes.push(*index);
            overwrites.push(Overwrite { record: &batch.records[*index], mark, previous });
        }
        if !indexes.is_empty() {
            let results = self.records.overwrite(self.dataset, &overwrites).await;
            batch.results.take(&indexes, results, &Written::Changed);
        }
    }
}

/// The next write of a record.
struct Planned<'v> {
    index: usize,
    /// The version to be overwritten; `None` if the key has no record.
    mark: Option<VersionMark>,
    /// The version to be stored before.
    to_store: Option<&'v RecordVersion>,
}

#[cfg(test)]
#[path = "write_ahead_tests.rs"]
mod tests;
