//! The walk over a dataset: each record that exists during the whole walk is in exactly one committed item file, whoever
//! writes meanwhile, and whichever of two splitters commits.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support {
    pub(crate) mod turns;
}

use std::sync::Arc;

use create_job::{SplitEnd, Splitter};
use longshore::handler::{AnyRecordReader, Registry};
use longshore::metering;
use longshore::ports::Ports;
use longshore_domain::cost::{NanoDollars, Units, generation_cost};
use longshore_domain::dataset::Dataset;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, Source, Tolerance};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{
    Definition, Files, JobStore, KeyPage, KeyWalk, KnownRecords, Ledger, NewRecord, PortResult, Read, RecordReader,
    RecordStore,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::{Map, json};
use support::turns::{Each, clock};

struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    records: MemoryRecords,
    job: Job,
}

fn people() -> Dataset {
    Dataset { tenant: TenantId::from_static("default"), name: "people".into() }
}

impl World {
    async fn new(keys: impl Iterator<Item = String>, updated_since: Option<Timestamp>) -> Self {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let source = Source::Dataset(DatasetSource { dataset: "people".into(), updated_since });
        let job = Job::waiting(JobId::generate(), people().tenant, "each", Timestamp(0));
        let job = Job { source: Some(source), ..job };
        store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
        let world = Self { ports: Ports { store, queues, files }, records: MemoryRecords::default(), job };
        world.write(keys).await;
        world
    }

    /// Replaces the job by one with a maximum cost.
    async fn with_max_cost(self, max: NanoDollars) -> Self {
        let job = Job::waiting(JobId::generate(), people().tenant, "each", Timestamp(0));
        let tolerance = Tolerance { max_cost: Some(max), ..job.tolerance };
        let job = Job { source: self.job.source.clone(), tolerance, ..job };
        self.ports.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
        Self { job, ..self }
    }

    async fn write(&self, keys: impl Iterator<Item = String>) {
        let writer = Writer { job: JobId::generate(), row: 1 };
        let records: Vec<_> = keys.map(|key| NewRecord { key, data: Map::new(), writer }).collect();
        self.records.put(&people(), Rule::Upsert, records).await;
    }

    async fn split(&self) -> SplitEnd {
        self.split_with(Arc::new(self.records.clone())).await
    }

    async fn split_with(&self, records: Arc<dyn AnyRecordReader>) -> SplitEnd {
        let registry = Registry::default().with(Each).with_records(records);
        let splitter = Splitter { ports: &self.ports, registry: &registry, clock };
        splitter.split(&CreateMessage::new(&self.job), Timestamp(i64::MAX)).await.unwrap()
    }

    async fn stored(&self) -> Job {
        self.ports.store.job(self.job.job_id).await.unwrap().unwrap()
    }

    /// Keys in the ranges of all chunks, after a check of their numbers.
    async fn planned(&self) -> Vec<String> {
        let (job, mut keys) = (self.stored().await, Vec::new());
        for group in 0..job.split.groups {
            for plan in self.ports.store.manifest(job.job_id, group).await.unwrap().unwrap().chunks {
                assert_eq!(plan.first, keys.len() as u64 + 1);
                keys.extend(self.keys(&job, &plan).await);
                assert_eq!(plan.first + u64::from(plan.items), keys.len() as u64 + 1);
            }
        }
        assert_eq!(job.split.item_count, keys.len() as u64);
        keys
    }

    async fn keys(&self, job: &Job, plan: &ChunkPlan) -> Vec<String> {
        let file = job.chunk_file(plan).unwrap();
        let Read::Found(lines) = self.ports.files.read(&file.key, Some(&file.etag), Some(plan)).await.unwrap() else {
            panic!("the item file is missing");
        };
        serde_json::Deserializer::from_slice(&lines).into_iter().map(Result::unwrap).collect()
    }
}

fn key(n: usize) -> String {
    format!("k{n:05}")
}

#[tokio::test]
async fn a_walk_of_several_turns_plans_each_key_once_and_in_order() {
    let world = World::new((0..5_000).map(key), None).await;
    let mut turns = 1;
    while world.split().await == SplitEnd::Continued {
        turns += 1;
    }
    assert!(turns > 3, "{turns} turns");
    assert!(world.stored().await.split.ended);
    assert_eq!(world.planned().await, (0..5_000).map(key).collect::<Vec<_>>());
}

#[tokio::test]
async fn records_that_exist_during_the_whole_walk_are_planned_once_whoever_writes_meanwhile() {
    let world = World::new((0..2_000).map(key), None).await;
    let mut turn = 0;
    while world.split().await == SplitEnd::Continued {
        turn += 1;
        // New records before and behind the place; removed ones; and changes of all kinds of others.
        world.write([format!("k00000-{turn}"), format!("k01999-{turn}")].into_iter()).await;
        world.write((0..2_000).step_by(7).map(key)).await;
        world.records.delete(&people(), &key(turn * 13)).await.unwrap();
        world.records.delete(&people(), &key(2_000 - turn)).await.unwrap();
    }
    assert!(turn > 2);
    let planned = world.planned().await;
    assert!(planned.is_sorted_by(|a, b| a < b), "each key once, in order");
    let removed: Vec<_> = (1..=turn).flat_map(|turn| [key(turn * 13), key(2_000 - turn)]).collect();
    for key in (0..2_000).map(key).filter(|key| !removed.contains(key)) {
        assert!(planned.binary_search(&key).is_ok(), "{key} is missing");
    }
}

/// Records of which each page of keys costs 100 read units.
struct Metered(MemoryRecords);

impl RecordReader for Metered {
    async fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        metering::add(Units { reads: 100, ..Units::NONE });
        RecordReader::walk_keys(&self.0, of, walk).await
    }

    async fn read_records(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        RecordReader::read_records(&self.0, of, keys).await
    }
}

#[tokio::test]
async fn the_reads_of_a_walk_are_stored_with_its_groups_also_if_no_chunk_has_begun() {
    let world = World::new((0..5_000).map(key), None).await;
    world.split_with(Arc::new(Metered(world.records.clone()))).await;
    let groups = world.ports.store.progress(world.job.job_id).await.unwrap().unwrap().groups;
    let reads: u64 = groups.iter().map(|group| group.usage.reads).sum();
    assert!(reads >= 100 && reads.is_multiple_of(100), "{reads}");
}

/// No worker commits here, as if the handler were unavailable.
#[tokio::test]
async fn a_walk_stops_before_its_reads_cost_more_than_the_maximum() {
    let mut world = World::new((0..5_000).map(key), None).await;
    let cost = async |world: &World| {
        let progress = world.ports.store.progress_from(world.job.job_id, 0).await.unwrap().unwrap();
        generation_cost(&progress.job, &progress.groups).total()
    };
    let metered = |world: &World| Arc::new(Metered(world.records.clone()));
    let mut turns = 1;
    while world.split_with(metered(&world)).await == SplitEnd::Continued {
        turns += 1;
    }
    let whole = cost(&world).await;
    let max = NanoDollars(whole.0 / 2);
    world = World::new((0..5_000).map(key), None).await.with_max_cost(max).await;
    let mut limited = 1;
    while world.split_with(metered(&world)).await == SplitEnd::Continued {
        limited += 1;
    }
    let stopped = world.stored().await;
    assert_eq!(stopped.stop.and_then(|stop| stop.error).map(|error| error.code).as_deref(), Some("cost_limit"));
    assert!(limited > 1 && limited < turns, "{limited} of {turns} turns");
    assert!(cost(&world).await < whole);
}

#[tokio::test]
async fn an_empty_dataset_is_a_job_without_items() {
    for updated_since in [None, Some(Timestamp(i64::MAX))] {
        let keys = if updated_since.is_some() { 2_500 } else { 0 };
        let world = World::new((0..keys).map(key), updated_since).await;
        assert_eq!(world.split().await, SplitEnd::Ended);
        let job = world.stored().await;
        assert_eq!((job.split.ended, job.split.item_count, job.split.groups), (true, 0, 0));
        assert!(job.all_done());
    }
}
