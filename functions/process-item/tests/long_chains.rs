//! A chunk with many work files: it makes progress although finding the files of its last round takes longer than a
//! turn.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;
use std::time::Duration;

use longshore::chunk::{CHAIN_READS, ChunkEnd, DefinitionCache, Mode, TURN_S, Worker};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::ports::{JobFolder, Ports};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{
    Definition, FileInfo, Files, JobProgress, JobStore, JobTransitions, Ledger, PortResult, PrefixRemoval, Queues, Read,
};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::WorkFile;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore, MemoryStream};
use serde_json::{Value, json};

const ITEMS: u32 = 1_000;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Number of reads of work files in progress.
    static READING: Cell<u32> = const { Cell::new(0) };
    /// Number of reads that began while no other one was in progress.
    static IN_A_ROW: Cell<u32> = const { Cell::new(0) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Handler that takes 70 ms for each item and defers it to the next round, in which it succeeds.
struct Slow;

impl JobType for Slow {
    const NAME: &'static str = "slow";
    type Options = Value;
    type Item = Value;

    async fn process(&self, job: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 70);
        let after = Some(Duration::ZERO);
        if job.round == 0 { Outcome::Retry { after, reason: "busy".into() } } else { Outcome::Ok }
    }
}

/// Files whose work files take a second to read.
#[derive(Clone, Default)]
struct SlowFiles(MemoryFiles);

impl Files for SlowFiles {
    type Stream = MemoryStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.0.info(key).await
    }

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<MemoryStream>> {
        self.0.open(key, etag, start, end).await
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        if plan.is_none() {
            CLOCK.set(CLOCK.get() + 1_000);
            IN_A_ROW.set(IN_A_ROW.get() + u32::from(READING.replace(READING.get() + 1) == 0));
            tokio::task::yield_now().await;
            READING.set(READING.get() - 1);
        }
        self.0.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.0.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.0, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.0.remove_some(prefix).await
    }
}

#[tokio::test]
async fn a_round_whose_files_take_longer_to_find_than_a_turn_makes_progress() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), SlowFiles::default());
    let rows = (1..=ITEMS).map(|n| format!("{n}\n")).collect::<String>();
    files.0.put("k", rows.clone());
    let info = files.info("k").await.unwrap().unwrap();
    let (size_bytes, etag) = (info.size_bytes, info.etag);
    let source = SourceFile { key: "k".into(), size_bytes, etag, format: Format::JsonLines, name: "f.jsonl".into() };
    let job = Job {
        source: Some(source),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "slow", clock())
    };
    store.create_job(&job, &Definition { options: json!({}), columns: None }, None).await.unwrap();
    store.begin(job.job_id, clock()).await.unwrap();
    let plan = ChunkPlan { first: 1, items: ITEMS, start: 0, end: rows.len() as u64, oversize: false };
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..plan.end), clock()).await.unwrap();
    let ports = Ports { store: store.clone(), queues: queues.clone(), files: files.clone() };
    let (registry, definitions) = (Registry::default().with(Slow), DefinitionCache::default());
    let worker = Worker { ports: &ports, registry: &registry, definitions: &definitions, retry_base_s: 0, clock };
    queues.send_chunks(&[ChunkMessage::new(&job, ChunkId::default(), &plan)], 0).await.unwrap();
    let (mut deliveries, mut files_of_round) = (0, 0);
    loop {
        let message = queues.take_chunks().pop().unwrap().message;
        IN_A_ROW.set(0);
        let end = worker.work(&message, Mode::Work, clock().plus_seconds(600)).await.unwrap();
        deliveries += 1;
        assert!(deliveries < 50, "the chunk makes no progress");
        match end {
            ChunkEnd::Finished => break,
            ChunkEnd::NextRound => {
                files_of_round = files.0.keys().iter().filter(|key| key.ends_with(".jsonl")).count();
                assert!(files_of_round as i64 > 2 * TURN_S, "{files_of_round} files");
            }
            end => assert_eq!(end, ChunkEnd::Continued),
        }
    }
    let in_a_row = IN_A_ROW.get() as usize;
    assert!(in_a_row <= files_of_round / CHAIN_READS + 4, "{in_a_row} of {files_of_round} reads are sequential");
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(groups[0].counts.succeeded, u64::from(ITEMS));
    // Workers of later turns refer to the files of earlier turns.
    let folder = JobFolder::for_job(&job).chunk(ChunkId::default()).work_key("");
    let named = files.0.keys().into_iter().filter(|key| key.starts_with(folder.trim_end_matches(".jsonl")));
    let named = named.map(|key| WorkFile::parse(&files.0.get(&key).unwrap()).unwrap().header.named().count());
    assert_eq!(named.max(), Some(32));
}
