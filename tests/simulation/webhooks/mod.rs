//! Events of three tenants, delivered in random order to an endpoint that fails often, one that accepts everything, and one
//! that is dead: each event arrives at least once under one id at the first two, the list agrees, and a replay sends what
//! was given up.
//!
//! The functions are those that move events and that deliver them. Each can be killed between any two calls; messages are
//! lost, come twice, or late.

mod checks;
mod receivers;
mod verify;

use longshore::events::move_events;
use longshore::ports::Ports;
use longshore::webhooks::{Deliverer, replay};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, Status};
use longshore_domain::message::WebhookMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{ConditionalWrite, Definition, JobStore, JobTransitions, TenantLimits, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{DeliveryId, Endpoint, EndpointState};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::json;

use self::receivers::{Receivers, TENANTS};
use crate::clock::{CLOCK, clock, true_time};
use crate::faults::{self, Rates};
use crate::rng::Rng;
use crate::stepwise::Stepwise;
use crate::tasks::{Task, now, poll};
use crate::unguarded::Unguarded;

const START: Timestamp = Timestamp(1_782_896_400_000);

/// A message of the queue.
struct Queued {
    message: WebhookMessage,
    visible_at: Timestamp,
    receives: u32,
}

type Store = Stepwise<Unguarded<MemoryStore>>;
type Queues = Stepwise<Unguarded<MemoryQueues>>;

/// A running function, with its message, which comes again unless it succeeds.
struct Running {
    task: Task<bool>,
    message: Option<Queued>,
}

struct Run {
    rng: Rng,
    memory: MemoryStore,
    sent: MemoryQueues,
    ports: Ports<Store, Queues, MemoryFiles>,
    receivers: Receivers,
    queue: Vec<Queued>,
    running: Vec<Running>,
    jobs: Vec<JobId>,
}

fn endpoint(tenant: &'static str) -> Endpoint {
    let tenant = TenantId::from_static(tenant);
    Endpoint { state: EndpointState::Active, ..Endpoint::new(tenant, "https://example.org/hooks", START) }
}

impl Run {
    fn new(seed: u64) -> Self {
        CLOCK.set(START.0);
        let rates = Rates { throttled: 20, reply_dropped: 20, sent_twice: 20, stale: 0 };
        faults::begin(Rng::from_seed(seed + 1), rates);
        let limits = TenantLimits { webhook_calls: 20, ..TenantLimits::default() };
        let (memory, sent) = (MemoryStore::default().with_limits(limits), MemoryQueues::default());
        for (tenant, _) in TENANTS {
            let write = now(memory.put_endpoint(&endpoint(tenant), None)).unwrap();
            assert_eq!(write, ConditionalWrite::Stored);
        }
        let (store, queues) = (Stepwise(Unguarded(memory.clone())), Stepwise(Unguarded(sent.clone())));
        let ports = Ports { store, queues, files: MemoryFiles::default() };
        let (receivers, rng) = (Receivers::default(), Rng::from_seed(seed));
        let (queue, running, jobs) = Default::default();
        Self { rng, memory, sent, ports, receivers, queue, running, jobs }
    }

    /// Starts or ends a job, whose event is pending then.
    fn change_a_job(&mut self) {
        if self.jobs.is_empty() || self.rng.often(500) {
            let tenant = TENANTS[self.rng.below(TENANTS.len())].0;
            let mut job = Job::waiting(JobId::generate(), TenantId::from_static(tenant), "import", true_time());
            job.times.expires_at = i64::MAX;
            now(self.memory.create_job(&job, &Definition::new(json!({})), None)).unwrap();
            let _ = now(self.memory.begin(job.job_id, 0, true_time())).unwrap();
            self.jobs.push(job.job_id);
            return;
        }
        let id = self.jobs[self.rng.below(self.jobs.len())];
        let finish = Finish::new(Status::Completed, Counts::default(), true_time());
        let _ = now(self.memory.finish(id, &finish)).unwrap();
    }

    /// Moves the events of a job, as the function that changed it does, or the sweeper.
    fn mover(&self, id: JobId) -> Task<bool> {
        let ports = self.ports.clone();
        Box::pin(async move {
            match ports.store.job(id).await {
                Ok(Some(job)) => move_events(&ports, &job, clock).await.is_ok(),
                Ok(None) | Err(_) => false,
            }
        })
    }

    fn deliverer(&self, message: &WebhookMessage) -> Task<bool> {
        let (ports, receivers, message) = (self.ports.clone(), self.receivers.clone(), message.clone());
        Box::pin(async move {
            let Ports { store, queues, .. } = &ports;
            match &message {
                WebhookMessage::Deliver { delivery } => {
                    let deliverer = Deliverer { store, queues, calls: &receivers, clock };
                    deliverer.deliver(delivery, clock().plus_seconds(26)).await.is_ok()
                }
                WebhookMessage::Replay { tenant, endpoint_id, after, requested_at, only_waiting } => {
                    let what = (*requested_at, *only_waiting);
                    replay(store, queues, (tenant, *endpoint_id), after, what, clock()).await.is_ok()
                }
                WebhookMessage::Check { .. } => true,
            }
        })
    }

    /// Sends messages for overdue deliveries, as the sweeper does.
    fn sweep(&mut self) {
        let overdue = now(self.memory.due_deliveries(true_time().plus_seconds(-60), 100)).unwrap();
        for delivery in overdue {
            self.queue_up(WebhookMessage::Deliver { delivery }, 0);
        }
    }

    fn queue_up(&mut self, message: WebhookMessage, delay_s: i32) {
        let visible_at = true_time().plus_seconds(i64::from(delay_s));
        self.queue.push(Queued { message, visible_at, receives: 0 });
    }

    fn collect(&mut self) {
        for sent in self.sent.take_webhooks() {
            match self.rng.below(100) {
                // A message is lost, or comes twice.
                0..4 => {}
                4..8 => {
                    self.queue_up(sent.message.clone(), sent.delay_s);
                    self.queue_up(sent.message, sent.delay_s);
                }
                _ => self.queue_up(sent.message, sent.delay_s),
            }
        }
    }

    /// Receives a visible message. It comes again after half a minute, five times at most.
    fn receive(&mut self) {
        let visible: Vec<_> = (0..self.queue.len()).filter(|at| self.queue[*at].visible_at <= true_time()).collect();
        if visible.is_empty() {
            return;
        }
        let message = self.queue.swap_remove(visible[self.rng.below(visible.len())]);
        self.running.push(Running { task: self.deliverer(&message.message), message: Some(message) });
    }

    fn give_back(&mut self, message: Option<Queued>) {
        let again = message.map(|queued| Queued {
            visible_at: true_time().plus_seconds(30),
            receives: queued.receives + 1,
            ..queued
        });
        self.queue.extend(again.filter(|queued| queued.receives < 5));
    }

    fn event(&mut self) {
        self.collect();
        match self.rng.weighted(&[6, 6, 25, 100, 3, 15, 3, 1]) {
            0 => self.change_a_job(),
            1 if !self.jobs.is_empty() => {
                let id = self.jobs[self.rng.below(self.jobs.len())];
                self.running.push(Running { task: self.mover(id), message: None });
            }
            2 if self.running.len() < 8 => self.receive(),
            3 if !self.running.is_empty() => {
                let at = self.rng.below(self.running.len());
                if let Some(has_succeeded) = poll(&mut self.running[at].task) {
                    let ended = self.running.swap_remove(at);
                    self.give_back(ended.message.filter(|_| !has_succeeded));
                }
            }
            // A function is killed.
            4 if !self.running.is_empty() => {
                let at = self.rng.below(self.running.len());
                let killed = self.running.swap_remove(at);
                self.give_back(killed.message);
            }
            5 => CLOCK.set(CLOCK.get() + self.rng.between(0, 20_000)),
            6 => self.sweep(),
            7 => self.replay(),
            _ => {}
        }
    }

    /// A client of the flaky endpoint replays everything.
    fn replay(&mut self) {
        let tenant = TenantId::from_static(TENANTS[0].0);
        let endpoint_id = now(self.memory.endpoints(&tenant)).unwrap()[0].endpoint_id;
        let (after, requested_at) = (DeliveryId::before(START), true_time());
        self.queue_up(WebhookMessage::Replay { tenant, endpoint_id, after, requested_at, only_waiting: false }, 0);
    }
}
