//! Jobs over a part of an ended job: each item of the part is in exactly one committed item file, as it stood, over any
//! number of turns; and a source that is gone fails the job.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support {
    pub(crate) mod turns;
}

use create_job::{SplitEnd, Splitter};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Part, PartSource, Reopen, Selection, Source, Status};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger, Read};
use longshore_domain::records::{Format, records};
use longshore_domain::results::{ResultRow, ResultsForm};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{EndedItem, EndedItems, ItemEnd, JobItem, MemoryFiles, MemoryQueues, MemoryStore, end_job};
use serde_json::json;
use support::turns::{Each, clock};

struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    ended: Job,
    job: Job,
}

fn new_job() -> Job {
    Job::waiting(JobId::generate(), TenantId::from_static("default"), "each", Timestamp(0))
}

impl World {
    async fn new(part: Part, items: &EndedItems, definition: &Definition) -> Self {
        let ports =
            Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
        let ended = end_job(&ports.store, &ports.files, new_job(), definition, items).await;
        let format = if part == Part::Results { Format::JsonLines } else { ended.record_format().unwrap() };
        let (job_id, name) = (ended.job_id, "file.csv".to_owned());
        let source = PartSource { job_id, part, generation: 0, format, name };
        let job = Job { source: Some(Source::Job(source)), ..new_job() };
        ports.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
        Self { ports, ended, job }
    }

    async fn split(&self) -> SplitEnd {
        let registry = Registry::default().with(Each);
        let splitter = Splitter { ports: &self.ports, registry: &registry, clock };
        splitter.split(&CreateMessage::new(&self.job), Timestamp(i64::MAX)).await.unwrap()
    }

    /// Splits to the end, with `between` after each turn. Returns the number of turns.
    async fn split_all(&self, mut between: impl FnMut()) -> usize {
        let mut turns = 1;
        while self.split().await == SplitEnd::Continued {
            turns += 1;
            between();
        }
        assert!(self.stored().await.split.ended, "{:?}", self.stored().await);
        turns
    }

    async fn stored(&self) -> Job {
        self.ports.store.job(self.job.job_id).await.unwrap().unwrap()
    }

    async fn error(&self) -> String {
        self.stored().await.stop.and_then(|stop| stop.error).map_or(String::new(), |JobError { code, .. }| code)
    }

    /// The items of all chunks, after a check of their numbers; `None` for those without bytes.
    async fn planned(&self) -> Vec<Option<Vec<u8>>> {
        let (job, mut items) = (self.stored().await, Vec::new());
        assert!(job.split.groups <= 500, "{} groups", job.split.groups);
        for group in 0..job.split.groups {
            let chunks = self.ports.store.manifest(job.job_id, group).await.unwrap().unwrap().chunks;
            assert!(chunks.len() <= 16);
            for plan in chunks {
                assert_eq!(plan.first, items.len() as u64 + 1);
                items.extend(self.items(&job, &plan).await);
                assert_eq!(plan.first + u64::from(plan.items), items.len() as u64 + 1);
            }
        }
        assert_eq!(job.split.item_count, items.len() as u64);
        items
    }

    async fn items(&self, job: &Job, plan: &ChunkPlan) -> Vec<Option<Vec<u8>>> {
        if plan.oversize {
            return vec![None; plan.items as usize];
        }
        let file = job.chunk_file(plan).unwrap();
        let Read::Found(bytes) = self.ports.files.read(&file.key, Some(&file.etag), Some(plan)).await.unwrap() else {
            panic!("the item file is missing");
        };
        records(file.format, &bytes).map(|span| Some(span.content(&bytes).to_vec())).collect()
    }

    async fn texts(&self) -> Vec<String> {
        let items = self.planned().await.into_iter();
        items.map(|item| String::from_utf8(item.unwrap()).unwrap()).collect()
    }
}

fn csv() -> Definition {
    Definition { columns: Some(vec!["id".into(), "name".into()]), ..Definition::new(json!({})) }
}

fn row(n: usize) -> String {
    format!("{n},\"name,\n{n}\"")
}

/// Items of a stopped job with `groups` groups of two chunks: in each chunk one item failed, one was skipped, one
/// succeeded, and one is open.
fn of_all_kinds(groups: usize) -> EndedItems {
    let item = |n: usize, end| (row(n), end);
    let chunk = |first: usize| {
        let ok = ItemEnd::Ok(Some(format!("{{\"number\":{},\"output\":{{\"n\":{}}}}}", first + 2, first + 2)));
        vec![
            item(first, ItemEnd::Failed),
            item(first + 1, ItemEnd::Skipped),
            item(first + 2, ok),
            item(first + 3, ItemEnd::Open),
        ]
    };
    let group = |group: usize| vec![chunk(group * 8 + 1), chunk(group * 8 + 5)];
    let rest = (groups * 8 + 1..groups * 8 + 101).map(|n| row(n) + "\n").collect();
    EndedItems { header: "id,name\n".into(), groups: (0..groups).map(group).collect(), rest }
}

#[tokio::test]
async fn each_part_has_its_items_in_order_over_any_number_of_turns() {
    let items = of_all_kinds(300);
    let numbers = |offset: usize| (0..600).map(|chunk| row(chunk * 4 + offset)).collect::<Vec<_>>();
    let outputs: Vec<_> = (0..600).map(|chunk| format!("{{\"n\":{}}}", chunk * 4 + 3)).collect();
    let rest = (2_401..2_501).map(row);
    let definition = Definition { results: Some(ResultsForm::default()), ..csv() };
    for (part, expected) in [
        (Part::Failed, numbers(1)),
        (Part::Skipped, numbers(2)),
        (Part::Results, outputs),
        (Part::Unprocessed, numbers(4).into_iter().chain(rest).collect()),
    ] {
        let world = World::new(part, &items, &definition).await;
        assert!(world.split_all(|| {}).await > 3);
        assert_eq!(world.texts().await, expected, "{part:?}");
        let columns = world.ports.store.definition(world.job.job_id).await.unwrap().unwrap().columns;
        assert_eq!(columns.is_some(), part != Part::Results, "{part:?}");
    }
}

#[tokio::test]
async fn outputs_without_numbers_are_copied_whole() {
    let outputs: Vec<_> = (0..10).map(|n| format!("{{\"output\":{n}}}")).collect();
    let chunk: Vec<EndedItem> = outputs.iter().map(|output| ("x".into(), ItemEnd::Ok(Some(output.clone())))).collect();
    let items = EndedItems { groups: vec![vec![chunk]], ..EndedItems::default() };
    let form = ResultsForm { row: ResultRow::Plain, ..ResultsForm::default() };
    let world = World::new(Part::Results, &items, &Definition { results: Some(form), ..csv() }).await;
    world.split_all(|| {}).await;
    assert_eq!(world.texts().await, outputs);
}

#[tokio::test]
async fn a_job_that_was_stopped_before_its_split_has_all_its_rows_unprocessed() {
    let rest: String = (1..=3_000).map(|n| row(n) + "\n").collect();
    let items = EndedItems { header: "id,name\n".into(), groups: Vec::new(), rest };
    let world = World::new(Part::Unprocessed, &items, &Definition::new(json!({}))).await;
    world.split_all(|| {}).await;
    assert_eq!(world.texts().await, (1..=3_000).map(row).collect::<Vec<_>>());
    let columns = world.ports.store.definition(world.job.job_id).await.unwrap().unwrap().columns;
    assert_eq!(columns, Some(vec!["id".to_owned(), "name".to_owned()]));
}

#[tokio::test]
async fn records_that_could_not_be_repeated_stay_broken_and_damage_no_other() {
    let failed = |raw: &str| (raw.to_owned(), ItemEnd::Failed);
    let damaged = |raw: &str| (raw.to_owned(), ItemEnd::FailedDamaged);
    let chunk =
        vec![damaged(""), damaged("1,\u{FFFD}"), failed("2,b"), damaged("3,\"open\n4,c"), damaged(""), failed("5,d")];
    let items = EndedItems { header: "id,name\n".into(), groups: vec![vec![chunk]], rest: String::new() };
    let world = World::new(Part::Failed, &items, &csv()).await;
    world.split_all(|| {}).await;
    let expected: [Option<&[u8]>; 6] =
        [Some(b"1,\xFF"), Some(b"2,b"), Some(b"3,\"open\n4,c"), None, Some(b"5,d"), None];
    let planned = world.planned().await;
    assert_eq!(planned.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn nothing_of_the_ended_job_is_needed_after_the_split() {
    let world = World::new(Part::Failed, &of_all_kinds(20), &csv()).await;
    world.split_all(|| {}).await;
    let folder = format!("jobs/default/{}/", world.ended.job_id);
    world
        .ports
        .files
        .keys()
        .iter()
        .filter(|key| key.starts_with(&folder))
        .for_each(|key| world.ports.files.remove(key));
    assert_eq!(world.texts().await.len(), 40);
}

#[tokio::test]
async fn a_source_that_is_deleted_before_it_is_copied_fails_the_job() {
    // The whole job, its work files, or the upload with its unprocessed rows.
    for (part, what) in
        [(Part::Failed, "job"), (Part::Failed, "/chunks/"), (Part::Results, ".out."), (Part::Unprocessed, "uploads/")]
    {
        let definition = Definition { results: Some(ResultsForm::default()), ..csv() };
        let world = World::new(part, &of_all_kinds(300), &definition).await;
        assert_eq!(world.split().await, SplitEnd::Continued);
        if what == "job" {
            world.ports.store.delete(world.ended.job_id, clock()).await.unwrap();
        }
        world.ports.files.keys().iter().filter(|key| key.contains(what)).for_each(|key| world.ports.files.remove(key));
        assert_eq!(world.split().await, SplitEnd::Failed, "{what}");
        assert_eq!(world.error().await, "source_missing", "{what}");
        assert!(world.stored().await.split.item_count > 0);
    }
}

/// The table removes items of an expired job in any order.
#[tokio::test]
async fn a_source_of_which_a_group_has_expired_fails_the_job() {
    let world = World::new(Part::Failed, &of_all_kinds(300), &csv()).await;
    assert_eq!(world.split().await, SplitEnd::Continued);
    let last = world.ended.split.groups - 1;
    world.ports.store.expire(world.ended.job_id, JobItem::Group(last));
    assert_eq!(world.split().await, SplitEnd::Failed);
    assert_eq!(world.error().await, "source_missing");
}

#[tokio::test]
async fn a_source_that_is_retried_before_it_is_copied_fails_the_job() {
    let world = World::new(Part::Failed, &of_all_kinds(300), &csv()).await;
    assert_eq!(world.split().await, SplitEnd::Continued);
    let reopen = Reopen {
        generation: 0,
        at: clock(),
        deadline_at: Timestamp(i64::MAX),
        selection: Selection::All,
        registration: None,
    };
    world.ports.store.reopen(&world.ended, &reopen).await.unwrap();
    assert_eq!(world.split().await, SplitEnd::Failed);
    assert_eq!(world.error().await, "source_changed");
    assert_eq!(world.stored().await.stop.map(|stop| stop.status), Some(Status::Failed));
}

#[tokio::test]
async fn the_job_of_another_tenant_is_never_read() {
    let world = World::new(Part::Failed, &of_all_kinds(1), &csv()).await;
    let source = world.job.source.clone();
    let job = Job { tenant: TenantId::from_static("other"), source, ..new_job() };
    world.ports.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    let world = World { job, ..world };
    assert_eq!(world.split().await, SplitEnd::Failed);
    assert_eq!((world.error().await.as_str(), world.stored().await.split.item_count), ("source_missing", 0));
}

#[tokio::test]
async fn a_part_without_items_is_a_job_without_items() {
    let ok = vec![vec![vec![(row(1), ItemEnd::Ok(None))]]];
    let items = EndedItems { header: "id,name\n".into(), groups: ok, rest: String::new() };
    let world = World::new(Part::Failed, &items, &csv()).await;
    assert_eq!(world.split().await, SplitEnd::Ended);
    let job = world.stored().await;
    assert_eq!((job.split.item_count, job.split.groups, job.all_done()), (0, 0, true));
}
