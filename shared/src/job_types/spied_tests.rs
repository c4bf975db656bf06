//! Records and files in memory that record the calls, and can be slow, refused or overtaken by other writers.

use std::cell::Cell;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use longshore_domain::dataset::Dataset;
use longshore_domain::group::ChunkPlan;
use longshore_domain::history::{PreviousVersion, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{
    Files, KnownVersions, NewRecord, Overwrite, PortError, PortResult, Read, RecordStore, RecordVersions, Revert,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::{MemoryFiles, MemoryRecords, delegate_files};
use serde_json::{Map, Value};

thread_local!(static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) });

/// Returns the time, later by what slow calls of this thread have taken.
pub(super) fn clock() -> Instant {
    Instant::now() + PASSED.get()
}

pub(super) fn dataset() -> Dataset {
    Dataset { tenant: TenantId::from_static("t"), name: "d".into() }
}

/// Stores a record of an earlier job, and overwrites it as the import does.
pub(super) fn overwrite(records: &MemoryRecords, [earlier, import]: [JobId; 2], key: &str, place: &VersionPlace) {
    let record = |job| NewRecord { key: key.into(), data: Map::new(), writer: Writer { job, row: 1 } };
    let write = async {
        assert_eq!(records.insert_new(&dataset(), &[&record(earlier)]).await, [Written::Stored]);
        let mark = records.versions(&dataset())[key].mark();
        let overwrite = Overwrite { record: &record(import), mark, previous: Some(place.clone()) };
        assert_eq!(records.overwrite(&dataset(), &[overwrite]).await, [Written::Stored]);
    };
    block_on(write);
}

/// Returns the line of the version that an earlier job wrote.
pub(super) fn line(earlier: JobId, key: &str, data: Value) -> Vec<u8> {
    let writer = Writer { job: earlier, row: 1 }.to_string();
    let data = [("v".to_owned(), data)].into_iter().collect();
    let line = PreviousVersion { key: key.into(), data, writer, created_by: Some(earlier), previous: None };
    serde_json::to_vec(&line).unwrap()
}

/// The calls of a test.
#[derive(Clone, Default)]
pub(super) struct Calls {
    made: Arc<Mutex<Vec<&'static str>>>,
    slow: Arc<Mutex<&'static str>>,
}

impl Calls {
    /// Forgets all calls, and makes those of this name take two seconds.
    pub(super) fn restart(&self, slow: &'static str) {
        self.made.lock().unwrap().clear();
        *self.slow.lock().unwrap() = slow;
    }

    /// Returns the calls since the last restart.
    pub(super) fn made(&self) -> Vec<&'static str> {
        self.made.lock().unwrap().clone()
    }

    fn end(&self, call: &'static str) {
        self.made.lock().unwrap().push(call);
        if *self.slow.lock().unwrap() == call {
            PASSED.set(PASSED.get() + Duration::from_secs(2));
        }
    }
}

/// The records, and the writes of others between a read and the write that follows it.
#[derive(Clone, Default)]
pub(super) struct SpiedRecords {
    pub(super) records: MemoryRecords,
    pub(super) calls: Calls,
    pub(super) meanwhile: Arc<Mutex<Vec<NewRecord>>>,
}

impl RecordVersions for SpiedRecords {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        let written = self.records.insert_new(into, records).await;
        self.calls.end("insert");
        written
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        let versions = self.records.read_versions(of, keys).await;
        let meanwhile = self.meanwhile.lock().unwrap().pop();
        if let Some(record) = meanwhile {
            assert_eq!(self.records.put(of, Rule::Upsert, vec![record]).await, [Written::Stored]);
        }
        self.calls.end("read");
        versions
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        let written = self.records.overwrite(into, records).await;
        self.calls.end("overwrite");
        written
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        let written = self.records.revert(of, reverts).await;
        self.calls.end("revert");
        written
    }
}

/// The files, and the cause of the failure of the next call.
#[derive(Default)]
pub(super) struct SpiedFiles {
    pub(super) files: MemoryFiles,
    pub(super) calls: Calls,
    pub(super) failure: Mutex<Option<Box<dyn Error + Send + Sync>>>,
}

impl SpiedFiles {
    fn end(&self, call: &'static str) -> PortResult<()> {
        self.calls.end(call);
        match self.failure.lock().unwrap().take() {
            Some(source) => Err(PortError { service: "files", operation: call, source }),
            None => Ok(()),
        }
    }
}

impl Files for SpiedFiles {
    type Stream = <MemoryFiles as Files>::Stream;

    delegate_files!(files: info open remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        let read = self.files.read(key, etag, plan).await;
        self.end("read file").and(read)
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.files.write(key, content_type, bytes).await?;
        self.end("write file")
    }
}
