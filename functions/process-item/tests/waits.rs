//! Items of one chunk that request different waits.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use longshore::chunk::{ChunkEnd, DefinitionCache, Mode, Worker};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

/// Number of items.
const ITEMS: u32 = 10;

/// Wait of the items with an odd number, in seconds; the others wait for a second.
const LONG_S: u64 = 100;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Number of each item that was passed to the handler, and the second.
    static PASSED: RefCell<Vec<(u64, i64)>> = const { RefCell::new(Vec::new()) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// A handler that defers each item once.
struct Waiting;

impl JobType for Waiting {
    const NAME: &'static str = "waiting";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        let is_first = PASSED.with_borrow(|passed| passed.iter().all(|(number, _)| *number != key.number));
        PASSED.with_borrow_mut(|passed| passed.push((key.number, clock().seconds())));
        let after = Some(Duration::from_secs(if key.number % 2 == 1 { LONG_S } else { 1 }));
        if is_first { Outcome::Retry { after, reason: "busy".into() } } else { Outcome::Ok(()) }
    }
}

#[tokio::test]
async fn each_item_is_passed_to_the_handler_again_after_its_own_wait() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let rows = (0..ITEMS).map(|n| format!("{n}\n")).collect::<String>();
    files.put("k", rows.as_str());
    let info = files.info("k").await.unwrap().unwrap();
    let size_bytes = info.size_bytes;
    let source = SourceFile::new("k", info, Format::JsonLines, "f.jsonl");
    let waiting = Job::waiting(JobId::generate(), TenantId::from_static("default"), "waiting", clock());
    let job = Job { source: Some(source.into()), ..waiting };
    let plan = ChunkPlan { first: 1, items: ITEMS, start: 0, end: size_bytes, oversize: false, keys: None };
    store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    store.begin(job.job_id, 0, clock()).await.unwrap();
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..size_bytes), clock()).await.unwrap();
    let ports = Ports { store: store.clone(), queues: queues.clone(), files };
    let (registry, definitions) = (Registry::default().with(Waiting), DefinitionCache::default());
    let worker = Worker {
        ports: &ports,
        registry: &registry,
        definitions: &definitions,
        pauses: &PauseCache::default(),
        retry_base_s: 0,
        clock,
        meter: Default::default(),
    };
    let mut message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    let mut ends = Vec::new();
    loop {
        ends.push(worker.work(&message, Mode::Work, clock().plus_seconds(60)).await.unwrap());
        let Some(sent) = queues.take_chunks().pop() else { break };
        CLOCK.set(clock().plus_seconds(sent.delay_s.into()).0);
        message = sent.message;
    }
    assert_eq!(ends, [ChunkEnd::NextRound, ChunkEnd::NextRound, ChunkEnd::Finished]);
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(groups[0].counts, Counts { succeeded: ITEMS.into(), ..Counts::default() });
    let passed = PASSED.take().split_off(ITEMS as usize);
    let (early, late): (Vec<_>, Vec<_>) = passed.into_iter().partition(|(_, second)| *second < 10);
    assert_eq!(early.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 4, 6, 8, 10]);
    assert_eq!(late.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    assert!(late.iter().all(|(_, second)| (100..=113).contains(second)), "{late:?}");
}
