//! The state of a run, and the state at its start. A job of a world, with its client and earlier observations.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures::FutureExt;
use longshore::chunk::DefinitionCache;
use longshore::ports::Ports;
use longshore_domain::group::Group;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Job;
use longshore_domain::ports::JobStore;
use longshore_domain::progress::Progress;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::acts::{Act, Shared};
use super::event_list::EventReader;
use super::function::{Hops, QueuedMessage, Task};
use super::operators::Operators;
use crate::clock::{CLOCK, SKEW};
use crate::kinds::{Kind, Kinds};
use crate::plan::{ActionRates, Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::rows::Dialect;
use crate::stepwise::{Stepwise, queues};
use crate::unguarded::Unguarded;

/// Seconds after its time limit at which a function is killed.
pub(super) const RESERVE_S: i64 = 4;
/// Maximum number of steps of a function: more than any function takes for such small files.
pub(super) const MAX_STEPS: u32 = 20_000;
/// Maximum number of deliveries of a message.
pub(super) const MAX_RECEIVES: u32 = 5;
/// Maximum number of deliveries of a message in the template.
pub(super) const TEMPLATE_RECEIVES: u32 = 10;
/// Milliseconds for which a queue keeps deduplication ids.
pub(super) const DEDUPLICATION_MS: i64 = 300_000;
/// Maximum invocations of one function in a chain of messages, each sent by the function that processed the previous
/// one. Lambda refuses more unless `RecursiveLoop` allows them.
/// <https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>
pub(super) const MAX_HOPS: u32 = 16;

pub(crate) struct World {
    pub(super) shared: Rc<Shared>,
    pub(super) store: MemoryStore,
    pub(super) queues: MemoryQueues,
    pub(super) files: MemoryFiles,
    pub(super) kinds: Kinds,
    /// The jobs and their clients. Stories have one.
    pub(super) customers: Vec<Customer>,
    /// Files of items whose request died before it created a job. The bucket's lifecycle removes them.
    pub(super) orphans: BTreeSet<String>,
    /// Ended jobs whose failed items other jobs copy.
    pub(super) sources: BTreeSet<JobId>,
    /// Index of the current job.
    pub(super) at: usize,
    pub(super) environment: Environment,
    pub(super) rng: Rng,
    pub(super) messages: BTreeMap<u64, QueuedMessage>,
    pub(super) tasks: Vec<Task>,
    /// Requests without a response, which clients will repeat.
    pub(super) requests: Vec<(JobId, Act)>,
    /// Counter for the numbers of messages, functions and uploads.
    pub(super) numbers: u64,
    pub(super) forgot_at: i64,
    pub(super) losses: u32,
    /// Number of events that justify a push without effect.
    pub(super) disturbances: u32,
    /// Number of dead-lettered chunk messages.
    pub(super) dead_chunks: u32,
    /// Number of other dead-lettered messages.
    pub(super) other_dead_letters: u32,
    /// Maximum invocations of each function in a chain.
    pub(super) most_hops: Hops,
    pub(super) event_reader: EventReader,
    /// Operators who pause types and tenants, in some runs.
    pub(super) operators: Option<Operators>,
    /// Number of times that a delivery of each chunk has found it paused.
    pub(super) times_paused: BTreeMap<(JobId, ChunkId), u32>,
    /// True if Lambda refuses a message after the maximum number of invocations in its chain.
    pub(super) refuses_loops: bool,
}

impl World {
    /// A world with one waiting job, whose rows have these actions. Its create message is sent.
    pub(crate) fn new(rows: &[usize], tolerated: Option<u64>) -> Self {
        Self::alone(JobPlan { tolerated, ..JobPlan::plain(rows, Kind::Simulated) })
    }

    /// A world with one job of the type with a concurrency limit.
    pub(crate) fn limited(rows: &[usize]) -> Self {
        Self::alone(JobPlan::plain(rows, Kind::Limited))
    }

    /// The world of one job, without faults.
    pub(crate) fn alone(job: JobPlan) -> Self {
        let environment = Environment { has_timeouts: job.kind == Kind::Limited, ..Environment::PLAIN };
        Self::from_plan(&Plan { jobs: vec![job], environment, phases: Vec::new() }, Rng::from_seed(0))
    }

    /// The world of a plan. The random generator decides all events.
    pub(crate) fn from_plan(plan: &Plan, mut rng: Rng) -> Self {
        CLOCK.set(1_000_000);
        SKEW.set(0);
        crate::handler::begin();
        crate::lying::begin(Rng::from_seed(rng.number()));
        crate::exports::begin();
        crate::lineage::begin();
        crate::pauses::begin();
        queues::begin();
        let (store, queues, files) = <(MemoryStore, MemoryQueues, MemoryFiles)>::default();
        // With several jobs, the first page of the index does not contain all of them.
        let store = if plan.jobs.len() > 1 { store.with_pages_of(1 + rng.below(2)) } else { store };
        let kinds = Kinds::default();
        let ports = Ports {
            store: Stepwise(Unguarded(store.clone())),
            queues: Stepwise(Unguarded(queues.clone())),
            files: Stepwise(Unguarded(files.clone())),
        };
        let shared = Shared {
            ports,
            dead_letters: Stepwise(queues.clone()),
            records: kinds.records.clone(),
            registry: kinds.registry(&files),
            definitions: DefinitionCache::default(),
            pauses: None,
            retry_base_s: plan.environment.retry_base_s,
            stall_s: plan.environment.stall_s,
            canceled: Default::default(),
        };
        let mut world = Self {
            shared: Rc::new(shared),
            store,
            queues,
            files,
            kinds,
            customers: Vec::new(),
            orphans: BTreeSet::new(),
            sources: BTreeSet::new(),
            at: 0,
            environment: plan.environment.clone(),
            rng,
            messages: BTreeMap::new(),
            tasks: Vec::new(),
            requests: Vec::new(),
            numbers: 0,
            forgot_at: CLOCK.get(),
            losses: 0,
            disturbances: 0,
            dead_chunks: 0,
            other_dead_letters: 0,
            most_hops: [0; 4],
            event_reader: EventReader::default(),
            operators: None,
            times_paused: BTreeMap::new(),
            refuses_loops: false,
        };
        plan.jobs.iter().for_each(|job| world.accept(job));
        world.create_endpoints();
        world
    }

    /// The same world with another random generator and environment.
    pub(crate) fn with_environment(self, rng: Rng, environment: Environment) -> Self {
        Self { rng, environment, ..self }
    }

    /// The job, or `None` once it is removed.
    pub(crate) fn stored(&self) -> Option<Job> {
        now(self.store.job(self.customer().id)).unwrap()
    }

    pub(crate) fn job(&self) -> Job {
        self.stored().unwrap()
    }

    pub(super) fn has_dead_letters(&self) -> bool {
        self.dead_chunks > 0 || self.other_dead_letters > 0
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

pub(super) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("calls of in-memory services never wait")
}

/// A job, and its client.
pub(super) struct Customer {
    pub(super) id: JobId,
    pub(super) tenant: &'static str,
    pub(super) kind: Kind,
    pub(super) dialect: Dialect,
    /// True if it compresses what it uploads.
    pub(super) is_compressed: bool,
    pub(super) action_rates: ActionRates,
    pub(super) seen: Seen,
    /// Set when the job begins to expire. The inner value is set when the job's own item is removed: the last function
    /// that had begun.
    pub(super) expired: Option<Option<u64>>,
    pub(super) expires: bool,
    /// Possible actions of each row, one bit per action. Corrected files add actions.
    pub(super) possible: Vec<u8>,
    /// Uploads of corrected files that retries have named.
    pub(super) corrected: BTreeSet<String>,
    /// Number of changes of the import's dataset when the job was created, if it is an undo.
    pub(super) changes: usize,
    /// The lowest number of items with which the job completes, if it is an undo: all rows of the import's file, once
    /// all are split.
    pub(super) least: usize,
}

/// Earlier observations of the job.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) job: Option<Job>,
    pub(super) groups: Vec<Group>,
    pub(super) progress: (u64, u8),
    /// Progress that the client received after the end of the job.
    pub(super) ended: Option<Progress>,
    pub(super) left_out: LeftOut,
}

/// Rows that a replay of dead letters must not run: those that failed without a dead letter.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) generation: u32,
    /// Number of the last function that began before the generation.
    pub(super) last_function: u64,
    pub(super) failed: Vec<usize>,
}
