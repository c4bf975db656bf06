//! Outputs of any size are copied in bounded memory, into at most as many groups as a job may have.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support {
    pub(crate) mod memory;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use create_job::{SplitEnd, Splitter};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Part, PartSource, Source};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, FileInfo, Files, JobStore, PortResult, Read};
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{OutputSlice, WorkFile};
use longshore_testing::{
    EndedItems, ItemEnd, MemoryFiles, MemoryQueues, MemoryStore, MemoryStream, delegate_files, end_job,
};
use serde_json::json;
use support::memory::{Small, peak};

/// Number of objects with outputs.
const SLICES: usize = 48;
/// Rows of an object, and bytes of a row: 8 MiB, the largest object that a worker writes.
const ROWS: usize = 128;
const ROW: usize = 64 << 10;

/// Outputs that are generated while they are read, and item files that are only counted.
#[derive(Clone, Default)]
struct Generated(MemoryFiles, Arc<AtomicU64>);

fn row() -> Vec<u8> {
    let start = b"{\"number\":1,\"output\":\"";
    let mut row = [start.as_slice(), &vec![b'x'; ROW - start.len() - 3]].concat();
    row.extend_from_slice(b"\"}\n");
    row
}

impl Files for Generated {
    type Stream = MemoryStream;

    delegate_files!(0: open remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        if key.ends_with(".out.jsonl") {
            return Ok(Read::Found(row().repeat(ROWS)));
        }
        self.0.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        if key.contains("/keys/") {
            self.1.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            return Ok(());
        }
        self.0.write(key, content_type, bytes).await
    }

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        if key.contains("/keys/") {
            return Ok(Some(FileInfo { size_bytes: 1, etag: "e".into() }));
        }
        self.0.info(key).await
    }
}

/// Stores an ended job whose items have these outputs.
async fn ended(store: &MemoryStore, files: &MemoryFiles) -> JobId {
    let chunk = || vec![vec![("{}".to_owned(), ItemEnd::Ok(Some("{}".to_owned())))]];
    let items = EndedItems { groups: (0..SLICES).map(|_| chunk()).collect(), ..EndedItems::default() };
    let definition = Definition { results: Some(ResultsForm::default()), ..Definition::new(json!({})) };
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "small", Timestamp(0));
    let job = end_job(store, files, job, &definition, &items).await;
    for key in files.keys().into_iter().filter(|key| key.contains("/chunks/") && !key.ends_with(".out.jsonl")) {
        let mut file = WorkFile::parse(&files.get(&key).unwrap()).unwrap();
        let (rows, bytes) = (ROWS as u64, (ROWS * ROW) as u64);
        file.header.outputs = file.header.outputs.map(|outputs| OutputSlice { rows, bytes, ..outputs });
        files.put(&key, file.to_bytes().unwrap());
    }
    job.job_id
}

#[tokio::test]
async fn hundreds_of_megabytes_of_outputs_are_copied_in_bounded_memory() {
    let (store, files) = (MemoryStore::default(), Generated::default());
    let job_id = ended(&store, &files.0).await;
    let (format, name) = (Format::JsonLines, "results.jsonl".to_owned());
    let source = Source::Job(PartSource { job_id, part: Part::Results, generation: 0, format, name });
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "small", Timestamp(0));
    let job = Job { source: Some(source), ..job };
    store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    let written = files.1.clone();
    let ports = Ports { store: store.clone(), queues: MemoryQueues::default(), files };
    let registry = Registry::default().with(Small);
    let splitter = Splitter { ports: &ports, registry: &registry, clock: || Timestamp(1) };
    let before = peak();
    assert_eq!(splitter.split(&CreateMessage::new(&job), Timestamp(1_000)).await.unwrap(), SplitEnd::Ended);
    let grown = (peak() - before) >> 20;
    let split = store.job(job.job_id).await.unwrap().unwrap().split;
    assert_eq!(split.item_count, (SLICES * ROWS) as u64);
    assert!(written.load(Ordering::Relaxed) > (SLICES * ROWS * (ROW - 100)) as u64);
    assert!(split.groups < 150, "{} groups", split.groups);
    assert!(grown < 128, "{grown} MiB more for {} MiB of outputs", (SLICES * ROWS * ROW) >> 20);
}
