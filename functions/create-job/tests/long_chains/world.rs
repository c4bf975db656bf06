//! A job that has ended, over in-memory files with slow reads, and the deliveries that split its next generation.

use std::cell::Cell;

use create_job::{SplitEnd, Splitter};
use futures::FutureExt;
use longshore::job_types::builtin;
use longshore::ports::{JobFolder, Ports};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Finish, Job, Reopen, Selection, SourceFile, Status};
use longshore_domain::message::CreateMessage;
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::ports::{
    Definition, Files, JobProgress, JobStore, JobTransitions, Ledger, PortResult, Read, Reopened,
};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry, WorkFile, WorkFileHeader};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, MemoryStream, delegate_files};
use serde_json::json;

const KEY: &str = "uploads/default/file";

const CORRECTED_KEY: &str = "uploads/default/corrected";

/// Number of deliveries after which a split is considered endless.
const MAX_DELIVERIES: u32 = 1_000;

/// A row of the source.
const ROW: &str = "1\n";

/// Number of chunks of a group.
pub(crate) const CHUNKS: u32 = 16;

/// Duration of an invocation, without the time reserved for the response.
pub(crate) const INVOCATION_MS: i64 = 116_000;

/// Duration of reading a file, in milliseconds.
pub(crate) const READ_MS: i64 = 20;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Returns the result of a call that never waits.
fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

/// Files with slow reads, which advance the clock.
#[derive(Clone, Default)]
pub(crate) struct SlowFiles(MemoryFiles);

impl Files for SlowFiles {
    type Stream = MemoryStream;

    delegate_files!(0: info open write remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        CLOCK.set(CLOCK.get() + READ_MS);
        self.0.read(key, etag, plan).await
    }
}

/// Returns the entry of an item that has failed.
pub(crate) fn failed(n: u64, code: &str) -> Entry {
    entry(n, End::Failed(Rejection::new(code, None, "no")))
}

pub(crate) fn entry(n: u64, end: End) -> Entry {
    Entry { n, end, raw: ROW.trim_end().into(), damaged: false }
}

/// The work files of a chunk, oldest first: the round of each, and its entries.
pub(crate) type Chain = Vec<(u32, Vec<Entry>)>;

/// A job that has ended.
pub(crate) struct World {
    pub(crate) ports: Ports<MemoryStore, MemoryQueues, SlowFiles>,
    pub(crate) id: JobId,
}

impl World {
    /// Creates a job with `groups` groups of chunks of `items` rows, all of which failed or were skipped. `chain`
    /// returns the work files of the chunk that begins with this item.
    pub(crate) fn ended(groups: u32, items: u32, chain: impl Fn(u64) -> Chain) -> Self {
        let files = SlowFiles::default();
        let rows = u64::from(groups * CHUNKS * items);
        files.0.put(KEY, ROW.repeat(rows as usize));
        let source = SourceFile { format: Format::JsonLines, ..source(&files, KEY) };
        let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(0));
        let job = Job { source: Some(source.into()), ..job };
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
        now(ports.store.create_job(&job, &Definition::new(options), None)).unwrap();
        now(ports.store.begin(job.job_id, 0, clock())).unwrap();
        let world = Self { ports, id: job.job_id };
        let mut totals = Counts::default();
        (0..groups).for_each(|group| totals += world.group(group, items, &chain));
        now(world.ports.store.end_split(&world.job(), groups, &[], clock())).unwrap();
        world.finish(totals);
        world
    }

    pub(crate) fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Commits a group whose items have all ended. Returns its counts.
    fn group(&self, group: u32, items: u32, chain: &impl Fn(u64) -> Chain) -> Counts {
        let first = |chunk: u32| u64::from((group * CHUNKS + chunk) * items);
        let at = |chunk: u32| first(chunk) * ROW.len() as u64;
        let plan = |chunk: u32| {
            let (start, end) = (at(chunk), at(chunk + 1));
            ChunkPlan { first: first(chunk) + 1, items, start, end, oversize: false, keys: None }
        };
        let manifest = Manifest { group, chunks: (0..CHUNKS).map(plan).collect() };
        let plan = GroupPlan::from_file(0, manifest, at(0)..at(CHUNKS));
        now(self.ports.store.commit_group(&self.job(), &plan, clock())).unwrap();
        let mut counts = Counts::default();
        (0..CHUNKS).for_each(|chunk| counts += self.chunk(ChunkId::new(group, chunk), chain(first(chunk) + 1)));
        now(self.ports.store.group_done(self.id, group, clock())).unwrap();
        counts
    }

    /// Writes a chunk's work files, and commits the cursor that names the last one. Returns the chunk's counts.
    fn chunk(&self, id: ChunkId, chain: Chain) -> Counts {
        let (job, mut header, mut counts) = (self.job(), None::<WorkFileHeader>, Counts::default());
        for (n, (round, entries)) in (0_u32..).zip(chain) {
            let count = |matches: fn(&End) -> bool| entries.iter().filter(|entry| matches(&entry.end)).count() as u64;
            counts.failed += count(|end| matches!(end, End::Failed(_)));
            counts.skipped += count(|end| matches!(end, End::Skipped { .. }));
            let prev = n.checked_sub(1).map(|previous| previous.to_string());
            let file = WorkFile { header: WorkFileHeader::following(round, prev, header.as_ref()), entries };
            let key = JobFolder::for_job(&job).chunk(id).work_key(&n.to_string());
            self.ports.files.0.put(&key, file.to_bytes().unwrap());
            header = Some(file.header);
        }
        let round = header.as_ref().map_or(0, |header| header.round);
        let last = header.and_then(|header| header.prev).map_or(0, |prev| prev.parse::<u32>().unwrap() + 1);
        let (token, file) = (format!("a{}", id.chunk), Some(last.to_string()));
        let to = Cursor { round, position: 0, token, file, deferred: 0, due: None, finished: true, by_sweeper: false };
        let commit = Commit { chunk: id.chunk, from: None, to, counts, usage: Default::default(), at: clock() };
        let outcome = now(self.ports.store.commit(self.id, id.group, &commit)).unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)));
        counts
    }

    /// Ends the current generation.
    pub(crate) fn finish(&self, totals: Counts) {
        let generation = self.job().generation;
        let finish = Finish { generation, ..Finish::new(Status::Completed, totals, clock()) };
        now(self.ports.store.finish(self.id, &finish)).unwrap();
    }

    /// Opens the job again for the rows of a corrected file.
    pub(crate) fn retry_with(&self, corrected: &str) {
        self.ports.files.0.put(CORRECTED_KEY, corrected);
        self.retry(Selection::Corrected(source(&self.ports.files, CORRECTED_KEY)));
    }

    /// Opens the job again for these failed items.
    pub(crate) fn retry(&self, selection: Selection) {
        let (job, at) = (self.job(), clock());
        let reopen =
            Reopen { generation: job.generation, at, deadline_at: Timestamp(i64::MAX), selection, registration: None };
        assert!(matches!(now(self.ports.store.reopen(&job, &reopen)).unwrap(), Reopened::Made(_)));
    }

    /// Splits the current generation in as many deliveries as it takes, each within an invocation. Returns the total
    /// duration in milliseconds.
    pub(crate) fn split(&self) -> i64 {
        self.split_within(INVOCATION_MS)
    }

    /// Splits the current generation in invocations of this duration. Returns the total duration in milliseconds.
    pub(crate) fn split_within(&self, invocation_ms: i64) -> i64 {
        let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
        let splitter = Splitter { ports: &self.ports, registry: &registry, clock };
        let (mut message, first_start) = (CreateMessage::new(&self.job()), clock().0);
        for _ in 0..MAX_DELIVERIES {
            let start = clock().0;
            let end = now(splitter.split(&message, Timestamp(start + invocation_ms))).unwrap();
            let took = clock().0 - start;
            assert!(took < invocation_ms, "Lambda ends the invocation after {invocation_ms} ms; it takes {took} ms");
            if end == SplitEnd::Ended {
                return clock().0 - first_start;
            }
            assert_eq!(end, SplitEnd::Continued);
            message = self.ports.queues.take_creates().pop().unwrap();
        }
        panic!("the split does not end");
    }

    /// Returns the number of failed items that the current generation processes again.
    pub(crate) fn replanned_items(&self) -> usize {
        let JobProgress { groups, job } =
            now(self.ports.store.progress_from(self.id, self.job().retry.carried_over.groups)).unwrap().unwrap();
        let files = groups.iter().flat_map(|group| {
            let files = group.cursors.iter().filter_map(|(chunk, cursor)| Some((*chunk, cursor.file.as_deref()?)));
            files.map(|(chunk, file)| JobFolder::for_job(&job).chunk(ChunkId::new(group.number, chunk)).work_key(file))
        });
        let entries = files.flat_map(|key| WorkFile::parse(&self.ports.files.0.get(&key).unwrap()).unwrap().entries);
        entries.filter(|entry| matches!(entry.end, End::Transient { .. })).count()
    }
}

fn source(files: &SlowFiles, key: &str) -> SourceFile {
    let info = now(files.0.info(key)).unwrap().unwrap();
    SourceFile::new(key, info, Format::Csv, "f")
}
