//! Rows over a small limit in chunks with other rows: they fail, no handler receives them, and every row counts once.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use longshore::chunk::{ChunkEnd, DefinitionCache, Mode, Worker, read_chain};
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Registry, TypeLimits};
use longshore::ports::{JobFolder, Ports};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger};
use longshore_domain::records::{Format, records};
use longshore_domain::split::Chunker;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::End;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp(1_000);
const ROWS: u64 = 100;

/// Job type for rows of up to eight bytes.
struct Short;

impl JobType for Short {
    const NAME: &'static str = "short";
    const LIMITS: TypeLimits = TypeLimits { item_bytes: 8, chunk_bytes: 4 << 10, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;

    async fn process(&self, _: &JobContext, _: &Value, key: ItemKey, row: Value) -> Outcome {
        assert!(row.to_string().len() <= 8, "the handler received row {}, which is too long", key.number);
        if key.number % 10 == 1 { Outcome::reject("asked_to", None, "no") } else { Outcome::Ok }
    }
}

/// Returns true for every third row, which is too long.
fn is_long(number: u64) -> bool {
    number.is_multiple_of(3)
}

#[tokio::test]
async fn only_rows_over_a_small_limit_fail_and_every_row_counts_once() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let rows: String =
        (1..=ROWS).map(|n| if is_long(n) { "\"too long\"\n".into() } else { format!("{n}\n") }).collect();
    files.put("k", rows.clone());
    let info = files.info("k").await.unwrap().unwrap();
    let (size_bytes, etag) = (info.size_bytes, info.etag);
    let source = SourceFile { key: "k".into(), size_bytes, etag, format: Format::JsonLines, name: "f.jsonl".into() };
    let job =
        Job { source: Some(source), ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "short", NOW) };
    store.create_job(&job, &Definition { options: json!({}), columns: None }, None).await.unwrap();
    store.begin(job.job_id, NOW).await.unwrap();
    let (mut chunker, mut plans) = (Chunker::new(Short::LIMITS.chunk(), 1), Vec::new());
    records(Format::JsonLines, rows.as_bytes()).for_each(|span| chunker.push(span, &mut |plan| plans.push(plan)));
    plans.extend(chunker.finish());
    assert_eq!(plans.len(), 1, "rows over the limit do not end a chunk");
    let plan = plans.remove(0);
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..plan.end), NOW).await.unwrap();
    let ports = Ports { store: store.clone(), queues, files };
    let (registry, definitions) = (Registry::default().with(Short), DefinitionCache::default());
    let worker =
        Worker { ports: &ports, registry: &registry, definitions: &definitions, retry_base_s: 0, clock: || NOW };
    let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    let end = worker.work(&message, Mode::Work, NOW.plus_seconds(60)).await.unwrap();
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

    async fn process(&self, context: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        match context.round {
            0 => Outcome::Retry { after: None, reason: "not yet".into() },
            _ => Outcome::Ok,
        }
    }
}

#[tokio::test]
async fn options_are_not_subject_to_the_limit_of_rows_in_any_round() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "second", NOW);
    let options = json!({"text": "longer than eight bytes"});
    store.create_job(&job, &Definition { options, columns: None }, None).await.unwrap();
    store.begin(job.job_id, NOW).await.unwrap();
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 0, oversize: false };
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..0), NOW).await.unwrap();
    let ports = Ports { store: store.clone(), queues, files };
    let (registry, definitions) = (Registry::default().with(Second), DefinitionCache::default());
    let worker =
        Worker { ports: &ports, registry: &registry, definitions: &definitions, retry_base_s: 0, clock: || NOW };
    let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    for end in [ChunkEnd::NextRound, ChunkEnd::Finished] {
        assert_eq!(worker.work(&message, Mode::Work, NOW.plus_seconds(60)).await.unwrap(), end);
    }
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!((groups[0].counts.succeeded, groups[0].counts.failed), (1, 0));
}
