//! A job of a registered type over in-memory services, and a handler that follows a script.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use longshore::chunk::{ChunkEnd, ChunkError, DefinitionCache, Mode, Worker, read_chain};
use longshore::handler::Registry;
use longshore::ports::{JobFolder, Ports};
use longshore::remote::{CallHandlers, Calling, NotCalled, RemoteCall, RemoteReply};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{
    Definition, FileInfo, Files, HandlerStates, JobProgress, JobStore, JobTransitions, Ledger, Queues,
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

/// Name of the job type.
pub(crate) const TYPE: &str = "mail";

/// Time of a call in milliseconds.
const CALL_MS: i64 = 200;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(1_000_000) };
}

pub(crate) fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Lets time pass.
pub(crate) fn pass(seconds: i64) {
    CLOCK.set(CLOCK.get() + seconds * 1_000);
}

/// A request as the handler received it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) at: Timestamp,
    /// Numbers of the items; empty for a ping.
    pub(crate) numbers: Vec<u64>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn is_ping(&self) -> bool {
        self.body["schema"] == "longshore.ping/1"
    }
}

type Behavior = dyn Fn(&Received) -> RemoteReply + Send + Sync;

/// A handler in memory.
pub(crate) struct Scripted {
    behavior: Box<Behavior>,
    pub(crate) received: Mutex<Vec<Received>>,
    /// Number of pings that fail, from now on.
    pub(crate) bad_pings: Mutex<u32>,
    /// Calls from now on: true for one that cannot be made.
    not_called: Mutex<VecDeque<bool>>,
}

impl Scripted {
    /// Answers `answer` to batches.
    pub(crate) fn new(behavior: impl Fn(&Received) -> RemoteReply + Send + Sync + 'static) -> Arc<Self> {
        let behavior = Box::new(behavior);
        let (received, bad_pings, not_called) = Default::default();
        Arc::new(Self { behavior, received, bad_pings, not_called })
    }

    /// The batches so far, as numbers of items.
    pub(crate) fn batches(&self) -> Vec<Vec<u64>> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|received| !received.is_ping()).map(|received| received.numbers.clone()).collect()
    }

    pub(crate) fn pings(&self) -> usize {
        self.received.lock().unwrap().iter().filter(|received| received.is_ping()).count()
    }

    /// Makes the next call impossible.
    pub(crate) fn fail_the_next_call(&self) {
        self.not_called.lock().unwrap().push_back(true);
    }

    /// Makes the call after the next one impossible.
    pub(crate) fn fail_after_the_next_call(&self) {
        self.not_called.lock().unwrap().extend([false, true]);
    }

    fn ping(&self, received: &Received) -> RemoteReply {
        let mut bad = self.bad_pings.lock().unwrap();
        if *bad > 0 {
            *bad -= 1;
            return RemoteReply::Http { status: 500, retry_after: None, body: Vec::new() };
        }
        let challenge = &received.body["challenge"];
        returned(&json!({ "schemas": ["longshore.items/1"], "challenge": challenge, "modes": ["run"] }))
    }
}

impl CallHandlers for Scripted {
    fn stack(&self) -> &str {
        "longshore-test"
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        if self.not_called.lock().unwrap().pop_front() == Some(true) {
            return Box::pin(ready(Err(NotCalled::new("the request cannot be signed", "no secret"))));
        }
        let body: Value = serde_json::from_slice(&call.body).unwrap();
        let items = body["items"].as_array().cloned().unwrap_or_default();
        let numbers = items.iter().map(|item| item["number"].as_u64().unwrap()).collect();
        let received = Received { at: clock(), numbers, body };
        assert!(call.deadline > clock() && !call.id.contains('.'));
        self.received.lock().unwrap().push(received.clone());
        CLOCK.set(CLOCK.get() + CALL_MS);
        let reply = if received.is_ping() { self.ping(&received) } else { (self.behavior)(&received) };
        Box::pin(ready(Ok(reply)))
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        CLOCK.set(CLOCK.get().max(until.0));
        Box::pin(ready(()))
    }
}

pub(crate) fn returned(answer: &Value) -> RemoteReply {
    RemoteReply::Returned { payload: answer.to_string().into_bytes() }
}

pub(crate) fn status(status: u16) -> RemoteReply {
    RemoteReply::Http { status, retry_after: None, body: b"Traceback: ann@example.com".to_vec() }
}

/// An answer that is `ok` for these items.
pub(crate) fn ok(received: &Received, numbers: impl IntoIterator<Item = u64>) -> RemoteReply {
    let job = received.body["job"]["id"].as_str().unwrap();
    let result = |n: u64| json!({ "key": format!("{job}-{n}"), "outcome": "ok", "output": { "n": n } });
    returned(&json!({ "results": numbers.into_iter().map(result).collect::<Vec<_>>() }))
}

/// An answer that is `ok` for all items.
pub(crate) fn all(received: &Received) -> RemoteReply {
    ok(received, received.numbers.clone())
}

/// A job of one or more chunks.
pub(crate) struct World {
    pub(crate) ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
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

impl World {
    /// Creates a job of `chunks` chunks of `items` items each, and sends their messages.
    pub(crate) async fn new(handler: &Arc<Scripted>, registration: Registration, chunks: u32, items: u32) -> Self {
        CLOCK.set(1_000_000);
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let rows: String = (1..=chunks * items).map(|n| format!("{{\"n\":{n:06}}}\n").replace(":0", ":1")).collect();
        files.put("k", rows.as_str());
        let FileInfo { size_bytes, etag } = files.info("k").await.unwrap().unwrap();
        let source =
            SourceFile { key: "k".into(), size_bytes, etag, format: Format::JsonLines, name: "f.jsonl".into() };
        let waiting = Job::waiting(JobId::generate(), TenantId::from_static("acme"), TYPE, clock());
        let job = Job { source: Some(source.into()), ..waiting };
        let activation = Activation { modes: vec![RequestMode::Run], at: clock() };
        let version = Version::generate(clock());
        let registration = Some(VersionedRegistration { version, registration, activation });
        let definition = Definition {
            registration,
            results: Some(ResultsForm::default()),
            ..Definition::new(json!({ "event": "launch" }))
        };
        store.create_job(&job, &definition, None).await.unwrap();
        store.begin(job.job_id, clock()).await.unwrap();
        let bytes = u64::from(items) * (rows.len() as u64 / u64::from(chunks * items));
        let plan = |chunk: u32| ChunkPlan {
            first: u64::from(chunk * items) + 1,
            items,
            start: u64::from(chunk) * bytes,
            end: u64::from(chunk + 1) * bytes,
            oversize: false,
            keys: None,
        };
        let plans: Vec<_> = (0..chunks).map(plan).collect();
        let manifest = Manifest { group: 0, chunks: plans.clone() };
        store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..size_bytes), clock()).await.unwrap();
        let messages: Vec<_> =
            (0..).zip(&plans).map(|(chunk, plan)| ChunkMessage::new(&job, ChunkId::new(0, chunk), plan)).collect();
        queues.send_chunks(&messages, 0).await.unwrap();
        let handlers: Arc<dyn CallHandlers> = Arc::clone(handler) as Arc<dyn CallHandlers>;
        let registry = Registry::default().with_handlers(handlers);
        Self {
            ports: Ports { store, queues, files },
            job,
            registry,
            definitions: DefinitionCache::default(),
            waiting: RefCell::default(),
        }
    }

    /// Delivers a message.
    pub(crate) async fn deliver(&self, message: &ChunkMessage) -> ChunkEnd {
        self.try_deliver(message).await.unwrap()
    }

    /// Delivers a message whose delivery can fail.
    pub(crate) async fn try_deliver(&self, message: &ChunkMessage) -> Result<ChunkEnd, ChunkError> {
        let worker = Worker {
            ports: &self.ports,
            registry: &self.registry,
            definitions: &self.definitions,
            retry_base_s: 0,
            clock,
        };
        worker.work(message, Mode::Work, clock().plus_seconds(280)).await
    }

    /// Delivers messages in turn, each when it is due, until none is left or `most` were delivered. Returns their ends.
    pub(crate) async fn run(&self, most: usize) -> Vec<ChunkEnd> {
        let mut ends = Vec::new();
        while ends.len() < most {
            let mut waiting = self.waiting.borrow_mut();
            let taken = self.ports.queues.take_chunks();
            waiting.extend(taken.into_iter().map(|sent| (clock().plus_seconds(sent.delay_s.into()), sent.message)));
            let next = waiting.iter().enumerate().min_by_key(|(at, (due, _))| (*due, *at)).map(|(at, _)| at);
            let Some((due, message)) = next.and_then(|at| waiting.remove(at)) else { break };
            drop(waiting);
            CLOCK.set(CLOCK.get().max(due.0));
            ends.push(self.deliver(&message).await);
        }
        ends
    }

    pub(crate) async fn counts(&self) -> Counts {
        let JobProgress { groups, .. } = self.ports.store.progress(self.job.job_id).await.unwrap().unwrap();
        let mut counts = Counts::default();
        groups.iter().for_each(|group| counts += group.counts);
        counts
    }

    /// Returns the ends of the items that have not succeeded, by number: the last one of each.
    pub(crate) async fn ends(&self) -> BTreeMap<u64, End> {
        let JobProgress { groups, .. } = self.ports.store.progress(self.job.job_id).await.unwrap().unwrap();
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
