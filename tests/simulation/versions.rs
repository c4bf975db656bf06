//! Versions of records, whose single reads and writes can be interrupted, refused and repeated, and whose conditions can
//! be removed.

use longshore_domain::dataset::Dataset;
use longshore_domain::history::RecordVersion;
use longshore_domain::ports::{KnownVersions, NewRecord, Overwrite, PortResult, RecordVersions, Revert};
use longshore_domain::writer::Written;
use longshore_testing::MemoryRecords;

use crate::faults::{after, before};
use crate::imports::{Records, one_write};
use crate::lineage::{Origin, observed};
use crate::unguarded::{Unguarded, as_is, without};

/// Reads and overwrites each version separately, with the faults of `put`.
impl RecordVersions for Records {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        let mut written = Vec::new();
        for record in records {
            let record = std::slice::from_ref(record);
            let (first, second) = (self.0.insert_new(into, record), self.0.insert_new(into, record));
            written.push(one_write("insert_record", first, second).await);
        }
        written
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        let fault = before("read_versions").await?;
        // As many as fit into memory.
        let versions = self.0.read_versions(of, &keys[..keys.len().min(2)]).await;
        after("read_versions", fault).await?;
        versions
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        let mut written = Vec::new();
        for record in records {
            let record = std::slice::from_ref(record);
            let (first, second) = (self.0.overwrite(into, record), self.0.overwrite(into, record));
            written.push(one_write("overwrite_record", first, second).await);
        }
        written
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        let mut written = Vec::new();
        for revert in reverts {
            let revert = std::slice::from_ref(revert);
            let (first, second) = (self.0.revert(of, revert), self.0.revert(of, revert));
            written.push(one_write("revert_record", first, second).await);
        }
        written
    }
}

/// Name of the condition that a record is overwritten only if it is the version that was read.
const AS_READ: &str = "overwrites-of-the-version-read";
/// Name of the condition that a record is reverted only if it is the version that was read.
const REVERTED_AS_READ: &str = "reverts-of-the-version-read";

impl RecordVersions for Unguarded<MemoryRecords> {
    as_is! {
        async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions>;
    }

    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        let keys = records.iter().map(|record| (record.key.clone(), Origin::Import)).collect();
        observed(&self.0, into, keys, self.0.insert_new(into, records)).await
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        let keys = records.iter().map(|overwrite| (overwrite.record.key.clone(), Origin::Import)).collect();
        if !without(AS_READ) {
            return observed(&self.0, into, keys, self.0.overwrite(into, records)).await;
        }
        let versions = self.0.versions(into);
        let mut forced = records.to_vec();
        for overwrite in &mut forced {
            overwrite.mark = versions.get(&overwrite.record.key).map_or(overwrite.mark, RecordVersion::mark);
        }
        observed(&self.0, into, keys, self.0.overwrite(into, &forced)).await
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        let keys = reverts.iter().map(|revert| (revert.key.to_owned(), Origin::Undo(revert.by.job))).collect();
        if !without(REVERTED_AS_READ) {
            return observed(&self.0, of, keys, self.0.revert(of, reverts)).await;
        }
        let versions = self.0.versions(of);
        let mut forced = reverts.to_vec();
        for revert in &mut forced {
            revert.mark = versions.get(revert.key).map_or(revert.mark, RecordVersion::mark);
        }
        observed(&self.0, of, keys, self.0.revert(of, &forced)).await
    }
}
