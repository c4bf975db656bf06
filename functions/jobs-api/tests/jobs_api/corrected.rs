//! `POST /api/jobs/{jobId}/retry` with a corrected failures file: accepted and refused files.

use longshore_domain::ports::DownloadUrls;
use std::sync::{Arc, Mutex};

use jobs_api::{Api, Backend};
use longshore::failures_file::HEAD_BYTES;
use longshore::ports::Ports;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, Selection, Status};
use longshore_domain::ports::{
    Definition, FileInfo, FileStream, Files, JobStore, JobTransitions, PortError, PortResult, PrefixRemoval, Read,
    Upload,
};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, MemoryStream};
use serde_json::{Value, json};

use crate::world::{InMemory, NOW, Reply, World};

const FILE: &str = "row;id;name\r\n2;1;Ann\r\n";

/// Creates a job with failed rows and known columns.
async fn failed(world: &World) -> JobId {
    let id = world.job().await;
    world.store.put_columns(id, &["id".into(), "name".into()], None, None).await.unwrap();
    world.finish(id, Status::Completed, 3).await;
    world.queues.take_creates();
    id
}

async fn file(world: &World, bytes: &str) -> FileGuid {
    world.upload(|upload| upload.size_bytes = bytes.len() as u64, Some(bytes)).await
}

async fn retry(world: &World, id: JobId, file: impl Into<Value>) -> Reply {
    world.post_to(&format!("/api/jobs/{id}/retry"), &json!({ "fileGuid": file.into() })).await
}

#[tokio::test]
async fn a_corrected_file_belongs_to_the_new_generation() {
    let world = World::default();
    let id = failed(&world).await;
    let file = file(&world, FILE).await;
    let reply = retry(&world, id, file.to_string()).await;
    assert_eq!((reply.status, &reply.body["attempts"]), (202, &json!(2)), "{}", reply.body);
    let job = world.store.job(id).await.unwrap().unwrap();
    let corrected = job.retry.selection.corrected().cloned().unwrap();
    assert_eq!((corrected.upload(), corrected.size_bytes), (Some(file), FILE.len() as u64));
    assert!(job.uploads().contains(&file) && job.uploads().len() == 2);
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn an_unusable_corrected_file_is_refused_with_the_reason() {
    let world = World::default();
    let id = failed(&world).await;
    let missing_file = world.upload(|_| {}, None).await;
    let shorter = world.upload(|upload| upload.size_bytes = 1, Some(FILE)).await;
    let with_other_tenant = |upload: &mut Upload| {
        (upload.tenant, upload.size_bytes) = (TenantId::from_static("another"), FILE.len() as u64)
    };
    let other_file = world.upload(with_other_tenant, Some(FILE)).await;
    let large = file(&world, &FILE.repeat(100)).await;
    let mut table = vec![
        (json!(7), "unknown_file"),
        (json!("x"), "unknown_file"),
        (json!(FileGuid::generate()), "unknown_file"),
        (json!(other_file), "unknown_file"),
        (json!(missing_file), "file_not_uploaded"),
        (json!(shorter), "file_size_mismatch"),
        (json!(large), "file_too_large"),
    ];
    for bytes in ["id,name\n1,Ann\n", "row,id\n1,1\n", "row,id,name,id\n", "\n\n", "%PDF-row,id,name\n", "r\0o\0w\0,\0"]
    {
        table.push((json!(file(&world, bytes).await), "not_a_failures_file"));
    }
    for (value, code) in table {
        let reply = retry(&world, id, value.clone()).await;
        assert_eq!((reply.status, reply.field_errors()), (422, vec![("/fileGuid", code)]), "{value}: {}", reply.body);
    }
    let missing = retry(&world, id, json!(file(&world, "row,id\n1,1\n").await)).await;
    assert!(missing.body["detail"].as_str().unwrap().contains("no column \"name\""), "{}", missing.body);
    let job = world.store.job(id).await.unwrap().unwrap();
    assert_eq!((job.generation, job.retry.selection), (0, Selection::All));
    assert_eq!(world.queues.take_creates(), []);
}

#[tokio::test]
async fn a_corrected_file_over_the_limit_is_refused_unread_with_advice() {
    let world = World::default();
    let id = failed(&world).await;
    let size = longshore::failures_file::CORRECTED_BYTES + 1;
    let large = world.upload(|upload| upload.size_bytes = size, None).await;
    let key = world.store.upload(large).await.unwrap().unwrap().key;
    world.files.put(&key, vec![b'x'; usize::try_from(size).unwrap()]);
    let mut api = world.api::<crate::world::InMemory>(world.queues.clone());
    api.limits.max_file_bytes = size;
    let reply =
        world.send_to(jobs_api::router(api), &format!("/api/jobs/{id}/retry"), &json!({ "fileGuid": large })).await;
    assert_eq!(reply.field_errors(), [("/fileGuid", "corrected_file_too_large")]);
    assert!(reply.body["detail"].as_str().unwrap().contains("split it"), "{}", reply.body);
}

#[tokio::test]
async fn jobs_without_failed_rows_or_without_a_file_refuse_corrected_files() {
    let world = World::default();
    let unread = world.job().await;
    world.finish(unread, Status::Canceled, 0).await;
    let reply = retry(&world, unread, json!(file(&world, FILE).await)).await;
    assert_eq!(reply.field_errors(), [("/fileGuid", "not_a_failures_file")]);
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "ping", NOW);
    world.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    world.finish(job.job_id, Status::Failed, 1).await;
    let reply = retry(&world, job.job_id, json!(file(&world, FILE).await)).await;
    assert_eq!(reply.field_errors(), [("/fileGuid", "file_not_allowed")]);
}

/// Fault of a stream.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Fault {
    /// The stream fails.
    Breaks,
    /// The stream ends before the file does, without an error.
    EndsEarly,
}

/// Start and end of a stream.
type Range = (u64, Option<u64>);

/// Files whose next streams have these faults, in order.
#[derive(Clone, Default)]
struct FaultyFiles {
    inner: MemoryFiles,
    faults: Arc<Mutex<Vec<Fault>>>,
    opened: Arc<Mutex<Vec<Range>>>,
}

struct FaultyStream {
    inner: MemoryStream,
    fault: Option<Fault>,
}

impl FileStream for FaultyStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        match self.fault {
            Some(Fault::Breaks) => {
                Err(PortError { service: "files", operation: "read", source: "the stream was interrupted".into() })
            }
            Some(Fault::EndsEarly) => Ok(None),
            None => self.inner.next().await,
        }
    }
}

impl Files for FaultyFiles {
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
        self.opened.lock().unwrap().push((start, end));
        Ok(match self.inner.open(key, etag, start, end).await? {
            Read::Found(inner) => Read::Found(FaultyStream { inner, fault: self.faults.lock().unwrap().pop() }),
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
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

impl DownloadUrls for FaultyFiles {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        self.inner.download_url(key, file_name, seconds).await
    }
}

/// In-memory services with faulty files.
struct FaultyBackend;

impl Backend for FaultyBackend {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = FaultyFiles;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

/// Retries a job with a corrected file larger than the header read, whose reads have these faults. Returns the
/// reply, and the ranges of the streams that were opened.
async fn retry_over(faults: &[Fault]) -> (Reply, Vec<Range>) {
    let world = World::default();
    let id = failed(&world).await;
    let rows = "2;1;Ann\r\n".repeat(HEAD_BYTES as usize / 8);
    let file = file(&world, &format!("{FILE}{rows}")).await;
    let (inner, faults) = (world.files.clone(), Arc::new(Mutex::new(faults.to_vec())));
    let files = FaultyFiles { inner, faults, opened: Arc::default() };
    let Api {
        ports,
        records,
        registry,
        job_types,
        access,
        operators,
        mut limits,
        tenant_calls,
        webhook_urls,
        queue_depths,
        clock,
    } = world.api::<InMemory>(world.queues.clone());
    limits.max_file_bytes = 2 * HEAD_BYTES;
    let ports = Ports { store: ports.store, queues: ports.queues, files: files.clone() };
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
    let (path, body) = (format!("/api/jobs/{id}/retry"), json!({ "fileGuid": file }));
    let reply = world.send_to(jobs_api::router(api), &path, &body).await;
    let opened = files.opened.lock().unwrap().clone();
    (reply, opened)
}

#[tokio::test]
async fn only_the_header_is_read_and_an_interrupted_read_is_repeated() {
    for faults in [vec![], vec![Fault::Breaks; 3], vec![Fault::EndsEarly; 3]] {
        let (reply, opened) = retry_over(&faults).await;
        assert_eq!(reply.status, 202, "{faults:?}: {}", reply.body);
        assert_eq!(opened, vec![(0, Some(HEAD_BYTES)); faults.len() + 1], "{faults:?}");
    }
}

#[tokio::test]
async fn a_temporarily_unreadable_file_returns_503() {
    for fault in [Fault::Breaks, Fault::EndsEarly] {
        let (reply, _) = retry_over(&[fault; 4]).await;
        reply.is_problem(503, "unavailable");
        assert_eq!(reply.header("retry-after"), "10", "{fault:?}");
    }
}
