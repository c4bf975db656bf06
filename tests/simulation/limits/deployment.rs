//! Instances of `call-handler` with one message each, as Lambda runs them. An instance that is killed is replaced at
//! once; its message becomes visible again after the visibility timeout, and its permit expires.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use futures::FutureExt;
use longshore::batch::Delivery;
use longshore::chunk::{ChunkEnd, ChunkError, DefinitionCache, DeliveryRecorder, Worker};
use longshore::handler::Registry;
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore::remote::CallHandlers;
use longshore_domain::pause::Pause;
use longshore_domain::ports::{PauseOutcome, PauseRecords};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::endpoint::Endpoint;
use super::jobs::{self, NewJob, Type};
use super::queue::{FairQueue, Queued};
use super::timed::Task;
use crate::clock::{CLOCK, SKEW, clock, true_time};
use crate::faults::{self, Rates};
use crate::rng::Rng;
use crate::stepwise::Stepwise;
use crate::unguarded::Unguarded;

/// Start of a run.
pub(super) const START: Timestamp = Timestamp(1_700_000_000_000);

/// Values of the template: time of an invocation without its reserve, and visibility timeout.
const INVOCATION_S: i64 = 146;
const VISIBILITY_S: i64 = 160;
const RETRY_BASE_S: i64 = 30;

/// Maximum difference of a clock from the true time, in milliseconds.
const SKEW_MS: i64 = 2;

type Plain = Ports<MemoryStore, MemoryQueues, MemoryFiles>;

/// A service whose calls take time.
type Timed<T> = Stepwise<Unguarded<T>>;

struct Services {
    ports: Ports<Timed<MemoryStore>, Timed<MemoryQueues>, Timed<MemoryFiles>>,
    registry: Registry,
}

/// The caches of an instance.
#[derive(Default)]
struct Caches {
    definitions: DefinitionCache,
    pauses: PauseCache,
    delivery_recorder: DeliveryRecorder,
}

#[derive(Default)]
struct Instance {
    caches: Rc<Caches>,
    running: Option<(Queued, Task<Result<ChunkEnd, ChunkError>>)>,
}

/// Settings of a run.
pub(super) struct Settings {
    pub(super) seed: u64,
    pub(super) instances: usize,
    /// Maximum number of concurrent chunks of one type.
    pub(super) share: u32,
    pub(super) types: Vec<Type>,
    pub(super) jobs: Vec<NewJob>,
    /// Time between two instances that are killed, in milliseconds.
    pub(super) killed_every_ms: Option<i64>,
}

/// A run.
pub(super) struct Deployment {
    settings: Settings,
    plain: Plain,
    services: Rc<Services>,
    pub(super) endpoint: Arc<Endpoint>,
    queue: FairQueue,
    instances: Vec<Instance>,
    rng: Rng,
    /// Times at which an instance was killed.
    pub(super) killed: BTreeSet<Timestamp>,
}

impl Deployment {
    #[allow(clippy::disallowed_methods, reason = "a run is reproducible")]
    pub(super) fn new(settings: Settings) -> Self {
        let mut rng = Rng::from_seed(settings.seed);
        longshore_domain::random::seed(rng.number());
        faults::begin(Rng::from_seed(0), Rates::default());
        CLOCK.set(START.0);
        SKEW.set(0);
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports {
            store: Stepwise(Unguarded(store.clone())),
            queues: Stepwise(Unguarded(queues.clone())),
            files: Stepwise(Unguarded(files.clone())),
        };
        let times = settings.types.iter().map(|of| (of.name, of.call_time)).collect();
        let endpoint = Endpoint::new(times, settings.share, Rng::from_seed(rng.number()));
        let handlers: Arc<dyn CallHandlers> = Arc::<Endpoint>::clone(&endpoint);
        let registry = Registry::default().with_handlers(handlers);
        Self {
            instances: std::iter::repeat_with(Instance::default).take(settings.instances).collect(),
            settings,
            plain: Ports { store, queues, files },
            services: Rc::new(Services { ports, registry }),
            endpoint,
            queue: FairQueue::default(),
            rng,
            killed: BTreeSet::new(),
        }
    }

    /// Runs until `is_over`, at most for these seconds. Returns the time that it took.
    pub(super) fn run(&mut self, seconds: i64, is_over: impl Fn(&Self) -> bool) -> i64 {
        let end = START.plus_seconds(seconds);
        while true_time() < end && !is_over(self) {
            self.create_jobs();
            self.deliver();
            let next = self.next_time().filter(|next| *next < end);
            CLOCK.set(next.unwrap_or(end).0);
            self.kill_one();
            self.step();
        }
        true_time().millis_since(START)
    }

    /// Stores the pause of an operator.
    pub(super) fn pause(&self, pause: &Pause) {
        let stored = self.plain.store.put_pause(pause).now_or_never().expect("calls of in-memory services never wait");
        assert_eq!(stored.unwrap(), PauseOutcome::Made);
    }

    /// Number of calls of services so far.
    pub(super) fn service_calls(&self) -> u64 {
        faults::tally().1
    }

    fn create_jobs(&mut self) {
        let (due, later): (Vec<NewJob>, _) = self.settings.jobs.iter().copied().partition(|job| job.at <= true_time());
        self.settings.jobs = later;
        for job in due {
            let of = self.settings.types.iter().find(|of| of.name == job.job_type).expect("a known type");
            jobs::create(&self.plain, of, job);
        }
        self.collect();
    }

    /// Puts the messages that were sent into the queue.
    fn collect(&mut self) {
        for sent in self.plain.queues.take_chunks() {
            self.queue.send(sent.message, true_time().plus_seconds(sent.delay_s.into()));
        }
    }

    /// Gives visible messages to idle instances.
    fn deliver(&mut self) {
        while let Some(idle) = self.instances.iter().position(|instance| instance.running.is_none()) {
            let Some(queued) = self.queue.receive() else { return };
            let skew_ms = self.rng.between(-SKEW_MS, SKEW_MS);
            let (services, caches) = (Rc::clone(&self.services), Rc::clone(&self.instances[idle].caches));
            let (message, failures, sent_at) = (queued.message.clone(), queued.failures, Some(queued.sent_at));
            let task = Task::new(skew_ms, async move {
                let worker = Worker {
                    ports: &services.ports,
                    registry: &services.registry,
                    definitions: &caches.definitions,
                    pauses: &caches.pauses,
                    retry_base_s: RETRY_BASE_S,
                    clock,
                    meter: Default::default(),
                };
                let delivery = Delivery { deadline: clock().plus_seconds(INVOCATION_S), failures, sent_at };
                worker.deliver(&caches.delivery_recorder, message, delivery).await
            });
            self.instances[idle].running = Some((queued, task));
        }
    }

    /// Returns the time of the next event.
    fn next_time(&self) -> Option<Timestamp> {
        let steps = self.instances.iter().filter_map(|instance| Some(instance.running.as_ref()?.1.due));
        let is_idle = self.instances.iter().any(|instance| instance.running.is_none());
        let messages = self.queue.next_visible().filter(|_| is_idle);
        let jobs = self.settings.jobs.iter().map(|job| job.at);
        steps.chain(messages).chain(jobs).min()
    }

    /// Runs every instance whose time has come.
    fn step(&mut self) {
        for number in 0..self.instances.len() {
            let Some((_, task)) = &mut self.instances[number].running else { continue };
            if task.due > true_time() {
                continue;
            }
            let Some(end) = task.run(&mut self.rng) else { continue };
            end.unwrap_or_else(|error| panic!("a delivery failed: {error}"));
            if let Some((queued, _)) = self.instances[number].running.take() {
                self.queue.end(&queued);
            }
        }
        self.collect();
    }

    fn kill_one(&mut self) {
        let Some(every_ms) = self.settings.killed_every_ms else { return };
        let is_due = true_time().millis_since(START) / every_ms > self.killed.len() as i64;
        let running: Vec<_> = (0..self.instances.len()).filter(|n| self.instances[*n].running.is_some()).collect();
        if !is_due || running.is_empty() {
            return;
        }
        let number = running[self.rng.below(running.len())];
        if let Some((queued, _)) = std::mem::take(&mut self.instances[number]).running {
            self.queue.put_back(queued, true_time().plus_seconds(VISIBILITY_S));
            self.killed.insert(true_time());
        }
    }
}
