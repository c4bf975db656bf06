//! A replay of dead letters runs the items that were given up with their chunks, and no other failed items.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use create_job::{SplitEnd, Splitter};
use futures::FutureExt;
use longshore::chunk::{KnownJobs, Mode, Worker};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry, TypeLimits};
use longshore::ports::Ports;
use longshore_domain::dead_letter::{DeadLetterMessage, Queue, Replay, replay};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Finish, Job, Reopen, SourceFile, Status};
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger, Reopened};
use longshore_domain::progress;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::time_stamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
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

    async fn process(&self, _: &JobContext, _: &serde_json::Value, key: ItemKey, row: Row) -> Outcome {
        self.0.lock().unwrap().push(key.number);
        if row.good { Outcome::Ok } else { Outcome::reject("not_good", None, "it is not good") }
    }
}

/// One job over in-memory services.
struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    registry: Registry,
    given: Arc<Mutex<Vec<u64>>>,
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
        let (size_bytes, etag) = (info.size_bytes, info.etag);
        let source = SourceFile { key: KEY.into(), size_bytes, etag, format: Format::Csv, name: "file.csv".into() };
        let job = Job {
            source: Some(source),
            ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "noted", clock())
        };
        let given = Arc::<Mutex<Vec<u64>>>::default();
        let registry = Registry::default().with(Noted(Arc::clone(&given)));
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        let definition = Definition { options: serde_json::json!({}), columns: None };
        now(ports.store.create_job(&job, &definition, None)).unwrap();
        Self { ports, registry, given, id: job.job_id }
    }

    fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Splits the current generation, processes its chunks, gives up those that begin with an item in `deadly`, and
    /// ends the job. Returns the dead letters, and the items given to the handler.
    fn run(&self, deadly: &BTreeSet<u64>) -> (Vec<ChunkMessage>, Vec<u64>) {
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock };
        let create = CreateMessage {
            tenant: None,
            job_id: self.id,
            generation: self.job().generation,
            position: 0,
            resend: 0,
            failures: 0,
        };
        assert_eq!(now(splitter.split(&create, Timestamp(i64::MAX))).unwrap(), SplitEnd::Ended);
        let (known, mut dead) = (KnownJobs::default(), Vec::new());
        let worker = Worker { ports: &self.ports, registry: &self.registry, known: &known, retry_base_s: 0, clock };
        for sent in self.ports.queues.take_chunks() {
            let plan = &sent.message.plan;
            let dies = deadly.contains(&plan.first);
            let mode = if dies { Mode::GiveUp } else { Mode::Work };
            now(worker.work(&sent.message, mode, Timestamp(i64::MAX))).unwrap();
            dead.extend(dies.then_some(sent.message));
        }
        self.end();
        let mut given = std::mem::take(&mut *self.given.lock().unwrap());
        given.sort_unstable();
        (dead, given)
    }

    fn end(&self) {
        let (groups, job) = now(self.ports.store.progress(self.id)).unwrap().unwrap();
        let totals = progress::counts(&job, &groups);
        let finish = Finish {
            generation: job.generation,
            status: Status::Completed,
            totals,
            report: None,
            error: None,
            at: clock(),
        };
        now(self.ports.store.finish(self.id, &finish)).unwrap();
        assert_eq!(totals.done(), job.split.item_count, "every item is counted once");
    }

    fn counts(&self) -> Counts {
        self.job().completion.totals.unwrap()
    }

    /// Returns the effect of a replay of this dead letter.
    fn would(&self, dead_letter: &ChunkMessage) -> Replay {
        let dead_letter = DeadLetterMessage::read(Queue::Chunk, &serde_json::to_string(dead_letter).unwrap());
        let place = dead_letter.place().unwrap();
        let state = now(self.ports.store.chunk_state(self.id, place.group)).unwrap().unwrap();
        replay(&dead_letter, Some(&state.job), state.group.cursors.get(&place.chunk), clock())
    }

    /// Opens the job again for these dead letters.
    fn replay(&self, dead_letters: &[ChunkMessage]) {
        for dead_letter in dead_letters {
            assert_eq!(self.would(dead_letter), Replay::Open);
        }
        self.reopen(Some(
            dead_letters
                .iter()
                .map(|dead_letter| ChunkId { group: dead_letter.group, chunk: dead_letter.chunk })
                .collect(),
        ));
        for dead_letter in dead_letters {
            assert_eq!(self.would(dead_letter), Replay::Done, "a second replay does nothing");
        }
    }

    fn reopen(&self, selected_chunks: Option<BTreeSet<ChunkId>>) {
        let job = self.job();
        let reopen = Reopen {
            generation: job.generation,
            at: clock(),
            deadline_at: Timestamp(i64::MAX),
            corrected: None,
            selected_chunks,
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
    fn each_replay_runs_what_its_dead_letters_took_and_counts_it_once(
        rows in prop::collection::vec(any::<bool>(), 1..60),
        dead in prop::collection::btree_set(0..20_u64, 1..12),
        batches in prop::collection::vec(0..3_usize, 12),
    ) {
        let world = World::new(&rows);
        let (dead_letters, given) = world.run(&firsts(&dead));
        let lost: BTreeSet<u64> = dead_letters.iter().flat_map(items).collect();
        let mut done: BTreeSet<u64> = (1..=rows.len() as u64).filter(|n| !lost.contains(n)).collect();
        prop_assert_eq!(given, done.iter().copied().collect::<Vec<_>>());
        let mut by_batch = BTreeMap::<usize, Vec<ChunkMessage>>::new();
        for (dead_letter, batch) in dead_letters.into_iter().zip(batches.iter().cycle()) {
            by_batch.entry(*batch).or_default().push(dead_letter);
        }
        for dead_letters in by_batch.values() {
            world.replay(dead_letters);
            let (again, given) = world.run(&BTreeSet::new());
            let own: Vec<u64> = dead_letters.iter().flat_map(items).collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert!(again.is_empty());
            prop_assert_eq!(&given, &own, "other items ran, or not all");
            done.extend(own);
            let counts = world.counts();
            prop_assert_eq!(counts.succeeded, good(&rows, done.iter().copied()));
            prop_assert_eq!(counts.succeeded + counts.failed, rows.len() as u64);
        }
    }
}

#[test]
fn a_dead_letter_of_a_replayed_chunk_took_what_ran_in_it_and_not_what_was_carried_along() {
    let rows = [true, false, true, true, true, true, true, true, true];
    let world = World::new(&rows);
    let (first, _) = world.run(&firsts(&[1, 2].into()));
    // Replanned as 2 4 5, 6 7 8 and 9, of which 7, 8 and 9 run. The chunk in the middle dies again.
    world.replay(&first[1..]);
    let (second, given) = world.run(&[6].into());
    assert_eq!((second.len(), given), (1, vec![9]));
    world.replay(&second);
    assert_eq!(world.run(&BTreeSet::new()).1, [7, 8], "6 was given up with another dead letter");
    assert_eq!(world.counts(), Counts { succeeded: 5, failed: 4, skipped: 0 });
    world.replay(&first[..1]);
    assert_eq!(world.run(&BTreeSet::new()).1, [4, 5, 6]);
    assert_eq!(world.counts(), Counts { succeeded: 8, failed: 1, skipped: 0 });
}

#[test]
fn after_a_retry_of_all_that_failed_no_older_dead_letter_does_anything() {
    let world = World::new(&[true; 9]);
    let (dead_letters, _) = world.run(&firsts(&[0, 2].into()));
    world.reopen(None);
    let (again, given) = world.run(&[1].into());
    assert_eq!((again.len(), given), (1, vec![7, 8, 9]));
    assert!(
        dead_letters.iter().all(|dead_letter| matches!(world.would(dead_letter), Replay::Nothing(_))),
        "the retry has offered it"
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
    let (second, given) = world.run(&[7].into());
    assert_eq!((second.len(), given), (1, Vec::new()));
    world.replay(&first[..1]);
    assert_eq!(world.run(&BTreeSet::new()).1, [4, 5, 6]);
    world.replay(&second);
    assert_eq!(world.run(&BTreeSet::new()).1, [7, 8, 9]);
    assert_eq!(world.counts().failed, 0);
}

#[test]
fn a_given_up_row_over_the_limit_of_its_type_is_not_offered_by_a_retry() {
    let world = World::from_rows(&["true", "\"true\"", "false"]);
    let (dead_letters, given) = world.run(&firsts(&[0].into()));
    assert_eq!((dead_letters.len(), given), (1, Vec::new()));
    world.replay(&dead_letters);
    assert_eq!(world.run(&BTreeSet::new()).1, [1, 3], "the second row is longer than its type takes");
    assert_eq!(world.counts(), Counts { succeeded: 1, failed: 2, skipped: 0 });
    world.reopen(None);
    assert_eq!(world.run(&BTreeSet::new()).1, [3], "it stays failed");
    assert_eq!(world.counts(), Counts { succeeded: 1, failed: 2, skipped: 0 });
}
