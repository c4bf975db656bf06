//! One job over in-memory services, from the create message to its final status.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use complete_job::{CompleteEnd, Completer};
use create_job::Splitter;
use longshore::chunk::{DefinitionCache, Mode, Worker};
use longshore::handler::Registry;
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Source, Status};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{Definition, JobStore};
use longshore_domain::registration::VersionedRegistration;
use longshore_domain::results::ResultsForm;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// Number of workers: the cores of the machine of the recorded run.
pub(crate) const WORKERS: usize = 2;

/// Timeout of an invocation, in seconds.
const TIMEOUT_S: i64 = 110;

/// Size of the parts of a report's file, as deployed.
pub(crate) const PART_BYTES: usize = 8 << 20;

/// The services in memory.
pub(crate) type Services = Ports<MemoryStore, MemoryQueues, MemoryFiles>;

/// A job to run.
pub(crate) struct Request {
    pub(crate) job_type: &'static str,
    pub(crate) source: Source,
    pub(crate) options: Value,
    pub(crate) results: Option<ResultsForm>,
    /// The handler of a registered type.
    pub(crate) registration: Option<VersionedRegistration>,
}

/// The seconds of each phase of a job, and its calls.
#[derive(Copy, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) split_s: f64,
    pub(crate) work_s: f64,
    pub(crate) completion_s: f64,
    /// Messages of chunks that were worked on.
    pub(crate) chunks: u64,
    /// Batches of statements that an import has sent.
    pub(crate) statements: u64,
    /// Batches of keys that an import has read.
    pub(crate) reads: u64,
    /// Files with previous versions of records.
    pub(crate) versions: u64,
}

impl Measured {
    pub(crate) fn total_s(self) -> f64 {
        self.split_s + self.work_s + self.completion_s
    }
}

/// Runs a job over these files, and verifies that each of the `items` has succeeded.
pub(crate) fn run(files: MemoryFiles, registry: &Registry, request: Request, items: u64) -> Result<Measured> {
    let ports = services(files);
    run_with(&ports, registry, request, items, |chunks| work(&ports, registry, chunks))
}

/// Returns new services with these files.
pub(crate) fn services(files: MemoryFiles) -> Services {
    Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files }
}

/// Runs a job whose chunks `work` processes, and verifies that each of the `items` has succeeded.
pub(crate) fn run_with(
    ports: &Services,
    registry: &Registry,
    request: Request,
    items: u64,
    work: impl FnOnce(&Chunks<'_>) -> Result<()>,
) -> Result<Measured> {
    let runtime = runtime()?;
    let job = Job {
        source: Some(request.source),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), request.job_type, Timestamp::now())
    };
    let definition =
        Definition { results: request.results, registration: request.registration, ..Definition::new(request.options) };
    runtime.block_on(ports.store.create_job(&job, &definition, None))?;
    runtime.block_on(ports.send_create(&job));
    let chunks = Chunks::new(ports);
    let measured = Measured {
        split_s: seconds(|| split(ports, registry, &runtime))?,
        work_s: seconds(|| work(&chunks))?,
        completion_s: seconds(|| complete(ports, &runtime))?,
        chunks: chunks.taken.into_inner(),
        ..Measured::default()
    };
    let ended = runtime.block_on(ports.store.job(job.job_id))?.context("the job is gone")?;
    let succeeded = ended.completion.totals.map(|totals| totals.succeeded);
    ensure!(
        (ended.status, succeeded) == (Status::Completed, Some(items)),
        "the job ended as {:?} with {succeeded:?} of {items} items: {:?}",
        ended.status,
        ended.error
    );
    Ok(measured)
}

/// The messages of chunks, which several workers take.
pub(crate) struct Chunks<'a> {
    queues: &'a MemoryQueues,
    queue: Mutex<Vec<ChunkMessage>>,
    /// Number of messages that were taken.
    taken: AtomicU64,
}

impl<'a> Chunks<'a> {
    fn new(ports: &'a Services) -> Self {
        Self { queues: &ports.queues, queue: Mutex::default(), taken: AtomicU64::default() }
    }

    /// Takes a message; `None` if there is none.
    pub(crate) fn take(&self) -> Option<ChunkMessage> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.extend(self.queues.take_chunks().into_iter().map(|sent| sent.message));
        let message = queue.pop()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(message)
    }
}

/// Runs each worker in a thread of its own.
pub(crate) fn in_threads<W: Send>(workers: Vec<W>, run: impl Fn(W) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = workers.into_iter().map(|worker| scope.spawn(move || run(worker))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a worker panicked"))?)
    })
}

/// Processes create messages until none is left.
fn split(ports: &Services, registry: &Registry, runtime: &Runtime) -> Result<()> {
    let splitter = Splitter { ports, registry, clock: Timestamp::now };
    while let Some(message) = next::<CreateMessage>(&mut ports.queues.take_creates())? {
        runtime.block_on(splitter.split(&message, deadline())).map_err(|error| anyhow!("the split failed: {error}"))?;
    }
    Ok(())
}

/// Processes chunks in two threads until none is left.
fn work(ports: &Services, registry: &Registry, chunks: &Chunks<'_>) -> Result<()> {
    in_threads(vec![(); WORKERS], |()| {
        let (runtime, definitions) = (runtime()?, DefinitionCache::default());
        let worker = Worker {
            ports,
            registry,
            definitions: &definitions,
            pauses: &PauseCache::default(),
            retry_base_s: 30,
            clock: Timestamp::now,
            meter: Default::default(),
        };
        while let Some(message) = chunks.take() {
            let end = runtime.block_on(worker.work(&message, Mode::Work, deadline()));
            end.map_err(|error| anyhow!("a chunk failed: {error}"))?;
        }
        Ok(())
    })
}

/// Processes complete messages until the job has ended.
fn complete(ports: &Services, runtime: &Runtime) -> Result<()> {
    while let Some(message) = next::<CompleteMessage>(&mut ports.queues.take_completes())? {
        let completer =
            Completer { ports, stop_grace_ms: 0, deadline: deadline(), part_bytes: PART_BYTES, clock: Timestamp::now };
        let end =
            runtime.block_on(completer.complete(&message)).map_err(|error| anyhow!("completion failed: {error}"))?;
        ensure!(matches!(end, CompleteEnd::Finished(_) | CompleteEnd::HandedOver), "completion ended with {end:?}");
    }
    Ok(())
}

/// Returns the only message, or `None` if there is none.
fn next<T>(messages: &mut Vec<T>) -> Result<Option<T>> {
    ensure!(messages.len() <= 1, "a job has {} messages instead of one", messages.len());
    Ok(messages.pop())
}

/// Returns the deadline of an invocation that begins now.
pub(crate) fn deadline() -> Timestamp {
    Timestamp::now().plus_seconds(TIMEOUT_S)
}

/// Returns the runtime of a function.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_time().build()?)
}

pub(crate) fn seconds(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    run()?;
    Ok(began.elapsed().as_secs_f64())
}
