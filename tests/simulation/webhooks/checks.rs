//! An endpoint whose URL is changed again and again while events come: each event arrives within minutes of the last
//! check that passes, although deliveries wait for hours for a check unless they are released.
//!
//! The functions are those that move events, that deliver them, and that check the endpoint. Each can be killed between
//! any two calls, and their clocks differ.

use longshore::events::move_events;
use longshore::ports::Ports;
use longshore::remote::NotCalled;
use longshore::webhooks::{CHECK_TYPE, CallEndpoints, Called, Deliverer, EndpointCall, replay};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{
    ConditionalWrite, Definition, DeliveriesFrom, DeliveriesQuery, JobStore, JobTransitions, Webhooks,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{AttemptResult, Delivery, DeliveryState, Endpoint, EndpointState};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

use crate::clock::{CLOCK, SKEW, clock, step, true_time};
use crate::faults::{self, Rates};
use crate::rng::Rng;
use crate::stepwise::Stepwise;
use crate::tasks::{Task, now, poll};
use crate::unguarded::Unguarded;

const START: Timestamp = Timestamp(1_782_896_400_000);
const TENANT: TenantId = TenantId::from_static("t");
/// Runs of the test.
const SEEDS: u64 = 3_000;
/// Events of a run.
const EVENTS: usize = 300;
/// Seconds until a function is killed.
const LIFE_S: i64 = 30;
/// Seconds within which everything arrives after the last change: visibility time-outs, and a sweep or two.
const PATIENCE_S: i64 = 900;

/// An endpoint that accepts everything, and answers each check.
struct Accepting;

impl CallEndpoints for Accepting {
    async fn call(&self, call: EndpointCall<'_>) -> Result<Called, NotCalled> {
        step().await;
        let message: Value = serde_json::from_str(call.body).unwrap();
        if message["type"] != CHECK_TYPE {
            assert_eq!(call.endpoint.state, EndpointState::Active, "it has passed no check");
        }
        let body = json!({ "challenge": message["data"]["challenge"] }).to_string().into_bytes();
        Ok(Called { result: AttemptResult::Answered { status: 200 }, retry_after_s: None, body })
    }
}

/// A function that is under way, with the message that it was started for: the message comes again unless it succeeds.
struct Running {
    task: Task<bool>,
    message: Option<WebhookMessage>,
    begun_at: Timestamp,
    skew_ms: i64,
}

struct Run {
    rng: Rng,
    memory: MemoryStore,
    sent: MemoryQueues,
    ports: Ports<Stepwise<Unguarded<MemoryStore>>, Stepwise<Unguarded<MemoryQueues>>, MemoryFiles>,
    /// Messages, with the times from which they are visible.
    queue: Vec<(WebhookMessage, Timestamp)>,
    running: Vec<Running>,
    jobs: Vec<JobId>,
    challenges: u32,
}

impl Run {
    fn new(seed: u64) -> Self {
        CLOCK.set(START.0);
        SKEW.set(0);
        faults::begin(Rng::from_seed(seed + 1), Rates { throttled: 20, reply_dropped: 20, sent_twice: 20, stale: 0 });
        let (memory, sent) = (MemoryStore::default(), MemoryQueues::default());
        let endpoint =
            Endpoint { state: EndpointState::Active, ..Endpoint::new(TENANT, "https://example.org/hooks", START) };
        assert_eq!(now(memory.put_endpoint(&endpoint, None)).unwrap(), ConditionalWrite::Stored);
        let (store, queues) = (Stepwise(Unguarded(memory.clone())), Stepwise(Unguarded(sent.clone())));
        let ports = Ports { store, queues, files: MemoryFiles::default() };
        let (queue, running, jobs) = Default::default();
        Self { rng: Rng::from_seed(seed), memory, sent, ports, queue, running, jobs, challenges: 0 }
    }

    fn endpoint(&self) -> Endpoint {
        now(self.memory.endpoints(&TENANT)).unwrap().remove(0)
    }

    /// Starts a job, and the function that moves its event.
    fn start_a_job(&mut self) {
        let mut job = Job::waiting(JobId::generate(), TENANT, "import", true_time());
        job.times.expires_at = i64::MAX;
        now(self.memory.create_job(&job, &Definition::new(json!({})), None)).unwrap();
        let _ = now(self.memory.begin(job.job_id, 0, true_time())).unwrap();
        self.jobs.push(job.job_id);
        let mover = self.mover(job.job_id);
        self.run(mover, None);
    }

    fn mover(&self, id: JobId) -> Task<bool> {
        let ports = self.ports.clone();
        Box::pin(async move {
            let Ok(Some(job)) = ports.store.job(id).await else { return false };
            move_events(&ports, &job, clock).await.is_ok()
        })
    }

    /// Sets another URL, which is checked.
    fn change_url(&mut self) {
        self.challenges += 1;
        let read = self.endpoint();
        let changed = read.clone().with_check(self.challenges.to_string(), true_time());
        let changed = Endpoint { state: EndpointState::Pending, ..changed };
        assert_eq!(now(self.memory.put_endpoint(&changed, Some(&read))).unwrap(), ConditionalWrite::Stored);
        let (check, endpoint_id) = (changed.check.unwrap(), changed.endpoint_id);
        let begins_at = check.begins_at();
        let message = WebhookMessage::Check { tenant: TENANT, endpoint_id, challenge: check.challenge };
        self.queue.push((message, begins_at));
    }

    fn function(&self, message: WebhookMessage) -> Task<bool> {
        let ports = self.ports.clone();
        Box::pin(async move {
            let Ports { store, queues, .. } = &ports;
            let deliverer = Deliverer { store, queues, calls: &Accepting, clock };
            let deadline = clock().plus_seconds(LIFE_S);
            match &message {
                WebhookMessage::Deliver { delivery } => deliverer.deliver(delivery, deadline).await.is_ok(),
                WebhookMessage::Check { tenant, endpoint_id, challenge } => {
                    deliverer.check(tenant, *endpoint_id, challenge, deadline).await.is_ok()
                }
                WebhookMessage::Replay { tenant, endpoint_id, after, requested_at, only_waiting } => {
                    let what = (*requested_at, *only_waiting);
                    replay(store, queues, (tenant, *endpoint_id), after, what, clock()).await.is_ok()
                }
            }
        })
    }

    fn run(&mut self, task: Task<bool>, message: Option<WebhookMessage>) {
        let skew_ms = self.rng.between(-5_000, 5_000);
        self.running.push(Running { task, message, begun_at: true_time(), skew_ms });
    }

    fn receive(&mut self) {
        let visible: Vec<_> = (0..self.queue.len()).filter(|at| self.queue[*at].1 <= true_time()).collect();
        if visible.is_empty() {
            return;
        }
        let (message, _) = self.queue.swap_remove(visible[self.rng.below(visible.len())]);
        let task = self.function(message.clone());
        self.run(task, Some(message));
    }

    /// Ends a function. Its message comes again if it has failed, or was killed.
    fn end(&mut self, at: usize, has_succeeded: bool) {
        let ended = self.running.swap_remove(at);
        let again = ended.message.filter(|_| !has_succeeded);
        self.queue.extend(again.map(|message| (message, true_time().plus_seconds(40))));
    }

    /// Runs a function for one step.
    fn poll(&mut self) {
        let at = self.rng.below(self.running.len());
        let running = &mut self.running[at];
        if true_time() > running.begun_at.plus_seconds(LIFE_S) {
            return self.end(at, false);
        }
        SKEW.set(running.skew_ms);
        let ended = poll(&mut running.task);
        SKEW.set(0);
        if let Some(has_succeeded) = ended {
            self.end(at, has_succeeded);
        }
    }

    fn take_sent(&mut self) {
        let sent = self.sent.take_webhooks().into_iter();
        self.queue.extend(sent.map(|sent| (sent.message, true_time().plus_seconds(i64::from(sent.delay_s)))));
    }

    fn event(&mut self) {
        self.take_sent();
        match self.rng.weighted(&[5, 3, 25, 120, 3, 12]) {
            0 => self.start_a_job(),
            1 => self.change_url(),
            2 if self.running.len() < 8 => self.receive(),
            3 if !self.running.is_empty() => self.poll(),
            // A function is killed.
            4 if !self.running.is_empty() => {
                let at = self.rng.below(self.running.len());
                self.end(at, false);
            }
            5 => CLOCK.set(CLOCK.get() + self.rng.between(0, 4_000)),
            _ => {}
        }
    }

    /// Runs without faults, and with sweeps. The functions that are under way end.
    fn settle(&mut self) {
        faults::clear();
        let end = true_time().plus_seconds(PATIENCE_S);
        let mut swept_at = true_time();
        while true_time() < end {
            self.take_sent();
            self.receive();
            while !self.running.is_empty() {
                self.poll();
            }
            if true_time() >= swept_at.plus_seconds(60) {
                swept_at = true_time();
                for id in self.jobs.clone() {
                    now(self.mover(id));
                }
                let overdue = now(self.memory.due_deliveries(true_time().plus_seconds(-60), 100)).unwrap();
                let messages = overdue.into_iter().map(|delivery| WebhookMessage::Deliver { delivery });
                self.queue.extend(messages.map(|message| (message, true_time())));
            }
            CLOCK.set(CLOCK.get() + 1_000);
        }
    }

    fn deliveries(&self) -> Vec<Delivery> {
        let endpoint_id = self.endpoint().endpoint_id;
        let query =
            DeliveriesQuery { tenant: &TENANT, endpoint_id, from: DeliveriesFrom::Before(None), limit: 100_000 };
        now(self.memory.deliveries_of(&query)).unwrap()
    }
}

#[test]
fn no_delivery_waits_for_hours_once_a_check_has_passed() {
    let mut events = 0;
    for seed in 0..SEEDS {
        let mut run = Run::new(seed);
        for _ in 0..EVENTS {
            run.event();
        }
        run.settle();
        assert_eq!(run.endpoint().state, EndpointState::Active, "seed {seed}: {:?}", run.queue);
        let deliveries = run.deliveries();
        assert_eq!(deliveries.len(), run.jobs.len(), "seed {seed}");
        let waiting: Vec<_> = deliveries.iter().filter(|delivery| delivery.due().is_some()).collect();
        assert!(waiting.is_empty(), "seed {seed}: {waiting:?}");
        assert!(deliveries.iter().all(|delivery| matches!(delivery.state, DeliveryState::Delivered { .. })));
        events += deliveries.len();
    }
    assert!(events > 10_000, "{events}");
}

/// The worker of a delivery stops at each of its steps while the check passes, and the release ends.
#[test]
fn a_delivery_whose_worker_is_slow_while_a_check_passes_is_sent() {
    let mut ends_late = 0;
    for steps in 0..30 {
        let mut run = Run::new(0);
        faults::clear();
        run.change_url();
        let (check, _) = run.queue.remove(0);
        run.start_a_job();
        assert!(now(run.running.remove(0).task));
        run.take_sent();
        let [(delivery, _)] = std::mem::take(&mut run.queue).try_into().unwrap();
        let mut worker = run.function(delivery);
        let has_ended = (0..steps).any(|_| poll(&mut worker).is_some());
        assert!(now(run.function(check)));
        let handle_sent = || {
            CLOCK.set(CLOCK.get() + 6_000);
            for sent in run.sent.take_webhooks() {
                assert!(now(run.function(sent.message)));
            }
        };
        handle_sent();
        handle_sent();
        ends_late += usize::from(!has_ended);
        assert!(has_ended || now(worker));
        handle_sent();
        let state = run.deliveries()[0].state;
        assert!(matches!(state, DeliveryState::Delivered { .. }), "after {steps} steps: {state:?}");
    }
    assert!(ends_late > 5, "{ends_late}");
}
