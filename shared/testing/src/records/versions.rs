//! Versions of records in memory.

use longshore::aws_limits::dynamodb::{BATCH_GET_KEYS, BATCH_STATEMENTS, Call, check_call, check_item};
use longshore::store::records::VersionCollector;
use longshore_domain::dataset::Dataset;
use longshore_domain::history::VersionPlace;
use longshore_domain::ports::{KnownVersions, NewRecord, Overwrite, PortResult, RecordVersions, Revert};
use longshore_domain::writer::{Writer, Written};

use super::memory::{MemoryRecords, Stored, failed, one_call, record_key};

impl RecordVersions for MemoryRecords {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        self.lock_datasets().entry(into.clone()).or_insert_with(|| self.now());
        let calls = records.chunks(BATCH_STATEMENTS).flat_map(|batch| {
            let keys: Vec<_> = batch.iter().map(|record| &record.key).collect();
            one_call(&keys, |index| self.insert_one(into, batch[index]))
        });
        calls.collect()
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        for keys in keys.chunks(BATCH_GET_KEYS) {
            check_call(Call::BatchGet, keys).map_err(failed("read versions"))?;
        }
        let records = self.lock();
        let mut collector = VersionCollector::default();
        for key in keys {
            if !collector.push(records.get(&record_key(of, key)).map(|stored| stored.version(key))) {
                break;
            }
        }
        Ok(collector.finish())
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        let calls = records.chunks(BATCH_STATEMENTS).flat_map(|batch| {
            let keys: Vec<_> = batch.iter().map(|overwrite| &overwrite.record.key).collect();
            one_call(&keys, |index| self.overwrite_one(into, &batch[index]))
        });
        calls.collect()
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        let calls = reverts.chunks(BATCH_STATEMENTS).flat_map(|batch| {
            let keys: Vec<_> = batch.iter().map(|revert| revert.key.to_owned()).collect();
            one_call(&keys.iter().collect::<Vec<_>>(), |index| self.revert_one(of, &batch[index]))
        });
        calls.collect()
    }
}

impl MemoryRecords {
    fn insert_one(&self, into: &Dataset, record: &NewRecord) -> Written {
        let stored = Stored::new(record, None, self.now());
        if let Err(refusal) = check_item(&stored.item(into, &record.key)) {
            return Written::Refused(refusal.message);
        }
        let mut records = self.lock();
        let key = record_key(into, &record.key);
        if records.contains_key(&key) {
            return Written::Taken(None);
        }
        records.insert(key, stored);
        Written::Stored
    }

    fn overwrite_one(&self, into: &Dataset, overwrite: &Overwrite<'_>) -> Written {
        let Overwrite { record, previous, .. } = overwrite;
        let mut records = self.lock();
        let key = record_key(into, &record.key);
        let Some(holder) = records.get(&key).filter(|holder| overwrite.replaces(holder.version(&record.key).mark()))
        else {
            return Written::Changed;
        };
        let mut stored = Stored::new(record, Some(holder), self.now());
        stored.previous = previous.clone().or(stored.previous);
        if let Err(refusal) = check_item(&stored.item(into, &record.key)) {
            return Written::Refused(refusal.message);
        }
        records.insert(key, stored);
        Written::Stored
    }

    fn revert_one(&self, of: &Dataset, Revert { key, mark, by, to }: &Revert<'_>) -> Written {
        let mut records = self.lock();
        let id = record_key(of, key);
        let is_as_read = records.get(&id).map(|holder| holder.version(key).mark() == *mark);
        let Some(to) = to else {
            if is_as_read == Some(false) {
                return Written::Changed;
            }
            records.remove(&id);
            return Written::Stored;
        };
        if is_as_read != Some(true) {
            return Written::Changed;
        }
        let restored = Stored {
            data: to.data.clone(),
            writer: Writer::parse(&to.writer),
            updated_at: self.now(),
            created_by: to.created_by,
            previous: to.previous.as_deref().and_then(VersionPlace::parse),
            restored_by: Some(*by),
        };
        if let Err(refusal) = check_item(&restored.item(of, key)) {
            return Written::Refused(refusal.message);
        }
        records.insert(id, restored);
        Written::Stored
    }
}
