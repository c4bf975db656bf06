//! One chunk of a job over in-memory services, and the process that works on it.

#![allow(clippy::expect_used, reason = "a failed step fails the test")]

use longshore::chunk::{CostMeter, DefinitionCache, Worker};
use longshore::handler::Registry;
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::{MemoryFiles, MemoryQueues, MemoryStore};

/// Caches, meter and clock of a process that works on chunks.
pub struct WorkerProcess {
    /// Definitions that the process has cached.
    pub definitions: DefinitionCache,
    /// Pauses that the process has cached.
    pub pauses: PauseCache,
    /// The meter of billed units, which counts nothing at first.
    pub meter: CostMeter,
    clock: fn() -> Timestamp,
}

impl WorkerProcess {
    /// Starts a process with empty caches.
    pub fn new(clock: fn() -> Timestamp) -> Self {
        let (definitions, pauses, meter) = Default::default();
        Self { definitions, pauses, meter, clock }
    }

    /// Returns the worker for these services and job types.
    pub fn worker<'a, F>(
        &'a self,
        ports: &'a Ports<MemoryStore, MemoryQueues, F>,
        registry: &'a Registry,
    ) -> Worker<'a, MemoryStore, MemoryQueues, F> {
        let Self { definitions, pauses, meter, clock } = self;
        Worker { ports, registry, definitions, pauses, retry_base_s: 0, clock: *clock, meter: *meter }
    }
}

/// A begun job of one chunk: all rows of its file.
pub struct ChunkWorld<F = MemoryFiles> {
    /// The services.
    pub ports: Ports<MemoryStore, MemoryQueues, F>,
    /// The job as it was created.
    pub job: Job,
    /// The message of the chunk, which is not sent.
    pub message: ChunkMessage,
    /// The process that works on the chunk.
    pub process: WorkerProcess,
}

impl ChunkWorld {
    /// Begins a job of this type over a file of JSON lines.
    ///
    /// # Panics
    /// If an adapter refuses a step.
    pub async fn new(job_type: &str, rows: &str, clock: fn() -> Timestamp) -> Self {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), job_type, clock());
        Self::with_job(job, rows, clock).await
    }

    /// Begins this job, which is new and has no source, over a file of JSON lines.
    ///
    /// # Panics
    /// If an adapter refuses a step.
    pub async fn with_job(job: Job, rows: &str, clock: fn() -> Timestamp) -> Self {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let job = put_rows(&files, job, rows).await;
        let plan = ChunkPlan::from_range(1, rows.lines().count() as u32, 0..rows.len() as u64);
        let message = begin_chunk(&store, &job, json!({}), plan).await;
        Self { ports: Ports { store, queues, files }, job, message, process: WorkerProcess::new(clock) }
    }
}

impl<F> ChunkWorld<F> {
    /// Replaces the files by others, which wrap them.
    #[must_use]
    pub fn with_files<G>(self, wrap: impl FnOnce(F) -> G) -> ChunkWorld<G> {
        let Self { ports: Ports { store, queues, files }, job, message, process } = self;
        ChunkWorld { ports: Ports { store, queues, files: wrap(files) }, job, message, process }
    }

    /// Returns the worker of the process for these job types.
    pub fn worker<'a>(&'a self, registry: &'a Registry) -> Worker<'a, MemoryStore, MemoryQueues, F> {
        self.process.worker(&self.ports, registry)
    }

    /// Returns the job and its only group.
    ///
    /// # Panics
    /// If the store refuses the read.
    pub async fn progress(&self) -> JobProgress {
        self.ports.store.progress(self.job.job_id).await.expect("a read").expect("the job exists")
    }
}

/// Returns a file of JSON lines: the numbers from 1 on.
pub fn numbered_rows(count: u32) -> String {
    (1..=count).map(|n| format!("{n}\n")).collect()
}

/// Stores a file of JSON lines. Returns the job with this file as its source.
///
/// # Panics
/// If the files refuse it.
pub async fn put_rows(files: &MemoryFiles, job: Job, rows: &str) -> Job {
    files.put("k", rows);
    let info = files.info("k").await.expect("a read").expect("the file exists");
    Job { source: Some(SourceFile::new("k", info, Format::JsonLines, "f.jsonl").into()), ..job }
}

/// Stores a job, begins it, and commits its only chunk. Returns the message of the chunk.
///
/// # Panics
/// If the store refuses a step.
pub async fn begin_chunk(store: &MemoryStore, job: &Job, options: Value, plan: ChunkPlan) -> ChunkMessage {
    let (at, end) = (job.times.created_at, plan.end);
    let message = ChunkMessage::new(job, ChunkId::default(), &plan);
    store.create_job(job, &Definition::new(options), None).await.expect("the job is stored");
    store.begin(job.job_id, 0, at).await.expect("the job begins");
    let manifest = Manifest { group: 0, chunks: vec![plan] };
    store.commit_group(job, &GroupPlan::from_file(0, manifest, 0..end), at).await.expect("the group is stored");
    message
}
