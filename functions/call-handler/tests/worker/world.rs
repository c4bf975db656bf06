//! A job of a registered type over in-memory services.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use longshore::batch::Delivery;
use longshore::chunk::{ChunkEnd, ChunkError, DefinitionCache, DeliveryRecorder, Mode, Worker, read_chain};
use longshore::handler::Registry;
use longshore::pause_cache::PauseCache;
use longshore::ports::{JobFolder, Ports};
use longshore::remote::CallHandlers;
use longshore_domain::cost::NanoDollars;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile, Tolerance};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{
    Definition, Files, HandlerStates, JobProgress, JobStore, JobTransitions, Ledger, Queues,
};
use longshore_domain::records::Format;
use longshore_domain::registration::{Activation, Registration, Target, TypeName, Version, VersionedRegistration};
use longshore_domain::remote::{Breaker, Mode as RequestMode};
use longshore_domain::results::ResultsForm;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::End;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

use crate::scripted::Scripted;

/// Name of the job type.
pub(crate) const TYPE: &str = "mail";

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(1_000_000) };
}

pub(crate) fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Lets time pass.
pub(crate) fn pass(seconds: i64) {
    pass_ms(seconds * 1_000);
}

/// Lets milliseconds pass.
pub(crate) fn pass_ms(millis: i64) {
    CLOCK.set(CLOCK.get() + millis);
}

/// Lets time pass until then.
pub(crate) fn pass_until(then: Timestamp) {
    CLOCK.set(CLOCK.get().max(then.0));
}

type TestPorts = Ports<MemoryStore, MemoryQueues, MemoryFiles>;

/// The chunks and the maximum cost of a job.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) chunks: u32,
    /// Items of each chunk.
    pub(crate) items: u32,
    pub(crate) max_cost: Option<NanoDollars>,
}

/// A job of one or more chunks.
pub(crate) struct World {
    pub(crate) ports: TestPorts,
    pub(crate) job: Job,
    registry: Registry,
    definitions: DefinitionCache,
    /// Messages that were not delivered yet, each with its time.
    waiting: RefCell<VecDeque<(Timestamp, ChunkMessage)>>,
}

/// Returns the registration of the type, with batches of 8 items.
pub(crate) fn registration() -> Registration {
    let name = TypeName::parse(TYPE).unwrap();
    let mut registration = Registration::new(name, Target::Url("https://mail.example.org/items".into()));
    registration.batch.items = 8;
    registration.output_schema = Some(json!({}));
    registration.tries = 2;
    registration
}

impl Plan {
    fn rows(self) -> String {
        (1..=self.chunks * self.items).map(|n| format!("{{\"n\":{n:06}}}\n").replace(":0", ":1")).collect()
    }

    /// Returns the chunks of a file of this many bytes.
    fn plans(self, size_bytes: u64) -> Vec<ChunkPlan> {
        let bytes = size_bytes / u64::from(self.chunks);
        let plan = |chunk: u32| ChunkPlan {
            first: u64::from(chunk * self.items) + 1,
            items: self.items,
            start: u64::from(chunk) * bytes,
            end: u64::from(chunk + 1) * bytes,
            oversize: false,
            keys: None,
        };
        (0..self.chunks).map(plan).collect()
    }
}

/// Creates a running job, and sends the messages of its chunks.
async fn start_job(ports: &TestPorts, tenant: &'static str, registration: Registration, plan: Plan) -> Job {
    let Ports { store, queues, files } = ports;
    files.put(tenant, plan.rows().as_str());
    let info = files.info(tenant).await.unwrap().unwrap();
    let size_bytes = info.size_bytes;
    let source = SourceFile::new(tenant, info, Format::JsonLines, "f.jsonl");
    let waiting = Job::waiting(JobId::generate(), TenantId::from_static(tenant), TYPE, clock());
    let tolerance = Tolerance { max_cost: plan.max_cost, ..Tolerance::default() };
    let job = Job { source: Some(source.into()), is_registered: true, tolerance, ..waiting };
    let activation = Activation { modes: vec![RequestMode::Run], at: clock() };
    let version = Version::generate(clock());
    let registration = Some(VersionedRegistration { version, registration, activation });
    let definition = Definition {
        registration,
        results: Some(ResultsForm::default()),
        ..Definition::new(json!({ "event": "launch" }))
    };
    store.create_job(&job, &definition, None).await.unwrap();
    store.begin(job.job_id, 0, clock()).await.unwrap();
    let plans = plan.plans(size_bytes);
    let manifest = Manifest { group: 0, chunks: plans.clone() };
    store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..size_bytes), clock()).await.unwrap();
    let messages: Vec<_> =
        (0..).zip(&plans).map(|(chunk, plan)| ChunkMessage::new(&job, ChunkId::new(0, chunk), plan)).collect();
    queues.send_chunks(&messages, 0).await.unwrap();
    job
}

impl World {
    /// Creates a job of `chunks` chunks of `items` items each, and sends their messages.
    pub(crate) async fn new(handler: &Arc<Scripted>, registration: Registration, chunks: u32, items: u32) -> Self {
        Self::from_plan(handler, registration, Plan { chunks, items, ..Plan::default() }).await
    }

    /// Creates a job, and sends the messages of its chunks.
    pub(crate) async fn from_plan(handler: &Arc<Scripted>, registration: Registration, plan: Plan) -> Self {
        CLOCK.set(1_000_000);
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store, queues, files };
        let job = start_job(&ports, "acme", registration, plan).await;
        let handlers: Arc<dyn CallHandlers> = Arc::clone(handler) as Arc<dyn CallHandlers>;
        let registry = Registry::default().with_handlers(handlers);
        Self { ports, job, registry, definitions: DefinitionCache::default(), waiting: RefCell::default() }
    }

    /// Creates another tenant's job of one chunk of one item, and sends its message.
    pub(crate) async fn start_job_of(&self, tenant: &'static str, registration: Registration) {
        start_job(&self.ports, tenant, registration, Plan { chunks: 1, items: 1, max_cost: None }).await;
    }

    /// Delivers a message.
    pub(crate) async fn deliver(&self, message: &ChunkMessage) -> ChunkEnd {
        self.try_deliver(message).await.unwrap()
    }

    /// Delivers a message whose delivery can fail.
    pub(crate) async fn try_deliver(&self, message: &ChunkMessage) -> Result<ChunkEnd, ChunkError> {
        self.worker(&PauseCache::default()).work(message, Mode::Work, clock().plus_seconds(280)).await
    }

    /// Delivers a message again after so many deliveries that have failed.
    pub(crate) async fn deliver_again(&self, message: ChunkMessage, failures: u32) -> ChunkEnd {
        let delivery = Delivery { deadline: clock().plus_seconds(280), failures, sent_at: None };
        self.worker(&PauseCache::default()).deliver(&DeliveryRecorder::default(), message, delivery).await.unwrap()
    }

    fn worker<'a>(&'a self, pauses: &'a PauseCache) -> Worker<'a, MemoryStore, MemoryQueues, MemoryFiles> {
        Worker {
            ports: &self.ports,
            registry: &self.registry,
            definitions: &self.definitions,
            pauses,
            retry_base_s: 0,
            clock,
            meter: Default::default(),
        }
    }

    /// Delivers messages in turn, each when it is due, until none is left or `most` were delivered. Returns their ends.
    pub(crate) async fn run(&self, most: usize) -> Vec<ChunkEnd> {
        let mut ends = Vec::new();
        while ends.len() < most {
            let Some(message) = self.next_message() else { break };
            ends.push(self.deliver(&message).await);
        }
        ends
    }

    /// Keeps the messages that were sent, each until it is due.
    pub(crate) fn collect(&self) {
        let taken = self.ports.queues.take_chunks().into_iter();
        let with_due = taken.map(|sent| (clock().plus_seconds(sent.delay_s.into()), sent.message));
        self.waiting.borrow_mut().extend(with_due);
    }

    /// Sends a message that is due now.
    pub(crate) fn send(&self, message: ChunkMessage) {
        self.waiting.borrow_mut().push_back((clock(), message));
    }

    /// Takes the message that is due next, and lets time pass until then.
    pub(crate) fn next_message(&self) -> Option<ChunkMessage> {
        self.collect();
        let mut waiting = self.waiting.borrow_mut();
        let (next, _) = waiting.iter().enumerate().min_by_key(|(at, (due, _))| (*due, *at))?;
        let (due, message) = waiting.remove(next)?;
        pass_until(due);
        Some(message)
    }

    pub(crate) async fn progress(&self) -> JobProgress {
        self.ports.store.progress(self.job.job_id).await.unwrap().unwrap()
    }

    pub(crate) async fn counts(&self) -> Counts {
        let JobProgress { groups, .. } = self.progress().await;
        let mut counts = Counts::default();
        groups.iter().for_each(|group| counts += group.counts);
        counts
    }

    /// Returns the ends of the items that have not succeeded, by number: the last one of each.
    pub(crate) async fn ends(&self) -> BTreeMap<u64, End> {
        let JobProgress { groups, .. } = self.progress().await;
        let mut ends = BTreeMap::new();
        for (chunk, cursor) in &groups[0].cursors {
            let folder = JobFolder::for_job(&self.job).chunk(ChunkId::new(0, *chunk));
            let chain = read_chain(&self.ports.files, folder, cursor.file.as_deref(), 0).await.unwrap();
            for entry in chain.into_iter().flat_map(|file| file.entries) {
                // An item that has ended has no later entry.
                let is_over = |end: &End| !matches!(end, End::Transient { .. });
                if !ends.get(&entry.n).is_some_and(is_over) {
                    ends.insert(entry.n, entry.end);
                }
            }
        }
        ends
    }

    /// Returns the codes of the failed items, by number.
    pub(crate) async fn codes(&self) -> BTreeMap<u64, String> {
        let failed = self.ends().await.into_iter().filter_map(|(n, end)| match end {
            End::Failed(rejection) => Some((n, rejection.code)),
            _ => None,
        });
        failed.collect()
    }

    /// Returns the rows of the results, in the order of the commits.
    pub(crate) fn outputs(&self) -> Vec<Value> {
        let files = &self.ports.files;
        let keys = files.keys().into_iter().filter(|key| key.ends_with(".out.jsonl"));
        let lines: Vec<u8> = keys.flat_map(|key| files.get(&key).unwrap()).collect();
        String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) async fn breaker(&self) -> Breaker {
        self.ports.store.handler_state(TYPE).await.unwrap().state.breaker
    }
}
