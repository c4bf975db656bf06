//! A retry of a large job in which almost nothing failed: the work files of the other groups are not read.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

use std::cell::Cell;

use create_job::{SplitEnd, Splitter};
use futures::FutureExt;
use longshore::files::{MemoryFiles, MemoryStream};
use longshore::job_types::builtin;
use longshore::ports::{JobFolder, Ports};
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore::store::records::MemoryRecords;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Reopen, SourceFile, Status};
use longshore_domain::message::CreateMessage;
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::ports::{
    Definition, FileInfo, Files, JobStore, JobTransitions, Ledger, PortResult, Read, Reopened,
};
use longshore_domain::records::Format;
use longshore_domain::time_stamp::Timestamp;
use longshore_domain::work_file::{End, Entry, Header, WorkFile};
use serde_json::json;

const KEY: &str = "uploads/default/file";

/// A row of the source.
const ROW: &str = "1\n";

const CHUNKS: u32 = 16;

/// Duration of reading a file.
const READ_MS: i64 = 20;

/// Duration of an invocation, without the time reserved for the answer.
const INVOCATION_MS: i64 = 116_000;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

/// Files with slow reads.
#[derive(Clone, Default)]
struct Slow(MemoryFiles);

impl Files for Slow {
    type Stream = MemoryStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.0.info(key).await
    }

    async fn open(&self, key: &str, etag: Option<&str>, from: u64, to: Option<u64>) -> PortResult<Read<MemoryStream>> {
        self.0.open(key, etag, from, to).await
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        CLOCK.set(CLOCK.get() + READ_MS);
        self.0.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.0.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.0, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<bool> {
        self.0.remove_some(prefix).await
    }
}

struct World {
    ports: Ports<MemoryStore, MemoryQueues, Slow>,
    id: JobId,
}

impl World {
    /// An ended job with `groups` groups of one-row chunks. Each row was filed for another round and then skipped,
    /// except for the last one, which failed.
    fn ended(groups: u32) -> Self {
        let files = Slow::default();
        let rows = u64::from(groups * CHUNKS);
        let bytes = rows * ROW.len() as u64;
        files.0.put(KEY, ROW.repeat(rows as usize));
        let etag = now(files.0.info(KEY)).unwrap().unwrap().etag;
        let source =
            SourceFile { key: KEY.into(), size_bytes: bytes, etag, format: Format::JsonLines, name: "f".into() };
        let job = Job::waiting(JobId::generate(), "default", "import", Timestamp(0));
        let job = Job { source: Some(source), ..job };
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
        now(ports.store.create_job(&job, &Definition { options, columns: None }, None)).unwrap();
        now(ports.store.begin(job.job_id, clock())).unwrap();
        let world = Self { ports, id: job.job_id };
        for group in 0..groups {
            world.group(group, group + 1 == groups);
        }
        now(world.ports.store.end_split(&world.job(), groups, &[], clock())).unwrap();
        let totals = Counts { succeeded: 0, failed: 1, skipped: rows - 1 };
        let status = Status::Completed;
        let finish = Finish { generation: 0, status, totals, report: None, error: None, at: clock() };
        now(world.ports.store.finish(world.id, &finish)).unwrap();
        world
    }

    fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Commits a group whose items have all ended.
    fn group(&self, group: u32, is_last: bool) {
        let first = u64::from(group * CHUNKS);
        let at = |chunk: u64| (first + chunk) * ROW.len() as u64;
        let chunk =
            |n: u64| ChunkPlan { first: first + n + 1, items: 1, start: at(n), end: at(n + 1), oversize: false };
        let manifest = Manifest { group, chunks: (0..u64::from(CHUNKS)).map(chunk).collect() };
        let plan = GroupPlan::of_file(0, manifest, at(0)..at(u64::from(CHUNKS)));
        now(self.ports.store.commit_group(&self.job(), &plan, clock())).unwrap();
        for chunk in 0..CHUNKS {
            let n = first + u64::from(chunk) + 1;
            let fails = is_last && chunk + 1 == CHUNKS;
            let end = match fails {
                true => End::Failed(Rejection::new("bad", None, "no")),
                false => End::Skipped { reason: "asked".into() },
            };
            self.file((group, chunk), 0, n, End::Transient { attempts: 1, reason: "busy".into() });
            self.file((group, chunk), 1, n, end);
            let (failed, skipped) = (u64::from(fails), u64::from(!fails));
            let (token, file) = (format!("a{chunk}"), Some("1".to_owned()));
            let to =
                Cursor { round: 1, position: 0, token, file, filed: 0, due: None, finished: true, by_sweeper: false };
            let counts = Counts { failed, skipped, succeeded: 0 };
            let commit = Commit { chunk, from: None, to, counts, at: clock() };
            let outcome = now(self.ports.store.commit(self.id, group, &commit)).unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed(_)));
        }
        now(self.ports.store.group_done(self.id, group, clock())).unwrap();
    }

    fn file(&self, place: (u32, u32), round: u32, n: u64, end: End) {
        let key = JobFolder::of(&self.job()).work_key(place, &round.to_string());
        let entries = vec![Entry { n, end, raw: ROW.trim_end().into(), damaged: false }];
        let prev = round.checked_sub(1).map(|before| before.to_string());
        let file = WorkFile { header: Header::behind(round, prev, None), entries };
        self.ports.files.0.put(&key, file.to_bytes().unwrap());
    }

    fn retry(&self) {
        let job = self.job();
        let (at, deadline_at) = (clock(), Timestamp(i64::MAX));
        let reopen = Reopen { generation: job.generation, at, deadline_at, corrected: None, only: None };
        assert!(matches!(now(self.ports.store.reopen(&job, &reopen)).unwrap(), Reopened::Made(_)));
    }
}

#[test]
fn a_retry_of_a_large_job_reads_the_work_files_of_groups_with_failures_alone() {
    let world = World::ended(400);
    world.retry();
    let registry = builtin(MemoryRecords::default());
    let splitter = Splitter { ports: &world.ports, registry: &registry, clock };
    let (job_id, began) = (world.id, CLOCK.get());
    let mut message =
        CreateMessage { tenant: String::new(), job_id, generation: 1, position: 0, resend: 0, failures: 0 };
    loop {
        let began = CLOCK.get();
        let end = now(splitter.split(&message, clock().plus_seconds(INVOCATION_MS / 1_000))).unwrap();
        let took = CLOCK.get() - began;
        assert!(took < INVOCATION_MS, "Lambda ends the invocation after {INVOCATION_MS} ms; it takes {took} ms");
        if end == SplitEnd::Ended {
            break;
        }
        assert_eq!(end, SplitEnd::Continued);
        message = world.ports.queues.take_creates().pop().unwrap();
    }
    let took = CLOCK.get() - began;
    assert!(took <= 2 * READ_MS * i64::from(CHUNKS), "the files of one group are read: {took} ms");
    let sent = world.ports.queues.take_chunks();
    assert_eq!(sent.iter().map(|sent| sent.message.plan.items).sum::<u32>(), 1, "the failed row runs again, alone");
}
