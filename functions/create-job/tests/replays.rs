//! Replays of dead letters: they run only the items that were given up with the chunks.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use create_job::{SplitEnd, Splitter};
use futures::FutureExt;
use longshore::chunk::Mode;
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry, TypeLimits};
use longshore::ports::Ports;
use longshore_domain::dead_letter::{DeadLetterMessage, Queue, ReplayDecision, decide_replay};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Finish, Job, Reopen, Selection, SourceFile, Status};
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger, Reopened};
use longshore_domain::progress;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore, WorkerProcess};
use proptest::prelude::*;

const KEY: &str = "uploads/default/file";

/// Items of one chunk.
const CHUNK: u64 = 3;

/// Size of the longest row that the job type accepts.
const ITEM_BYTES: u64 = "false".len() as u64;

#[derive(serde::Deserialize)]
struct Row {
    good: bool,
}

/// Rejects rows that are not good, and records the rows that it receives.
struct Noted(Arc<Mutex<Vec<u64>>>);

impl JobType for Noted {
    const NAME: &'static str = "noted";
    const LIMITS: TypeLimits =
        TypeLimits { chunk_items: CHUNK as u32, item_bytes: ITEM_BYTES, batch_items: 2, ..TypeLimits::DEFAULT };
    type Options = serde_json::Value;
    type Item = Row;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &serde_json::Value, key: ItemKey, row: Row) -> Outcome {
        self.0.lock().unwrap().push(key.number);
        if row.good { Outcome::Ok(()) } else { Outcome::reject("not_good", None, "the row is not good") }
    }
}

/// One job over in-memory services.
struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    registry: Registry,
    processed: Arc<Mutex<Vec<u64>>>,
    id: JobId,
}

fn clock() -> Timestamp {
    Timestamp(1_700_000_000_000)
}

fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

impl World {
    fn new(rows: &[bool]) -> Self {
        Self::from_rows(&rows.iter().map(bool::to_string).collect::<Vec<_>>())
    }

    /// A job over a file of these rows.
    fn from_rows(rows: &[impl AsRef<str>]) -> Self {
        let files = MemoryFiles::default();
        let lines = std::iter::once("good").chain(rows.iter().map(AsRef::as_ref));
        files.put(KEY, lines.map(|line| format!("{line}\n")).collect::<String>());
        let info = now(files.info(KEY)).unwrap().unwrap();
        let source = SourceFile::new(KEY, info, Format::Csv, "file.csv");
        let job = Job {
            source: Some(source.into()),
            ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "noted", clock())
        };
        let processed = Arc::<Mutex<Vec<u64>>>::default();
        let registry = Registry::default().with(Noted(Arc::clone(&processed)));
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        let definition = Definition::new(serde_json::json!({}));
        now(ports.store.create_job(&job, &definition, None)).unwrap();
        Self { ports, registry, processed, id: job.job_id }
    }

    fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Splits the current generation, processes its chunks, gives up those that begin with an item in `deadly`, and
    /// ends the job. Returns the dead letters, and the items that the handler received.
    fn run(&self, deadly: &BTreeSet<u64>) -> (Vec<ChunkMessage>, Vec<u64>) {
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock };
        let create = CreateMessage { generation: self.job().generation, ..CreateMessage::of_job(self.id) };
        assert_eq!(now(splitter.split(&create, Timestamp(i64::MAX))).unwrap(), SplitEnd::Ended);
        let (process, mut dead) = (WorkerProcess::new(clock), Vec::new());
        let worker = process.worker(&self.ports, &self.registry);
        for sent in self.ports.queues.take_chunks() {
            let plan = &sent.message.plan;
            let dies = deadly.contains(&plan.first);
            let mode = if dies { Mode::GiveUp } else { Mode::Work };
            now(worker.work(&sent.message, mode, Timestamp(i64::MAX))).unwrap();
            dead.extend(dies.then_some(sent.message));
        }
        self.end();
        let mut processed = std::mem::take(&mut *self.processed.lock().unwrap());
        processed.sort_unstable();
        (dead, processed)
    }

    fn end(&self) {
        let JobProgress { groups, job } = now(self.ports.store.progress(self.id)).unwrap().unwrap();
        let totals = progress::counts(&job, &groups);
        let finish = Finish { generation: job.generation, ..Finish::new(Status::Completed, totals, clock()) };
        now(self.ports.store.finish(self.id, &finish)).unwrap();
        assert_eq!(totals.done(), job.split.item_count, "every item is counted once");
    }

    fn counts(&self) -> Counts {
        self.job().completion.totals.unwrap()
    }

    /// Returns the effect of a replay of this dead letter.
    fn replay_effect(&self, dead_letter: &ChunkMessage) -> ReplayDecision {
        let dead_letter = DeadLetterMessage::read(Queue::Chunk, &serde_json::to_string(dead_letter).unwrap());
        let chunk = dead_letter.chunk_id().unwrap();
        let state = now(self.ports.store.chunk_state(self.id, chunk.group)).unwrap().unwrap();
        decide_replay(&dead_letter, Some(&state.job), state.group.cursors.get(&chunk.chunk), clock())
    }

    /// Opens the job again for these dead letters.
    fn replay(&self, dead_letters: &[ChunkMessage]) {
        for dead_letter in dead_letters {
            assert_eq!(self.replay_effect(dead_letter), ReplayDecision::Open);
        }
        self.reopen(Selection::Chunks(
            dead_letters
                .iter()
                .map(|dead_letter| ChunkId { group: dead_letter.group, chunk: dead_letter.chunk })
                .collect(),
        ));
        for dead_letter in dead_letters {
            assert_eq!(self.replay_effect(dead_letter), ReplayDecision::Done, "a second replay has no effect");
        }
    }

    fn reopen(&self, selection: Selection) {
        let job = self.job();
        let reopen = Reopen {
            generation: job.generation,
            at: clock(),
            deadline_at: Timestamp(i64::MAX),
            selection,
            registration: None,
        };
        assert!(matches!(now(self.ports.store.reopen(&job, &reopen)).unwrap(), Reopened::Made(_)));
    }
}

/// Items of a chunk of the file.
fn items(dead_letter: &ChunkMessage) -> Vec<u64> {
    (dead_letter.plan.first..dead_letter.plan.first + u64::from(dead_letter.plan.items)).collect()
}

/// First items of these chunks of the file.
fn firsts(chunks: &BTreeSet<u64>) -> BTreeSet<u64> {
    chunks.iter().map(|chunk| chunk * CHUNK + 1).collect()
}

fn good(rows: &[bool], items: impl IntoIterator<Item = u64>) -> u64 {
    items.into_iter().filter(|n| rows[*n as usize - 1]).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Each dead letter runs its own items once, regardless of which chunks died, and in which order and batches they
    /// are replayed.
    #[test]
    fn each_replay_runs_the_items_of_its_dead_letters_once(
        rows in prop::collection::vec(any::<bool>(), 1..60),
        dead in prop::collection::btree_set(0..20_u64, 1..12),
        batches in prop::collection::vec(0..3_usize, 12),
    ) {
        let world = World::new(&rows);
        let (dead_letters, processed) = world.run(&firsts(&dead));
        let lost: BTreeSet<u64> = dead_letters.iter().flat_map(items).collect();
        let mut done: BTreeSet<u64> = (1..=rows.len() as u64).filter(|n| !lost.contains(n)).collect();
        prop_assert_eq!(processed, done.iter().copied().collect::<Vec<_>>());
        let mut by_batch = BTreeMap::<usize, Vec<ChunkMessage>>::new();
        for (dead_letter, batch) in dead_letters.into_iter().zip(batches.iter().cycle()) {
            by_batch.entry(*batch).or_default().push(dead_letter);
        }
        for dead_letters in by_batch.values() {
            world.replay(dead_letters);
            let (again, processed) = world.run(&BTreeSet::new());
            let own: Vec<u64> = dead_letters.iter().flat_map(items).collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert!(again.is_empty());
            prop_assert_eq!(&processed, &own, "other items ran, or some did not run");
            done.extend(own);
            let counts = world.counts();
            prop_assert_eq!(counts.succeeded, good(&rows, done.iter().copied()));
            prop_assert_eq!(counts.succeeded + counts.failed, rows.len() as u64);
        }
    }
}

#[test]
fn a_dead_letter_of_a_replayed_chunk_covers_the_items_that_ran_in_it_and_not_those_that_stayed_failed() {
    let rows = [true, false, true, true, true, true, true, true, true];
    let world = World::new(&rows);
    let (first, _) = world.run(&firsts(&[1, 2].into()));
    // Replanned as 2 4 5, 6 7 8 and 9, of which 7, 8 and 9 run. The chunk in the middle is dead-lettered again.
    world.replay(&first[1..]);
    let (second, processed) = world.run(&[6].into());
    assert_eq!((second.len(), processed), (1, vec![9]));
    world.replay(&second);
    assert_eq!(world.run(&BTreeSet::new()).1, [7, 8], "6 was given up with another dead letter");
    assert_eq!(world.counts(), Counts { succeeded: 5, failed: 4, skipped: 0 });
    world.replay(&first[..1]);
    assert_eq!(world.run(&BTreeSet::new()).1, [4, 5, 6]);
    assert_eq!(world.counts(), Counts { succeeded: 8, failed: 1, skipped: 0 });
}

#[test]
fn after_a_retry_of_all_failed_items_older_dead_letters_have_no_effect() {
    let world = World::new(&[true; 9]);
    let (dead_letters, _) = world.run(&firsts(&[0, 2].into()));
    world.reopen(Selection::All);
    let (again, processed) = world.run(&[1].into());
    assert_eq!((again.len(), processed), (1, vec![7, 8, 9]));
    assert!(
        dead_letters.iter().all(|dead_letter| matches!(world.replay_effect(dead_letter), ReplayDecision::NoEffect(_))),
        "the retry has run the item"
    );
    world.replay(&again);
    assert_eq!(world.run(&BTreeSet::new()).1, [1, 2, 3]);
    assert_eq!(world.counts().failed, 0);
}

#[test]
fn a_dead_letter_of_a_replayed_chunk_can_be_replayed_after_an_older_one() {
    let world = World::new(&[true; 9]);
    let (first, _) = world.run(&firsts(&[1, 2].into()));
    // Replanned as 4 5 6 and 7 8 9.
    world.replay(&first[1..]);
    let (second, processed) = world.run(&[7].into());
    assert_eq!((second.len(), processed), (1, Vec::new()));
    world.replay(&first[..1]);
    assert_eq!(world.run(&BTreeSet::new()).1, [4, 5, 6]);
    world.replay(&second);
    assert_eq!(world.run(&BTreeSet::new()).1, [7, 8, 9]);
    assert_eq!(world.counts().failed, 0);
}

#[test]
fn a_given_up_row_over_the_limit_of_its_type_is_not_run_by_a_retry() {
    let world = World::from_rows(&["true", "\"true\"", "false"]);
    let (dead_letters, processed) = world.run(&firsts(&[0].into()));
    assert_eq!((dead_letters.len(), processed), (1, Vec::new()));
    world.replay(&dead_letters);
    assert_eq!(world.run(&BTreeSet::new()).1, [1, 3], "the second row exceeds the limit of its type");
    assert_eq!(world.counts(), Counts { succeeded: 1, failed: 2, skipped: 0 });
    world.reopen(Selection::All);
    assert_eq!(world.run(&BTreeSet::new()).1, [3], "the second row stays failed");
    assert_eq!(world.counts(), Counts { succeeded: 1, failed: 2, skipped: 0 });
}
