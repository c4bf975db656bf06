//! Job types and jobs of a deployment. The real splitter cuts the jobs into chunks.

use create_job::Splitter;
use futures::FutureExt;
use longshore::batch::Delivery;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, Queues};
use longshore_domain::records::Format;
use longshore_domain::registration::{Activation, Registration, Target, TypeName, Version, VersionedRegistration};
use longshore_domain::remote::Mode;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::json;

use super::endpoint::CallTime;
use crate::clock::clock;

/// A registered type.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Type {
    pub(super) name: &'static str,
    pub(super) per_second: Option<f64>,
    pub(super) batch: u32,
    pub(super) concurrency: u32,
    pub(super) timeout_s: u32,
    pub(super) call_time: CallTime,
}

/// A job to create.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct NewJob {
    pub(super) job_type: &'static str,
    pub(super) tenant: &'static str,
    pub(super) items: u32,
    pub(super) at: Timestamp,
}

impl Type {
    fn registration(&self) -> VersionedRegistration {
        let name = TypeName::parse(self.name).expect("a valid name");
        let mut registration = Registration::new(name, Target::Url("https://handler.example.org/".into()));
        registration.batch.items = self.batch;
        registration.batch.timeout_seconds = self.timeout_s;
        registration.concurrency = self.concurrency;
        registration.items_per_second = self.per_second;
        let activation = Activation { modes: vec![Mode::Run], at: Timestamp(0) };
        VersionedRegistration { version: Version::stored("1-a"), registration, activation }
    }
}

/// Creates a job of the type, splits it, and sends the messages of its chunks.
pub(super) fn create(ports: &Ports<MemoryStore, MemoryQueues, MemoryFiles>, job_type: &Type, new: NewJob) {
    let id = JobId::generate();
    let key = format!("uploads/{id}");
    let rows: String = (0..new.items).map(|n| format!("{{\"n\":{}}}\n", 1_000_000 + n)).collect();
    ports.files.put(&key, rows);
    let info = now(ports.files.info(&key)).unwrap().expect("the file exists");
    let source = SourceFile::new(key, info, Format::JsonLines, "file.jsonl");
    let waiting = Job::waiting(id, TenantId::from_static(new.tenant), job_type.name, clock());
    let job = Job { source: Some(source.into()), is_registered: true, ..waiting };
    let definition = Definition { registration: Some(job_type.registration()), ..Definition::new(json!({})) };
    now(ports.store.create_job(&job, &definition, None)).unwrap();
    now(ports.queues.send_create(&CreateMessage::new(&job))).unwrap();
    let registry = Registry::default();
    let splitter = Splitter { ports, registry: &registry, clock };
    for create in std::iter::from_fn(|| ports.queues.take_creates().pop()) {
        let delivery = Delivery { deadline: Timestamp(i64::MAX), failures: 0, sent_at: None };
        now(splitter.deliver(&create, delivery)).expect("the file can be split");
    }
    let job = now(ports.store.job(id)).unwrap().expect("the job exists");
    assert_eq!((job.split.ended, job.split.item_count), (true, u64::from(new.items)));
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("calls of in-memory services never wait")
}
