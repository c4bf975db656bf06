//! Memory of the completion of a group of full chunks whose rows all failed or waited for four rounds, with entries far
//! larger than their rows.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use complete_job::{CompleteEnd, Completer};
use futures::FutureExt;
use longshore::ports::Ports;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile, Status};
use longshore_domain::message::CompleteMessage;
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger, PortResult, Read};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore, MemoryStream, delegate_files, discard_parts};
use serde_json::json;

/// Memory limit of the completion. The deployed function has 512 MiB.
const MEMORY_MIB: u64 = 400;

/// Rows of a chunk: the maximum of an import.
const ROWS: u32 = 50_000;

const ROW: &str = "12345678,Ada Lovelace,purple1\n";

const CHUNKS: u32 = 16;

/// Token of the last file of a chunk whose rows waited for four rounds.
const WAITED: &str = "waited4";

const FAILED: &str = "failed0";

/// Number of times a read of the first chunk yields before it returns its file. By then the files of the other chunks
/// are in memory.
const YIELDS: usize = 100;

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

/// Work files by token, each generated once. Files of the report are discarded.
#[derive(Clone, Default)]
struct Full {
    inner: MemoryFiles,
    generated: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

/// Generates the work file of a token, with a line for each row.
fn generate(token: &str) -> Vec<u8> {
    let (kind, round) = token.split_at(token.len() - 1);
    let round: u32 = round.parse().unwrap();
    let rows = if token == WAITED { 1 } else { ROWS };
    let reason = "the service answered 503 and is retried later; ".repeat(4);
    let end = match token {
        WAITED | FAILED => End::Failed(Rejection::new("enum", Some("colour"), "no such colour, ".repeat(25))),
        _ => End::Transient { attempts: round + 1, reason, due: None },
    };
    let prev = round.checked_sub(1).map(|before| format!("{kind}{before}"));
    let mut file = json!({ "round": round, "prev": prev }).to_string();
    for n in 1..=u64::from(rows) {
        let entry = Entry { n, end: end.clone(), raw: ROW.trim_end().into(), damaged: false };
        file.push('\n');
        file.push_str(&serde_json::to_string(&entry).unwrap());
    }
    file.into_bytes()
}

impl Files for Full {
    type Stream = MemoryStream;

    delegate_files!(inner: info open write remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        let Some((_, file)) = key.split_once("/chunks/") else { return self.inner.read(key, etag, plan).await };
        for _ in 0..YIELDS * usize::from(file.starts_with("0-0/")) {
            tokio::task::yield_now().await;
        }
        let token = file.rsplit('/').next().unwrap().trim_end_matches(".jsonl");
        let mut generated = self.generated.lock().unwrap();
        Ok(Read::Found(generated.entry(token.to_owned()).or_insert_with(|| generate(token)).clone()))
    }
}

discard_parts!(Full);

/// A job of one group in which each chunk has ended with this file.
fn ended(file: &str, round: u32, counts: Counts) -> (Ports<MemoryStore, MemoryQueues, Full>, JobId) {
    let bytes = u64::from(ROWS) * ROW.len() as u64;
    let (key, etag, name) = ("uploads/default/full".into(), "\"e\"".into(), "people.csv".into());
    let size_bytes = u64::from(CHUNKS) * bytes;
    let source = SourceFile { key, size_bytes, etag, format: Format::Csv, name, reading: None, original: None };
    let job = Job {
        source: Some(source.into()),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "probe", Timestamp::now())
    };
    let columns = Some(["id", "name", "colour"].map(str::to_owned).to_vec());
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: Full::default() };
    let (store, id) = (&ports.store, job.job_id);
    now(store.create_job(&job, &Definition { columns, ..Definition::new(json!({})) }, None)).unwrap();
    now(store.begin(id, 0, Timestamp::now())).unwrap();
    let chunk = |n: u64| ChunkPlan {
        first: n * u64::from(ROWS) + 1,
        items: ROWS,
        start: n * bytes,
        end: (n + 1) * bytes,
        oversize: false,
        keys: None,
    };
    let manifest = Manifest { group: 0, chunks: (0..u64::from(CHUNKS)).map(chunk).collect() };
    let plan = GroupPlan::from_file(0, manifest, 0..size_bytes);
    let job = || now(store.job(id)).unwrap().unwrap();
    now(store.commit_group(&job(), &plan, Timestamp::now())).unwrap();
    for chunk in 0..CHUNKS {
        let (position, token, file) = (0, format!("attempt{chunk}"), Some(file.to_owned()));
        let to = Cursor { round, position, token, file, deferred: 0, due: None, finished: true, by_sweeper: false };
        let commit = Commit { chunk, from: None, to, counts, usage: Default::default(), at: Timestamp::now() };
        assert!(matches!(now(store.commit(id, 0, &commit)).unwrap(), CommitOutcome::Committed(_)));
    }
    now(store.group_done(id, 0, Timestamp::now())).unwrap();
    now(store.end_split(&job(), 1, &[], Timestamp::now())).unwrap();
    (ports, id)
}

fn complete(ports: &Ports<MemoryStore, MemoryQueues, Full>, id: JobId) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let message: CompleteMessage = serde_json::from_value(json!({ "jobId": id, "generation": 0 })).unwrap();
    loop {
        let (clock, deadline) = (Timestamp::now, Timestamp::now().plus_seconds(116));
        let completer = Completer { ports, stop_grace_ms: 0, deadline, part_bytes: 8 << 20, clock };
        match runtime.block_on(completer.complete(&message)).unwrap() {
            CompleteEnd::Finished(_) => return,
            end => assert_eq!(end, CompleteEnd::HandedOver),
        }
    }
}

/// Peak memory of this process; 0 on systems that do not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

#[test]
fn full_chunks_of_failed_rows_or_of_many_rounds_fit_into_memory() {
    let waited = Counts { succeeded: u64::from(ROWS) - 1, failed: 1, skipped: 0 };
    let failed = Counts { failed: u64::from(ROWS), ..Counts::default() };
    for (file, round, counts) in [(WAITED, 4, waited), (FAILED, 0, failed)] {
        let (ports, id) = ended(file, round, counts);
        complete(&ports, id);
        let job = now(ports.store.job(id)).unwrap().unwrap();
        let expected = u64::from(CHUNKS) * counts.failed;
        assert_eq!(
            (job.status, job.completion.totals.map(|totals| totals.failed)),
            (Status::Completed, Some(expected))
        );
        println!("{file}: {} MiB at most", peak_mib());
        assert!(peak_mib() < MEMORY_MIB, "{file}: {} MiB", peak_mib());
    }
}
