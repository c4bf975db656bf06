//! Running functions, messages in their queues, and a clock that only the run advances.

mod accept;
mod acts;
mod chaos;
mod client;
mod concurrency;
mod customer;
mod delivery;
mod drive;
mod ended;
mod expiry;
mod function;
mod message;
mod oracle;
mod replays;
mod services;
mod starved;
mod tasks;

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;
use longshore::chunk::KnownJobs;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::JobStore;
use longshore_testing::MemoryFiles;
use longshore_testing::MemoryQueues;
use longshore_testing::MemoryStore;

use crate::clock::{CLOCK, SKEW};
use crate::kinds::{Kind, Kinds};
use crate::plan::{Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::stepwise::{Stepwise, queues};
use crate::unguarded::Unguarded;
use acts::Act;
use customer::Customer;
use function::Task;
use message::{Hops, QueuedMessage};
use services::Shared;

pub(crate) use starved::Turns;

/// Seconds after its time limit at which a function is killed.
const RESERVE_S: i64 = 4;
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
