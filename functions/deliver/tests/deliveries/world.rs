//! The function over the store in memory, with an endpoint that answers as a test tells it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use deliver::Deliver;
use longshore::batch::{Delivery as Received, MessageHandler};
use longshore::events::move_events;
use longshore::ports::Ports;
use longshore::remote::NotCalled;
use longshore::webhooks::{CallEndpoints, Called, EndpointCall, failed_call};
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{
    ConditionalWrite, Definition, DeliveriesFrom, DeliveriesQuery, JobStore, JobTransitions, Webhooks,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{AttemptResult, Delivery, Endpoint, EndpointState};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore, SentWebhook};
use serde_json::{Value, json};

pub(crate) const START: Timestamp = Timestamp(1_782_896_400_000);
pub(crate) const TENANT: TenantId = TenantId::from_static("t");

thread_local! {
    /// Seconds since the start. Each test has a thread.
    static SECONDS: AtomicI64 = const { AtomicI64::new(0) };
}

pub(crate) fn now() -> Timestamp {
    START.plus_seconds(SECONDS.with(|seconds| seconds.load(Ordering::Relaxed)))
}

pub(crate) fn at(seconds: i64) {
    SECONDS.with(|now| now.store(seconds, Ordering::Relaxed));
}

/// An endpoint that gives the next of these statuses, and then the last one again. 0 is no answer. It answers each check.
#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) statuses: Mutex<Vec<u16>>,
    pub(crate) calls: Mutex<Vec<(String, Value)>>,
}

impl CallEndpoints for Scripted {
    async fn call(&self, call: EndpointCall<'_>) -> Result<Called, NotCalled> {
        let body: Value = serde_json::from_str(call.body).unwrap();
        self.calls.lock().unwrap().push((call.id.to_owned(), body.clone()));
        assert!(call.deadline >= now().plus_seconds(15));
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let mut statuses = self.statuses.lock().unwrap();
        let status = if statuses.len() > 1 { statuses.remove(0) } else { statuses[0] };
        if status == 0 {
            return Ok(failed_call("timed_out"));
        }
        let body = json!({ "challenge": body["data"]["challenge"] }).to_string().into_bytes();
        Ok(Called { result: AttemptResult::Answered { status }, retry_after_s: None, body })
    }
}

pub(crate) struct World {
    pub(crate) function: Deliver<MemoryStore, MemoryQueues, Scripted>,
    pub(crate) endpoint: Endpoint,
}

impl World {
    pub(crate) async fn new(statuses: &[u16], state: EndpointState) -> Self {
        at(0);
        let endpoint = Endpoint { state, ..Endpoint::new(TENANT, "https://example.org/hooks", START) };
        let calls = Scripted { statuses: Mutex::new(statuses.to_vec()), calls: Mutex::default() };
        let (store, queues) = (MemoryStore::default(), MemoryQueues::default());
        assert_eq!(store.put_endpoint(&endpoint, None).await.unwrap(), ConditionalWrite::Stored);
        Self { function: Deliver { store, queues, calls, clock: now }, endpoint }
    }

    /// Starts a job, and moves its event.
    pub(crate) async fn event(&self) {
        let Deliver { store, queues, .. } = &self.function;
        let mut job = Job::waiting(JobId::generate(), TENANT, "import", now());
        job.times.expires_at = i64::MAX;
        store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
        store.begin(job.job_id, 0, now()).await.unwrap();
        let job = store.job(job.job_id).await.unwrap().unwrap();
        let ports = Ports { store: store.clone(), queues: queues.clone(), files: MemoryFiles::default() };
        move_events(&ports, &job, now).await.unwrap();
    }

    pub(crate) fn sent(&self) -> Vec<SentWebhook> {
        self.function.queues.take_webhooks()
    }

    pub(crate) async fn handle(&self, message: &WebhookMessage) -> Result<String, String> {
        let delivery = Received { deadline: now().plus_seconds(26), failures: 0, sent_at: None };
        self.function.handle(message.clone(), delivery).await.map_err(|error| error.to_string())
    }

    pub(crate) async fn only_message(&self) -> WebhookMessage {
        let [sent] = self.sent().try_into().unwrap();
        sent.message
    }

    pub(crate) async fn deliveries(&self) -> Vec<Delivery> {
        let (endpoint_id, from) = (self.endpoint.endpoint_id, DeliveriesFrom::Before(None));
        let query = DeliveriesQuery { tenant: &TENANT, endpoint_id, from, limit: 1_000 };
        self.function.store.deliveries_of(&query).await.unwrap()
    }

    pub(crate) async fn stored(&self) -> Endpoint {
        self.function.store.endpoints(&TENANT).await.unwrap().remove(0)
    }

    pub(crate) async fn change(&self, change: impl FnOnce(&mut Endpoint)) -> Endpoint {
        let read = self.stored().await;
        let changed = read.clone().changed(change);
        assert_eq!(self.function.store.put_endpoint(&changed, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
        changed
    }

    pub(crate) fn calls(&self) -> usize {
        self.function.calls.calls.lock().unwrap().len()
    }
}
