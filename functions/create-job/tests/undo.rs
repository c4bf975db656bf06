//! An undo plans the rows of its import that workers have processed: those of the file up to the end of its split, then
//! those that a retry replanned, with the contents of its corrected file.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;
use std::collections::BTreeMap;

use create_job::{SplitEnd, Splitter};
use longshore::chunk::{ChunkEnd, Mode};
use longshore::handler::Registry;
use longshore::job_types::builtin;
use longshore::job_types::undo::undo_options;
use longshore::ports::Ports;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Reopen, Selection, SourceFile, Status, UndoState, UndoneImport};
use longshore_domain::message::CreateMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger, Reopened};
use longshore_domain::progress;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{JobItem, MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, WorkerProcess};
use serde_json::{Value, json};

thread_local!(static STEP_MS: Cell<i64> = const { Cell::new(0) });
thread_local!(static CLOCK: Cell<i64> = const { Cell::new(1_700_000_000_000) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.replace(CLOCK.get() + STEP_MS.get()))
}

fn tenant() -> TenantId {
    TenantId::from_static("default")
}

struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    records: MemoryRecords,
    registry: Registry,
}

impl World {
    fn new() -> Self {
        let (store, queues, files) = <(MemoryStore, MemoryQueues, MemoryFiles)>::default();
        let records = MemoryRecords::default();
        let registry = builtin(records.clone(), files.clone());
        Self { ports: Ports { store, queues, files }, records, registry }
    }

    async fn file(&self, name: &str, text: &str) -> SourceFile {
        let key = format!("uploads/default/{name}");
        self.ports.files.put(&key, text);
        let info = self.ports.files.info(&key).await.unwrap().unwrap();
        SourceFile::new(key, info, Format::Csv, name)
    }

    async fn create(&self, job_type: &str, source: SourceFile, options: Value, undo: UndoState) -> JobId {
        let job = Job::waiting(JobId::generate(), tenant(), job_type, clock());
        let job = Job { source: Some(source.into()), undo, ..job };
        self.ports.store.create_job(&job, &Definition::new(options), None).await.unwrap();
        job.job_id
    }

    async fn job(&self, id: JobId) -> Job {
        self.ports.store.job(id).await.unwrap().unwrap()
    }

    /// Splits a generation, in as many deliveries as it takes, works on its chunks, and ends it. Returns the counts.
    async fn run(&self, id: JobId) -> Counts {
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock };
        for delivery in 0.. {
            assert!(delivery < 100, "the split ends");
            let message = CreateMessage::new(&self.job(id).await);
            if splitter.split(&message, Timestamp(i64::MAX)).await.unwrap() == SplitEnd::Ended {
                break;
            }
        }
        STEP_MS.set(0);
        let process = WorkerProcess::new(clock);
        let worker = process.worker(&self.ports, &self.registry);
        for sent in self.ports.queues.take_chunks() {
            let end = worker.work(&sent.message, Mode::Work, Timestamp(i64::MAX)).await.unwrap();
            assert!(matches!(end, ChunkEnd::Finished | ChunkEnd::NotLive | ChunkEnd::Absent), "{end:?}");
        }
        let JobProgress { groups, job } = self.ports.store.progress(id).await.unwrap().unwrap();
        let totals = progress::counts(&job, &groups);
        let finish = Finish { generation: job.generation, ..Finish::new(Status::Completed, totals, clock()) };
        self.ports.store.finish(id, &finish).await.unwrap();
        totals
    }

    async fn retry(&self, id: JobId, selection: Selection) {
        let job = self.job(id).await;
        let reopen = Reopen {
            generation: job.generation,
            at: clock(),
            deadline_at: Timestamp(i64::MAX),
            selection,
            registration: None,
        };
        assert!(matches!(self.ports.store.reopen(&job, &reopen).await.unwrap(), Reopened::Made(_)));
    }

    async fn undo(&self, import: JobId) -> JobId {
        self.undo_as(import, false).await
    }

    async fn undo_as(&self, import: JobId, preview: bool) -> JobId {
        let job = self.job(import).await;
        let options = self.ports.store.definition(import).await.unwrap().unwrap().options;
        let source = SourceFile { size_bytes: job.split.offset, ..job.file().unwrap().clone() };
        let undoes = UndoneImport { job_id: import, groups: job.split.groups, preview };
        let undo = UndoState { undoes: Some(undoes), ..UndoState::default() };
        self.create("undo", source, undo_options(import, &options, preview).unwrap(), undo).await
    }

    fn values(&self) -> BTreeMap<String, Value> {
        let versions = self.records.versions(&Dataset { tenant: tenant(), name: "d".into() });
        versions.into_iter().map(|(key, version)| (key, version.data["v"].clone())).collect()
    }
}

fn options() -> Value {
    json!({"dataset": "d", "key": "id", "schema": {"properties": {"v": {"pattern": "^good"}}}})
}

#[tokio::test]
async fn the_rows_of_the_file_and_the_corrected_rows_are_undone() {
    let world = World::new();
    let first = world.file("first.csv", "id,v\na,good1\nb,good1\n").await;
    let first = world.create("import", first, options(), UndoState::default()).await;
    assert_eq!(world.run(first).await, Counts { succeeded: 2, failed: 0, skipped: 0 });
    let rows: String = (0..40).map(|n| format!("k{n},{}\n", if n % 2 == 0 { "good2" } else { "bad" })).collect();
    let second = world.file("second.csv", &format!("id,v\na,good2\n{rows}")).await;
    let second = world.create("import", second, options(), UndoState::default()).await;
    assert_eq!(world.run(second).await, Counts { succeeded: 21, failed: 20, skipped: 0 });
    // Row 3 is k1, row 5 is k3.
    let corrected = world.file("corrected.csv", "row,id,v\n3,b,good3\n5,new,good3\n").await;
    world.retry(second, Selection::Corrected(corrected)).await;
    assert_eq!(world.run(second).await, Counts { succeeded: 23, failed: 18, skipped: 0 });
    world.retry(second, Selection::All).await;
    assert_eq!(world.run(second).await.failed, 18);
    assert_eq!(world.values()["b"], "good3");

    let undo = world.undo(second).await;
    let counts = world.run(undo).await;
    assert_eq!(world.job(undo).await.split.item_count, 41 + 2 + 18, "the file, and what two retries replanned");
    assert_eq!((counts.succeeded, counts.failed, counts.skipped), (61, 0, 0));
    assert_eq!(world.values(), [("a".into(), json!("good1")), ("b".into(), json!("good1"))].into());
}

#[tokio::test]
async fn turns_that_end_after_each_step_plan_every_item_once() {
    let world = World::new();
    let rows: String = (0..60).map(|n| format!("k{n},bad\n")).collect();
    let file = world.file("file.csv", &format!("id,v\n{rows}")).await;
    let import = world.create("import", file, options(), UndoState::default()).await;
    world.run(import).await;
    let corrected: String = (0..60).map(|n| format!("{},c{n},good\n", n + 1)).collect();
    let corrected = world.file("corrected.csv", &format!("row,id,v\n{corrected}")).await;
    world.retry(import, Selection::Corrected(corrected)).await;
    assert_eq!(world.run(import).await.succeeded, 60);
    let undo = world.undo(import).await;
    STEP_MS.set(11_000);
    let counts = world.run(undo).await;
    assert_eq!((counts.succeeded, world.job(undo).await.split.item_count), (120, 120));
    assert!(world.values().is_empty(), "{:?}", world.values());
    let groups = world.ports.store.progress(undo).await.unwrap().unwrap().groups;
    assert!(groups.iter().all(|group| group.is_done()));
}

#[tokio::test]
async fn a_preview_of_an_import_that_is_removed_meanwhile_fails() {
    type Remove = fn(&World, JobId);
    let removals: [(&str, Remove); 5] = [
        ("its job", |world, import| world.ports.store.expire(import, JobItem::Job)),
        ("a group", |world, import| world.ports.store.expire(import, JobItem::Group(1))),
        ("a manifest", |world, import| world.ports.store.expire(import, JobItem::Manifest(1))),
        ("a mark", |world, import| {
            world.ports.store.amend(import, |job, _| job.times.deleted_at = Some(clock())).unwrap()
        }),
        ("a work file", |world, import| {
            let work = format!("jobs/default/{import}/");
            world.ports.files.keys().iter().filter(|key| key.starts_with(&work)).for_each(|key| {
                world.ports.files.remove(key);
            });
        }),
    ];
    for (what, remove) in removals {
        let world = World::new();
        let file = world.file("file.csv", "id,v\na,bad\n").await;
        let import = world.create("import", file, options(), UndoState::default()).await;
        world.run(import).await;
        world.retry(import, Selection::All).await;
        world.run(import).await;
        let [undo, preview] = [world.undo(import).await, world.undo_as(import, true).await];
        remove(&world, import);
        let splitter = Splitter { ports: &world.ports, registry: &world.registry, clock };
        let split = async |id| {
            let message = CreateMessage::new(&world.job(id).await);
            splitter.split(&message, Timestamp(i64::MAX)).await
        };
        assert!(split(undo).await.is_err(), "{what}: an undo keeps its import, so this is an error");
        assert_eq!(split(preview).await.unwrap(), SplitEnd::Failed, "{what}");
        assert_eq!(world.job(preview).await.stop.unwrap().error.unwrap().code, "source_missing", "{what}");
    }
}

#[tokio::test]
async fn rows_after_the_end_of_the_imports_split_are_no_items() {
    let world = World::new();
    let file = world.file("file.csv", "id,v\na,good\nb,good\nc,good\n").await;
    let import = world.create("import", file, options(), UndoState::default()).await;
    world.run(import).await;
    // As if the import had been canceled after its second row.
    world.ports.store.amend(import, |job, _| job.split.offset = "id,v\na,good\nb,good\n".len() as u64).unwrap();
    let undo = world.undo(import).await;
    assert_eq!(world.run(undo).await, Counts { succeeded: 2, failed: 0, skipped: 0 });
    assert_eq!(world.values().into_keys().collect::<Vec<_>>(), ["c"]);
}
