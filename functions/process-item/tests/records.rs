//! A chunk whose items are records of a dataset: they are read when they are processed, and those that are gone are
//! skipped.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::sync::{Arc, Mutex};

use longshore::chunk::{ChunkEnd, Mode, read_chain};
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Record, Registry, Rejection, TypeLimits};
use longshore::ports::{JobFolder, Ports};
use longshore_domain::dataset::Dataset;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{DatasetSource, ItemFile, Job, Source};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{
    Definition, Files, JobProgress, JobStore, JobTransitions, Ledger, NewRecord, RecordStore,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::End;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, WorkerProcess};
use serde_json::{Map, Value, json};

/// Retries odd records in their first round, and notes the number, key and data of each call.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<(u64, String, Value)>>>);

impl JobType for Noted {
    const NAME: &'static str = "noted";
    const INPUT: Input = Input::Dataset;
    const LIMITS: TypeLimits = TypeLimits { batch_items: 7, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = (String, Value);
    type Output = ();

    fn read(&self, _: &Value, record: &Record<'_>) -> Result<Self::Item, Rejection> {
        let Record::Stored(stored) = record else { return Err(Rejection::new("no_record", None, "not a record")) };
        Ok((stored.key.clone(), record.parse()?))
    }

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, (name, data): Self::Item) -> Outcome {
        self.0.lock().unwrap().push((key.number, name, data));
        if job.round == 0 && key.number % 2 == 1 {
            return Outcome::Retry { after: None, reason: "odd".into() };
        }
        Outcome::Ok(())
    }
}

fn people() -> Dataset {
    Dataset { tenant: TenantId::from_static("default"), name: "people".into() }
}

fn key(n: u64) -> String {
    format!("k\"{n:04}")
}

async fn write(records: &MemoryRecords, keys: impl Iterator<Item = u64>, version: u32) {
    let data: Map<_, _> = [("version".to_owned(), json!(version))].into_iter().collect();
    let writer = Writer { job: JobId::generate(), row: 1 };
    let records_of = keys.map(|n| NewRecord { key: key(n), data: data.clone(), writer });
    records.put(&people(), Rule::Upsert, records_of.collect()).await;
}

/// A begun job with one chunk of `items` keys.
async fn begun(ports: &Ports<MemoryStore, MemoryQueues, MemoryFiles>, items: u64) -> (Job, ChunkMessage) {
    let source = Source::Dataset(DatasetSource { dataset: "people".into(), updated_since: None });
    let job = Job::waiting(JobId::generate(), people().tenant, "noted", Timestamp(0));
    let job = Job { source: Some(source), ..job };
    ports.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    ports.store.begin(job.job_id, 0, Timestamp(1)).await.unwrap();
    let lines: String = (1..=items).map(|n| format!("{}\n", json!(key(n)))).collect();
    let object = ItemFile::object_key(&job.tenant, job.job_id, "abc");
    ports.files.put(&object, lines.clone());
    let etag = ports.files.info(&object).await.unwrap().unwrap().etag;
    let keys = Some(ItemFile { name: "abc".into(), etag });
    let plan = ChunkPlan { first: 1, items: items as u32, start: 0, end: lines.len() as u64, oversize: false, keys };
    let manifest = Manifest { group: 0, chunks: vec![plan.clone()] };
    let group = GroupPlan::from_walk(0, manifest, None, key(items));
    ports.store.commit_group(&job, &group, Timestamp(2)).await.unwrap();
    let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    (job, message)
}

/// Returns the number and the text of each item whose record was removed, in the order of the items.
async fn removed(ports: &Ports<MemoryStore, MemoryQueues, MemoryFiles>, job: &Job) -> Vec<(u64, String)> {
    let JobProgress { groups, .. } = ports.store.progress(job.job_id).await.unwrap().unwrap();
    let folder = JobFolder::for_job(job).chunk(ChunkId::default());
    let last = groups[0].cursors[&0].file.as_deref();
    let entries = read_chain(&ports.files, folder, last, 0).await.unwrap().into_iter().flat_map(|file| file.entries);
    let removed = entries.filter(|entry| entry.end == End::Skipped { reason: "removed".into() });
    let mut removed: Vec<_> = removed.map(|entry| (entry.n, entry.raw)).collect();
    removed.sort_unstable();
    removed
}

#[tokio::test]
async fn records_are_read_anew_in_each_round_and_removed_ones_are_skipped() {
    const ITEMS: u64 = 450;
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let ports = Ports { store, queues, files };
    let records = MemoryRecords::default();
    write(&records, 1..=ITEMS, 1).await;
    let (job, message) = begun(&ports, ITEMS).await;
    for gone in [1, 2, 3, 200, 201, 450] {
        records.delete(&people(), &key(gone)).await.unwrap();
    }
    // Not in the item file, so no item of the job.
    write(&records, ITEMS + 1..=ITEMS + 5, 1).await;
    let noted = Noted::default();
    let registry = Registry::default().with(noted.clone()).with_records(Arc::new(records.clone()));
    let process = WorkerProcess::new(|| Timestamp(10));
    let worker = process.worker(&ports, &registry);
    let work = || worker.work(&message, Mode::Work, Timestamp(60_000));
    assert_eq!(work().await.unwrap(), ChunkEnd::NextRound);
    records.delete(&people(), &key(5)).await.unwrap();
    write(&records, 7..=7, 2).await;
    assert_eq!(work().await.unwrap(), ChunkEnd::Finished);

    let JobProgress { groups, .. } = ports.store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(groups[0].counts, Counts { succeeded: ITEMS - 7, failed: 0, skipped: 7 });
    let calls = noted.0.lock().unwrap().clone();
    assert!(calls.iter().all(|(number, name, _)| *name == key(*number)));
    let numbers = |version: u64| {
        let of_version = calls.iter().filter(move |(_, _, data)| data["version"] == version);
        of_version.map(|(number, ..)| *number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(2), [7], "the second round reads the record again");
    assert!(!numbers(1).contains(&200) && numbers(1).contains(&199) && !numbers(1).contains(&451));
    assert_eq!(removed(&ports, &job).await, [1, 2, 3, 5, 200, 201, 450].map(|n| (n, json!(key(n)).to_string())));
}

/// A chunk that is given up needs no records.
#[tokio::test]
async fn a_chunk_is_given_up_without_its_records() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let ports = Ports { store, queues, files };
    let (job, message) = begun(&ports, 5).await;
    let (registry, process) = (Registry::default(), WorkerProcess::new(|| Timestamp(10)));
    let worker = process.worker(&ports, &registry);
    assert_eq!(worker.work(&message, Mode::GiveUp, Timestamp(60_000)).await.unwrap(), ChunkEnd::Finished);
    let JobProgress { groups, .. } = ports.store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(groups[0].counts.failed, 5);
}
