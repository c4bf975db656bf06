//! A worker's processing of one chunk: in turns for a slow handler, over many work files, and with rows over the limit.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;
use std::time::Duration;

use longshore::chunk::{CHAIN_READS, ChunkEnd, Mode, TURN_S, read_chain};
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Registry, TypeLimits};
use longshore::ports::{JobFolder, Ports};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, JobProgress, Ledger, PortResult, Queues, Read};
use longshore_domain::records::{Format, records};
use longshore_domain::split::Chunker;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, WorkFile};
use longshore_testing::{
    ChunkWorld, MemoryFiles, MemoryQueues, MemoryStore, MemoryStream, WorkerProcess, begin_chunk, delegate_files,
    numbered_rows, put_rows,
};
use serde_json::{Value, json};

/// Number of items of a slow chunk: the maximum of a chunk of short rows.
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

fn waiting(job_type: &str) -> Job {
    Job::waiting(JobId::generate(), TenantId::from_static("default"), job_type, clock())
}

/// A handler that takes a tenth of a second for each item.
struct Slow(MemoryStore);

impl JobType for Slow {
    const NAME: &'static str = "slow";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 100);
        let JobProgress { groups, .. } = self.0.progress(job.job_id).await.unwrap().unwrap();
        let behind = key.number - groups[0].counts.done();
        assert!(behind <= 40, "{behind} items are not committed: four seconds");
        Outcome::Ok(())
    }
}

/// The worker commits every second, and sends a continuation.
#[tokio::test]
async fn a_chunk_of_a_slow_handler_is_committed_every_second_and_continued_in_turns() {
    let world = ChunkWorld::new("slow", &numbered_rows(ITEMS), clock).await;
    let registry = Registry::default().with(Slow(world.ports.store.clone()));
    let (worker, queues) = (world.worker(&registry), &world.ports.queues);
    queues.send_chunks(std::slice::from_ref(&world.message), 0).await.unwrap();
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
    assert_eq!((world.progress().await.groups[0].counts.done(), deliveries), (u64::from(ITEMS), 5));
}

/// Handler that takes 70 ms for each item and defers it to the next round, in which it succeeds.
struct SlowOnce;

impl JobType for SlowOnce {
    const NAME: &'static str = "slow";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 70);
        let after = Some(Duration::ZERO);
        if job.round == 0 { Outcome::Retry { after, reason: "busy".into() } } else { Outcome::Ok(()) }
    }
}

/// Files whose work files take a second to read.
#[derive(Clone, Default)]
struct SlowFiles(MemoryFiles);

impl Files for SlowFiles {
    type Stream = MemoryStream;

    delegate_files!(0: info open write remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        if plan.is_none() {
            CLOCK.set(CLOCK.get() + 1_000);
            IN_A_ROW.set(IN_A_ROW.get() + u32::from(READING.replace(READING.get() + 1) == 0));
            tokio::task::yield_now().await;
            READING.set(READING.get() - 1);
        }
        self.0.read(key, etag, plan).await
    }
}

#[tokio::test]
async fn a_round_whose_files_take_longer_to_find_than_a_turn_makes_progress() {
    let world = ChunkWorld::new("slow", &numbered_rows(ITEMS), clock).await.with_files(SlowFiles);
    let registry = Registry::default().with(SlowOnce);
    let (worker, Ports { queues, files, .. }) = (world.worker(&registry), &world.ports);
    queues.send_chunks(std::slice::from_ref(&world.message), 0).await.unwrap();
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
    assert_eq!(world.progress().await.groups[0].counts.succeeded, u64::from(ITEMS));
    // Workers of later turns refer to the files of earlier turns.
    let folder = JobFolder::for_job(&world.job).chunk(ChunkId::default()).work_key("");
    let named = files.0.keys().into_iter().filter(|key| key.starts_with(folder.trim_end_matches(".jsonl")));
    let named = named.map(|key| WorkFile::parse(&files.0.get(&key).unwrap()).unwrap().header.named().count());
    assert_eq!(named.max(), Some(32));
}

const ROWS: u64 = 100;

/// Job type for rows of up to eight bytes.
struct Short;

impl JobType for Short {
    const NAME: &'static str = "short";
    const LIMITS: TypeLimits = TypeLimits { item_bytes: 8, chunk_bytes: 4 << 10, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, key: ItemKey, row: Value) -> Outcome {
        assert!(row.to_string().len() <= 8, "the handler received row {}, which is too long", key.number);
        if key.number % 10 == 1 { Outcome::reject("asked_to", None, "no") } else { Outcome::Ok(()) }
    }
}

/// Returns true for every third row, which is too long.
fn is_long(number: u64) -> bool {
    number.is_multiple_of(3)
}

/// In chunks with other rows, rows over a small limit fail, and no handler receives them.
#[tokio::test]
async fn only_rows_over_a_small_limit_fail_and_every_row_counts_once() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let rows: String =
        (1..=ROWS).map(|n| if is_long(n) { "\"too long\"\n".into() } else { format!("{n}\n") }).collect();
    let job = put_rows(&files, waiting("short"), &rows).await;
    let (mut chunker, mut plans) = (Chunker::new(Short::LIMITS.chunk(), 1), Vec::new());
    records(Format::JsonLines, rows.as_bytes()).for_each(|span| chunker.push(span, &mut |plan| plans.push(plan)));
    plans.extend(chunker.finish());
    assert_eq!(plans.len(), 1, "rows over the limit do not end a chunk");
    let message = begin_chunk(&store, &job, json!({}), plans.remove(0)).await;
    let ports = Ports { store: store.clone(), queues, files };
    let (registry, process) = (Registry::default().with(Short), WorkerProcess::new(clock));
    let worker = process.worker(&ports, &registry);
    let end = worker.work(&message, Mode::Work, clock().plus_seconds(60)).await.unwrap();
    assert_eq!(end, ChunkEnd::Finished);

    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    let long = (1..=ROWS).filter(|n| is_long(*n)).count() as u64;
    let asked = (1..=ROWS).filter(|n| !is_long(*n) && n % 10 == 1).count() as u64;
    assert_eq!((groups[0].counts.succeeded, groups[0].counts.failed), (ROWS - long - asked, long + asked));
    let last = groups[0].cursors[&0].file.as_deref();
    let chain = read_chain(&ports.files, JobFolder::for_job(&job).chunk(ChunkId::default()), last, 0).await.unwrap();
    let entries: Vec<_> = chain.into_iter().flat_map(|file| file.entries).collect();
    assert_eq!(entries.len() as u64, long + asked);
    for entry in entries {
        let End::Failed(why) = &entry.end else { panic!("{entry:?}") };
        let code = if is_long(entry.n) { "row_too_long" } else { "asked_to" };
        assert_eq!(
            (why.code.as_str(), entry.damaged, entry.raw.is_empty()),
            (code, is_long(entry.n), is_long(entry.n))
        );
    }
}

/// Job type without a file that succeeds in its second round.
struct Second;

impl JobType for Second {
    const NAME: &'static str = "second";
    const INPUT: Input = Input::Options;
    const LIMITS: TypeLimits = TypeLimits { item_bytes: 8, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, context: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        match context.round {
            0 => Outcome::Retry { after: None, reason: "not yet".into() },
            _ => Outcome::Ok(()),
        }
    }
}

#[tokio::test]
async fn options_are_not_subject_to_the_limit_of_rows_in_any_round() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let job = waiting("second");
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 0, oversize: false, keys: None };
    let message = begin_chunk(&store, &job, json!({"text": "longer than eight bytes"}), plan).await;
    let ports = Ports { store: store.clone(), queues, files };
    let (registry, process) = (Registry::default().with(Second), WorkerProcess::new(clock));
    let worker = process.worker(&ports, &registry);
    for end in [ChunkEnd::NextRound, ChunkEnd::Finished] {
        assert_eq!(worker.work(&message, Mode::Work, clock().plus_seconds(60)).await.unwrap(), end);
    }
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!((groups[0].counts.succeeded, groups[0].counts.failed), (1, 0));
}
