//! Completion of large jobs over in-memory services: any number of invocations with the deployed timeout, within the
//! memory of one function.
//!
//! A plain test run uses small jobs. `cargo xtask prove completion` runs the large ones at the speed of a 512 MB
//! function if it can create a control group, and otherwise measures the processor time.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod generated;
mod quota;
mod results;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use complete_job::{CompleteEnd, Completer};
use futures::FutureExt;
use longshore::ports::{Ports, report_key};
use longshore::receipt::Receipt;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile, Status, Stop};
use longshore_domain::message::CompleteMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, FileInfo, JobStore, JobTransitions, Ledger};
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryQueues, MemoryStore};
use measurements::{is_complete_run, row};
use serde_json::json;

use generated::{BLOCK_BYTES, Generated, KEY, ROWS_IN_BLOCK};
use quota::{PART, Quota, peak_mib, processor_s};

/// Deployed timeout in seconds, without the time reserved for the response.
const INVOCATION_S: i64 = 116;

/// Deployed timeout, after which the function is killed.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Memory limit of the process: half of the function's memory.
const MOST_MIB: u64 = 256;

/// Lock that lets one job at a time use the processor.
static TURN: Mutex<()> = Mutex::new(());

const PART_BYTES: usize = 8 << 20;

/// Resolves a future over in-memory services, which never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("calls of in-memory services never wait")
}

struct Large {
    ports: Ports<MemoryStore, MemoryQueues, Generated>,
    id: JobId,
}

impl Large {
    /// A begun job over a file of this many blocks.
    fn new(blocks: u64, files: Generated) -> Self {
        Self::with_results(blocks, files, None)
    }

    /// A begun job over a file of this many blocks, whose items have outputs if there is a form.
    fn with_results(blocks: u64, mut files: Generated, results: Option<ResultsForm>) -> Self {
        files.size = blocks * BLOCK_BYTES;
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        let info = FileInfo { size_bytes: blocks * BLOCK_BYTES, etag: "\"e\"".into() };
        let source = SourceFile::new(KEY, info, Format::Csv, "people.csv");
        let job = Job {
            source: Some(source.into()),
            ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "probe", Timestamp::now())
        };
        let columns = Some(["id", "name", "email", "born", "city", "note"].map(str::to_owned).to_vec());
        now(ports.store.create_job(&job, &Definition { columns, results, ..Definition::new(json!({})) }, None))
            .unwrap();
        now(ports.store.begin(job.job_id, 0, Timestamp::now())).unwrap();
        Self { ports, id: job.job_id }
    }

    fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Commits a group of chunks of one block each, starting with block `first`.
    fn group(&self, number: u32, first: u64, chunks: u64) {
        self.group_of(number, first, chunks, ROWS_IN_BLOCK);
    }

    /// Commits a group of chunks of this many items.
    fn group_of(&self, number: u32, first: u64, chunks: u64, items: u64) {
        let chunk = |block: u64| ChunkPlan {
            first: block * items + 1,
            items: u32::try_from(items).unwrap(),
            start: block * BLOCK_BYTES,
            end: (block + 1) * BLOCK_BYTES,
            oversize: false,
            keys: None,
        };
        let manifest = Manifest { group: number, chunks: (first..first + chunks).map(chunk).collect() };
        let plan = GroupPlan::from_file(0, manifest, first * BLOCK_BYTES..(first + chunks) * BLOCK_BYTES);
        now(self.ports.store.commit_group(&self.job(), &plan, Timestamp::now())).unwrap();
    }

    /// Commits all items of a chunk, with `file` as its last work file.
    fn commit(&self, id: ChunkId, counts: Counts, file: Option<String>) {
        let (round, position, token) = (0, 0, format!("attempt{}", id.chunk));
        let to = Cursor { round, position, token, file, deferred: 0, due: None, finished: true, by_sweeper: false };
        let commit =
            Commit { chunk: id.chunk, from: None, to, counts, usage: Default::default(), at: Timestamp::now() };
        let outcome = now(self.ports.store.commit(self.id, id.group, &commit)).unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)));
    }

    fn cancel(&self) {
        now(self.ports.store.stop(self.id, 0, &Stop::canceled(Timestamp::now()))).unwrap();
    }

    /// Runs invocations until the job has ended.
    fn complete(&self) -> Run {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let quota = is_complete_run().then(Quota::hold).flatten();
        let (began, processor) = (Instant::now(), processor_s());
        let invocations = self.invoke();
        let took = began.elapsed();
        let processor = processor_s().zip(processor).map(|(after, before)| after - before);
        Run { invocations, took, processor, has_quota: quota.is_some() }
    }

    fn invoke(&self) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut invocations = 0;
        loop {
            invocations += 1;
            let began = Instant::now();
            let deadline = Timestamp::now().plus_seconds(INVOCATION_S);
            let (ports, clock) = (&self.ports, Timestamp::now);
            let completer = Completer { ports, stop_grace_ms: 0, deadline, part_bytes: PART_BYTES, clock };
            let message =
                CompleteMessage { job_id: self.id, generation: 0, resend: 0, step: 0, tenant: None, failures: 0 };
            let end = runtime.block_on(completer.complete(&message)).unwrap();
            assert!(began.elapsed() < TIMEOUT, "the function would be killed at its timeout: {:?}", began.elapsed());
            match end {
                CompleteEnd::Finished(_) => return invocations,
                end => assert_eq!(end, CompleteEnd::HandedOver),
            }
        }
    }

    fn receipt(&self) -> Receipt {
        let bytes = self.ports.files.inner.get(&report_key(&self.job(), "receipt.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Records the measurements of a run.
    fn record(&self, job: &str, run: &Run) {
        let (seconds, status) = (format!("{:.1}", run.took.as_secs_f64()), self.job().status);
        let processor = run.processor.map_or("?".into(), |seconds| format!("{seconds:.1}"));
        let quota = if run.has_quota { format!("{:.0} % by control group", PART * 100.0) } else { "none".into() };
        let (invocations, peak) = (run.invocations, peak_mib().unwrap_or(0));
        assert!(peak <= MOST_MIB, "{peak} MiB");
        let receipt = self.receipt();
        let results = receipt.results.map_or(0, |results| results.size);
        let written = receipt.files.iter().map(|file| file.fingerprint.size).sum::<u64>() + results;
        let report = format!("{:.2} GiB", written as f64 / f64::from(1 << 30));
        row(
            "completion",
            &[
                ("job", &job),
                ("report", &report),
                ("status", &format!("{status:?}")),
                ("invocations", &invocations),
                ("seconds", &seconds),
                ("processor seconds", &processor),
                ("processor quota", &quota),
                ("peak memory MiB", &peak),
                ("violations", &0),
            ],
        );
        println!(
            "{job}: {report} of a report, {invocations} invocations, {seconds} s, {processor} s of a processor (quota: {quota}), {peak} MiB"
        );
    }
}

/// Measurements of a job's completion.
struct Run {
    invocations: u32,
    took: Duration,
    /// Processor time, in seconds.
    processor: Option<f64>,
    has_quota: bool,
}

/// Blocks of the large file: 5 GiB, or a little more than a part.
fn blocks() -> u64 {
    if is_complete_run() { 5 * (1 << 30) / BLOCK_BYTES } else { 24 }
}

#[test]
fn a_large_job_that_is_canceled_after_its_first_chunk_ends_canceled_with_its_report() {
    let blocks = blocks();
    for (name, is_split) in [("canceled while it is split", false), ("canceled after the split", true)] {
        let large = Large::new(blocks, Generated::default());
        large.group(0, 0, 1);
        large.commit(ChunkId::new(0, 0), Counts { succeeded: ROWS_IN_BLOCK, ..Counts::default() }, None);
        if is_split {
            let (mut block, mut number) = (1, 1);
            while block < blocks {
                let chunks = 16.min(blocks - block);
                large.group(number, block, chunks);
                (block, number) = (block + chunks, number + 1);
            }
            now(large.ports.store.end_split(&large.job(), number, &[], Timestamp::now())).unwrap();
        }
        large.cancel();
        let run = large.complete();
        assert_eq!(large.job().status, Status::Canceled);
        let receipt = large.receipt();
        assert_eq!(
            (receipt.counts.succeeded, receipt.counts.unprocessed),
            (ROWS_IN_BLOCK, (blocks - 1) * ROWS_IN_BLOCK)
        );
        assert_eq!(
            large.ports.files.appeared(),
            receipt.files.iter().map(|file| file.fingerprint.size).collect::<Vec<_>>()
        );
        large.record(name, &run);
    }
}

#[test]
fn a_job_of_many_work_files_ends_with_its_report() {
    let (groups, latency_ms) = if is_complete_run() { (500, 20) } else { (6, 0) };
    let files_of_a_chunk = 13_u32;
    let large = Large::new(groups * 16, Generated::with_work_files(latency_ms));
    for group in 0..groups {
        let number = u32::try_from(group).unwrap();
        large.group(number, group * 16, 16);
        for chunk in 0..16 {
            let failed = u64::from(files_of_a_chunk);
            let counts = Counts { succeeded: ROWS_IN_BLOCK - failed, failed, ..Counts::default() };
            large.commit(ChunkId::new(number, chunk), counts, Some(files_of_a_chunk.to_string()));
        }
        now(large.ports.store.group_done(large.id, number, Timestamp::now())).unwrap();
    }
    now(large.ports.store.end_split(&large.job(), u32::try_from(groups).unwrap(), &[], Timestamp::now())).unwrap();
    let run = large.complete();
    assert_eq!(large.job().status, Status::Completed);
    assert_eq!(large.receipt().counts.failed, groups * 16 * u64::from(files_of_a_chunk));
    large.record(&format!("{} work files, {latency_ms} ms each", groups * 16 * u64::from(files_of_a_chunk)), &run);
}

/// A chunk is read within one invocation, regardless of its handler's duration and its number of rounds.
#[test]
fn a_chunk_of_many_work_files_is_read_within_an_invocation() {
    let (work_files, latency_ms) = if is_complete_run() { (6_000, 20) } else { (200, 0) };
    let large = Large::new(1, Generated::with_work_files(latency_ms));
    large.group(0, 0, 1);
    let counts = Counts { succeeded: ROWS_IN_BLOCK - work_files, failed: work_files, ..Counts::default() };
    large.commit(ChunkId::new(0, 0), counts, Some(work_files.to_string()));
    now(large.ports.store.group_done(large.id, 0, Timestamp::now())).unwrap();
    now(large.ports.store.end_split(&large.job(), 1, &[], Timestamp::now())).unwrap();
    let run = large.complete();
    assert_eq!((large.job().status, large.receipt().counts.failed), (Status::Completed, work_files));
    large.record(&format!("{work_files} work files of one chunk, {latency_ms} ms each"), &run);
}
