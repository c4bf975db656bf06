//! Audits whose files cannot be read in one stream: they are resumed or refused temporarily, and never wrong.

use longshore_domain::ports::DownloadUrls;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, Backend, router};
use longshore::ports::Ports;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::ports::{FileInfo, FileStream, Files, PortError, PortResult, PrefixRemoval, Read};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, MemoryStream};

use crate::world::{InMemory, NOW, Reply, World, folder};

/// Fault of a stream after its first block.
#[derive(Copy, Clone, Debug)]
enum Fault {
    Breaks,
    EndsEarly,
    IsReplaced,
    IsRefused,
    IsRemoved,
}

/// Files whose streams fail a given number of times in total.
#[derive(Clone)]
struct Faulty {
    inner: MemoryFiles,
    fault: Fault,
    left: Arc<AtomicU32>,
    store: MemoryStore,
    job: JobId,
}

/// More faults than a file has blocks: streams then fail before their first block.
const ALWAYS: u32 = u32::MAX;

impl Faulty {
    fn is_due(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

fn read_error() -> PortError {
    PortError { service: "files", operation: "read", source: "the stream was interrupted".into() }
}

struct FaultyStream {
    inner: MemoryStream,
    files: Faulty,
    key: String,
    begun: bool,
}

impl FileStream for FaultyStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        if !std::mem::replace(&mut self.begun, true) || !self.files.is_due() {
            return self.inner.next().await;
        }
        match self.files.fault {
            Fault::EndsEarly => Ok(None),
            Fault::IsReplaced => {
                self.files.inner.put(&self.key, "row,id\r\n1,a\r\n");
                Err(read_error())
            }
            Fault::IsRemoved => {
                self.files.store.amend(self.files.job, |job, _| job.times.deleted_at = Some(NOW));
                self.files.inner.remove(&self.key);
                Err(read_error())
            }
            Fault::Breaks | Fault::IsRefused => Err(read_error()),
        }
    }
}

impl Files for Faulty {
    type Stream = FaultyStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.inner.info(key).await
    }

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<FaultyStream>> {
        Ok(match self.inner.open(key, etag, start, end).await? {
            Read::Found(inner) => {
                let begun = self.left.load(Ordering::SeqCst) > ALWAYS / 2;
                Read::Found(FaultyStream { inner, files: self.clone(), key: key.to_owned(), begun })
            }
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        if matches!(self.fault, Fault::IsRefused) && self.is_due() {
            return Err(read_error());
        }
        self.inner.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.inner.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.inner, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.inner.remove_some(prefix).await
    }
}

impl DownloadUrls for Faulty {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        self.inner.download_url(key, file_name, seconds).await
    }
}

struct FaultyBackend;

impl Backend for FaultyBackend {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = Faulty;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

/// Creates a completed job with a report of several blocks.
async fn with_report(world: &World) -> JobId {
    let id = world.job().await;
    world.finish(id, Status::Completed, 3_000).await;
    let rows: String = (1..=3_000).map(|n| format!("{n},{n},bad,,no\r\n")).collect();
    world.files.put(&folder(id).report_key(0, None, "failed.csv"), format!("row,id,code,field,message\r\n{rows}"));
    id
}

/// Audits a job whose files have this many faults.
async fn audit(world: &World, id: JobId, fault: Fault, faults: u32) -> Reply {
    let Api {
        ports,
        records,
        registry,
        job_types,
        access,
        operators,
        limits,
        tenant_calls,
        webhook_urls,
        queue_depths,
        clock,
    } = world.api::<InMemory>(world.queues.clone());
    let Ports { store, queues, files: inner } = ports;
    let files = Faulty { inner, fault, left: Arc::new(AtomicU32::new(faults)), store: store.clone(), job: id };
    let ports = Ports { store, queues, files };
    let api = Api::<FaultyBackend> {
        ports,
        records,
        registry,
        job_types,
        access,
        operators,
        limits,
        tenant_calls,
        webhook_urls,
        queue_depths,
        clock,
    };
    let request = Request::get(format!("/api/jobs/{id}/audit")).body(Body::empty()).unwrap();
    world.send_unchanged(router(api), world.signed_in(request)).await
}

#[tokio::test]
async fn an_audit_resumes_an_interrupted_stream() {
    let world = World::default();
    let id = with_report(&world).await;
    let expected = audit(&world, id, Fault::Breaks, 0).await;
    assert_eq!(expected.status, 200);
    let rows = expected.body["checks"].as_array().unwrap().iter().find(|check| check["name"] == "rows").unwrap();
    assert_eq!(rows["found"], 3_000, "{rows}");
    for fault in [Fault::Breaks, Fault::EndsEarly] {
        for faults in 1..=3 {
            let answer = audit(&world, id, fault, faults).await;
            assert_eq!((answer.status, &answer.body), (200, &expected.body), "{fault:?} {faults}");
        }
    }
}

#[tokio::test]
async fn an_audit_of_unreadable_files_returns_503() {
    for fault in [Fault::Breaks, Fault::EndsEarly, Fault::IsReplaced, Fault::IsRefused] {
        let world = World::default();
        let id = with_report(&world).await;
        let answer = audit(&world, id, fault, ALWAYS).await;
        assert_eq!(answer.status, 503, "{fault:?} {}", answer.text);
        answer.is_problem(503, "unavailable");
        assert_eq!(answer.header("retry-after"), "10", "{fault:?}");
    }
}

/// The job and its files are deleted while the audit reads them.
#[tokio::test]
async fn an_audit_of_a_job_that_is_removed_meanwhile_returns_404() {
    let world = World::default();
    let id = with_report(&world).await;
    audit(&world, id, Fault::IsRemoved, 1).await.is_problem(404, "not-found");
}
