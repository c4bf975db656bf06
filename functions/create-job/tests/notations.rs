//! The notations of a file: detected in its first rows by the first splitter, stored with the columns, and never
//! detected again.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use create_job::{SplitEnd, Splitter};
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile, Status};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, PortResult, Read};
use longshore_domain::records::{Format, Reading};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, delegate_files};
use serde_json::{Value, json};

const KEY: &str = "uploads/default/file";

/// Files. Another splitter, which has other code, stores the columns of this job before the file is opened.
#[derive(Clone)]
struct Overtaken {
    inner: MemoryFiles,
    store: MemoryStore,
    job: Option<JobId>,
}

impl Files for Overtaken {
    type Stream = <MemoryFiles as Files>::Stream;

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<Self::Stream>> {
        if let Some(job) = self.job {
            self.store.put_columns(job, &columns(), Some(Reading::default()), None).await?;
        }
        self.inner.open(key, etag, start, end).await
    }

    delegate_files!(inner: info read write remove remove_some);
}

fn columns() -> Vec<String> {
    ["id", "price"].map(str::to_owned).to_vec()
}

struct World {
    ports: Ports<MemoryStore, MemoryQueues, Overtaken>,
    job: Job,
}

impl World {
    async fn new(file: &str) -> Self {
        let (store, inner) = (MemoryStore::default(), MemoryFiles::default());
        inner.put(KEY, file);
        let info = inner.info(KEY).await.unwrap().unwrap();
        let source = SourceFile::new(KEY, info, Format::Csv, "file.csv");
        let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(0));
        let job = Job { source: Some(source.into()), ..job };
        store.create_job(&job, &Definition::new(options()), None).await.unwrap();
        let files = Overtaken { inner, store: store.clone(), job: None };
        Self { ports: Ports { store, queues: MemoryQueues::default(), files }, job }
    }

    async fn split(&self) -> SplitEnd {
        let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
        let splitter = Splitter { ports: &self.ports, registry: &registry, clock: || Timestamp(1) };
        splitter.split(&CreateMessage::new(&self.job), Timestamp(i64::MAX)).await.unwrap()
    }

    async fn job(&self) -> Job {
        self.ports.store.job(self.job.job_id).await.unwrap().unwrap()
    }

    async fn definition(&self) -> Definition {
        self.ports.store.definition(self.job.job_id).await.unwrap().unwrap()
    }
}

fn options() -> Value {
    let schema = json!({ "properties": { "id": {}, "price": { "type": "number" } } });
    json!({ "dataset": "d", "key": "id", "schema": schema, "notations": { "other": { "dateOrder": "dmy" } } })
}

#[tokio::test]
async fn detected_notations_are_stored_in_the_options() {
    let world = World::new("id,price\n1,\"1.234,5\"\n").await;
    assert_eq!(world.split().await, SplitEnd::Ended);
    let stored = world.definition().await;
    let notations = json!({ "other": { "dateOrder": "dmy" }, "price": { "decimalSeparator": "," } });
    assert_eq!(stored.options["notations"], notations);
    assert_eq!(stored.options["schema"], options()["schema"]);
    assert_eq!(stored.detected, Some(json!({ "notations": { "price": { "decimalSeparator": "," } } })));
    let codes: Vec<_> = world.job().await.issues.into_iter().map(|issue| issue.code).collect();
    assert_eq!(codes, ["mapped_property_missing", "notations_found"]);
}

#[tokio::test]
async fn a_file_with_two_readings_fails_the_job_before_its_first_row() {
    let world = World::new("id,price\n1,1.234\n").await;
    assert_eq!(world.split().await, SplitEnd::Failed);
    let job = world.job().await;
    let error = job.stop.and_then(|stop| stop.error);
    assert_eq!(error.map(|error| error.code).as_deref(), Some("ambiguous_column"));
    assert_eq!((job.split.groups, world.definition().await.columns), (0, None));
}

#[tokio::test]
async fn nothing_is_detected_in_a_file_whose_columns_are_stored() {
    let world = World::new("id,price\n1,1.234\n").await;
    let (store, id) = (&world.ports.store, world.job.job_id);
    store.put_columns(id, &columns(), Some(Reading::default()), None).await.unwrap();
    assert_eq!(world.split().await, SplitEnd::Ended);
    assert_eq!(world.definition().await.options, options());
}

#[tokio::test]
async fn a_splitter_does_not_fail_a_job_that_another_one_has_begun() {
    let mut world = World::new("id,price\n1,1.234\n").await;
    world.ports.files.job = Some(world.job.job_id);
    assert_eq!(world.split().await, SplitEnd::Ended);
    assert_eq!((world.job().await.status, world.definition().await.options), (Status::Running, options()));
}
