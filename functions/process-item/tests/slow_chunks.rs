//! A chunk of a slow handler is processed in turns: the worker commits every second, and sends a continuation.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;

use longshore::chunk::{ChunkEnd, DefinitionCache, Mode, TURN_S, Worker};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::ports::Ports;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger, Queues};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

/// Number of items: the maximum of a chunk of short rows.
const ITEMS: u64 = 1_000;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// A handler that takes a tenth of a second for each item.
struct Slow(MemoryStore);

impl JobType for Slow {
    const NAME: &'static str = "slow";
    type Options = Value;
    type Item = Value;

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 100);
        let JobProgress { groups, .. } = self.0.progress(job.job_id).await.unwrap().unwrap();
        let behind = key.number - groups[0].counts.done();
        assert!(behind <= 40, "{behind} items are not committed: four seconds");
        Outcome::Ok
    }
}

#[tokio::test]
async fn a_chunk_of_a_slow_handler_is_committed_every_second_and_continued_in_turns() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let rows = (1..=ITEMS).map(|n| format!("{n}\n")).collect::<String>();
    files.put("k", rows.clone());
    let info = files.info("k").await.unwrap().unwrap();
    let (size_bytes, etag) = (info.size_bytes, info.etag);
    let source = SourceFile { key: "k".into(), size_bytes, etag, format: Format::JsonLines, name: "f.jsonl".into() };
    let job = Job {
        source: Some(source),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "slow", clock())
    };
    store.create_job(&job, &Definition { options: json!({}), columns: None }, None).await.unwrap();
    store.begin(job.job_id, clock()).await.unwrap();
    let plan = ChunkPlan { first: 1, items: ITEMS as u32, start: 0, end: rows.len() as u64, oversize: false };
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..plan.end), clock()).await.unwrap();
    let ports = Ports { store: store.clone(), queues: queues.clone(), files };
    let (registry, definitions) = (Registry::default().with(Slow(store.clone())), DefinitionCache::default());
    let worker = Worker { ports: &ports, registry: &registry, definitions: &definitions, retry_base_s: 0, clock };
    queues.send_chunks(&[ChunkMessage::new(&job, ChunkId::default(), &plan)], 0).await.unwrap();
    let mut deliveries = 0;
    loop {
        let (message, began) = (queues.take_chunks().pop().unwrap().message, clock());
        let end = worker.work(&message, Mode::Work, began.plus_seconds(116)).await.unwrap();
        deliveries += 1;
        let took_ms = clock().millis_since(began);
        assert!(took_ms <= TURN_S * 1_000 + 2_000, "the turn took {took_ms} ms");
        if end == ChunkEnd::Finished {
            break;
        }
        assert_eq!(end, ChunkEnd::Continued);
    }
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!((groups[0].counts.done(), deliveries), (ITEMS, 5));
}
