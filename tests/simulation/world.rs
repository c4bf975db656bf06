//! Running functions, messages in their queues, and a clock that only the run advances.

mod acts;
mod chains;
mod chaos;
mod client;
mod concurrency;
mod course;
mod customer;
mod dead_letters;
mod expiry;
mod function;
mod oracle;
mod replays;
mod starved;
mod tasks;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;
use longshore::chunk::KnownJobs;
use longshore::files::MemoryFiles;
use longshore::ports::Ports;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::JobStore;
use longshore_domain::time_stamp::Timestamp;

use crate::kinds::{Kind, Kinds};
use crate::plan::{Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::stepwise::Stepwise;
use crate::unguarded::Unguarded;
use acts::Act;
use customer::Customer;
use dead_letters::{Hops, QueuedMessage};
use function::{Shared, Work};
use tasks::Task;

pub(crate) use dead_letters::depth;
pub(crate) use starved::Turns;

/// Seconds without progress that count as healthy, unless a story has its own value.
pub(crate) const STALL_S: i64 = 60;
/// Seconds that a function may run.
const PATIENCE_S: i64 = 20;
/// Size of a part of a report's file in bytes: small, so that most reports have parts.
const PART_BYTES: usize = 64;
/// Seconds after its time limit at which a function is killed.
const RESERVE_S: i64 = 4;
/// Seconds after which a sweep is killed: less than a minute, so that sweeps seldom overlap.
const SWEEP_S: i64 = 55;
/// Maximum number of steps of a function: more than any function takes over such small files.
const MOST_STEPS: u32 = 20_000;
/// Maximum number of deliveries of a message.
const MAX_RECEIVES: u32 = 5;
/// Maximum number of deliveries of a message in the template.
const TEMPLATE_RECEIVES: u32 = 10;
/// Milliseconds for which a queue keeps deduplication ids.
const DEDUPLICATION_MS: i64 = 300_000;
/// Maximum invocations of one function in a chain of messages, each sent by the function that processed the previous
/// one. Lambda refuses more unless `RecursiveLoop` allows them.
/// <https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>
const MOST_HOPS: u32 = 16;

type Services =
    Ports<Stepwise<Unguarded<MemoryStore>>, Stepwise<Unguarded<MemoryQueues>>, Stepwise<Unguarded<MemoryFiles>>>;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    static SKEW: Cell<i64> = const { Cell::new(0) };
}

/// The time by the clock of the running function, with its error.
fn clock() -> Timestamp {
    Timestamp(CLOCK.get() + SKEW.get())
}

/// The exact time.
pub(crate) fn true_time() -> Timestamp {
    Timestamp(CLOCK.get())
}

pub(crate) struct World {
    shared: Rc<Shared>,
    store: MemoryStore,
    queues: MemoryQueues,
    files: MemoryFiles,
    kinds: Kinds,
    /// The jobs and their clients. Stories have one.
    customers: Vec<Customer>,
    /// Index of the current job.
    at: usize,
    environment: Environment,
    rng: Rng,
    messages: BTreeMap<u64, QueuedMessage>,
    tasks: Vec<Task>,
    /// Requests that clients will repeat, because they received no response.
    requests: Vec<(JobId, Act)>,
    /// Counter for the numbers of messages, functions and uploads.
    numbers: u64,
    forgot_at: i64,
    losses: u32,
    /// Number of events that justify a push without effect.
    disturbances: u32,
    /// Number of dead-lettered chunk messages, and of other dead-lettered messages.
    buried: (u32, u32),
    /// Maximum invocations of each function in a chain.
    most_hops: Hops,
    /// True if Lambda refuses a message after the maximum number of invocations in its chain.
    refuses_loops: bool,
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
        let environment = Environment { mortal: job.kind == Kind::Limited, ..Environment::PLAIN };
        Self::from_plan(&Plan { jobs: vec![job], environment, stretches: Vec::new() }, Rng::from_seed(0))
    }

    /// The world of a plan. The random generator decides all events.
    pub(crate) fn from_plan(plan: &Plan, mut rng: Rng) -> Self {
        CLOCK.set(1_000_000);
        SKEW.set(0);
        crate::handler::begin();
        dead_letters::begin();
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
            registry: kinds.registry(),
            known: KnownJobs::default(),
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
            buried: (0, 0),
            most_hops: [0; 3],
            refuses_loops: false,
        };
        plan.jobs.iter().for_each(|job| world.accept(job));
        world
    }

    /// The same world with another random generator and environment from now on.
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

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("in-memory services answer at once")
}
