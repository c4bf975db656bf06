//! Fuzz target for HTTP requests: for any request, the response is one that the API document allows, and never a server
//! error.
//!
//! The input is written like a request: a line with method and path, lines of headers, a blank line, the body. The HTTP
//! functions run on in-memory services, with an upload, a job with failed rows, a waiting job, a validation and a
//! dataset. Their ids are constant, so that an input can name them.

use std::cell::RefCell;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use inspect::Inspections;
use jobs_api::{Api, Backend, Limits, QueueDepths, Registrations};
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use lambda_http::{Context, RequestExt};
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::job_types::builtin;
use longshore::ports::{JobFolder, Ports, upload_key};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::cost::Charge;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Finish, Job, JobTimes, SourceFile, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, PortError, Upload};
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer};
use longshore_outbound::policy::UrlPolicy;
use longshore_testing::{MemoryFiles, MemoryOperatorLog, MemoryQueues, MemoryRecords, MemoryStore};
use operations::Operations;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use upload::Uploads;

/// The id of every request.
const REQUEST_ID: &str = "r-1";

/// The time of all events.
const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// The tenant that owns everything.
static TENANT: TenantId = TenantId::from_static("t");

const FILE: &str = "id,name\n1,Ann\n,\"=1\n2\"\n";
const FAILED: &str = "row,id,name,code,field,message\r\n2,,\"'=1\n2\",missing_key,id,it is missing\r\n";

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

pub(crate) fn check(input: &[u8]) {
    let Some(request) = request(input) else { return };
    RUNTIME.with_borrow_mut(|runtime| {
        let runtime = runtime.get_or_insert_with(|| {
            Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"))
        });
        runtime.block_on(answer(request));
    });
}

/// Parses the request; `None` if no client could have sent it.
fn request(input: &[u8]) -> Option<Request<Body>> {
    let end = input.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = end.map_or((input, &[][..]), |at| (&input[..at], &input[at + 2..]));
    let mut lines = std::str::from_utf8(head).ok()?.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(path);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    let request = request.body(Body::from(body.to_vec())).ok()?;
    request.uri().path().starts_with('/').then_some(request)
}

/// Signs the request in, as the gateway does after it has accepted the caller's token.
fn signed_in(request: Request<Body>) -> Request<Body> {
    let claims = json!({ "sub": TENANT.as_str(), "cognito:groups": "operators" });
    let context = json!({ "http": { "method": "GET" }, "timeEpoch": 0, "authorizer": { "jwt": { "claims": claims } } });
    let context = serde_json::from_value(context).unwrap_or_else(|error| panic!("{error}"));
    let mut lambda = Context::default();
    lambda.request_id = REQUEST_ID.to_owned();
    request.with_lambda_context(lambda).with_request_context(RequestContext::ApiGatewayV2(context))
}

async fn answer(request: Request<Body>) {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let world = World::with_fixtures().await.unwrap_or_else(|error| panic!("{error}"));
    let answer = world.router(&path).oneshot(signed_in(request)).await.unwrap_or_else(|error| match error {});
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_else(|error| panic!("{error}"));
    let status = parts.status.as_u16();
    let text = |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<_> = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    assert!(status < 500, "{method} {path} answered {status}: {}", String::from_utf8_lossy(&body));
    let answer = contract::Answer { method: &method, path: &path, status, headers: &headers, body: &body };
    answer.check().unwrap_or_else(|error| panic!("{error}"));
    if status >= 400 && method != "HEAD" {
        problem(status, &body);
    }
}

/// Checks a problem document: kind, title, detail, errors and request id, whichever layer responds.
fn problem(status: u16, body: &[u8]) {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_text = |name: &str| problem[name].as_str().is_some_and(|text| !text.trim().is_empty());
    assert!(is_text("title") && is_text("detail"), "{problem}");
    assert!(problem["type"].as_str().is_some_and(|kind| kind.starts_with("/api/problems/")), "{problem}");
    assert!(problem["status"] == status && problem["requestId"] == REQUEST_ID, "{status}: {problem}");
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_complete = |error: &Value| {
        error["pointer"].is_string()
            && error["code"].is_string()
            && error["detail"].as_str().is_some_and(|d| !d.is_empty())
    };
    assert!(errors.iter().all(is_complete), "{problem}");
    assert!(status != 422 || !errors.is_empty(), "the problem has no errors: {problem}");
}

/// The in-memory services.
#[derive(Clone, Default)]
struct World {
    store: MemoryStore,
    queues: MemoryQueues,
    files: MemoryFiles,
    records: MemoryRecords,
}

struct Memory;

impl Backend for Memory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = MemoryFiles;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

impl operations::Backend for Memory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Statistics = MemoryQueues;
    type Files = MemoryFiles;
    type Log = MemoryOperatorLog;
}

/// Returns an id made of one digit.
fn id(digit: &str) -> String {
    format!("{0}{0}{0}{0}{0}{0}{0}{0}-{0}{0}{0}{0}-7{0}{0}{0}-8{0}{0}{0}-{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}", digit)
}

fn job_id(digit: &str) -> JobId {
    JobId::parse(&id(digit)).unwrap_or_else(|| panic!("{digit} is not a digit of an id"))
}

fn file_guid(digit: &str) -> FileGuid {
    FileGuid::parse(&id(digit)).unwrap_or_else(|| panic!("{digit} is not a digit of an id"))
}

impl World {
    /// Creates the services with all fixtures.
    async fn with_fixtures() -> Result<Self, PortError> {
        let world = Self::default();
        world.upload("a", "people.csv", FILE).await?;
        world.upload("b", "failed.csv", FAILED).await?;
        world.upload("c", "people.jsonl", "{\"id\":1}\n").await?;
        world.job("1", "upsert").await?;
        world.finish("1", 1).await?;
        world.job("2", "upsert").await?;
        world.job("3", "validate").await?;
        world.finish("3", 0).await?;
        let dataset = Dataset { tenant: TENANT.clone(), name: "people".to_owned() };
        let writer = Writer { job: job_id("1"), row: 1 };
        let data = json!({ "id": "1" }).as_object().cloned().unwrap_or_default();
        let records = ["1", "2", "3"].map(|key| NewRecord { key: key.to_owned(), data: data.clone(), writer });
        world.records.put(&dataset, Rule::Upsert, records.to_vec()).await;
        Ok(world)
    }

    /// Returns the function that serves this path.
    fn router(self, path: &str) -> axum::Router {
        let Self { store, queues, files, records } = self;
        let access = Access::SignedIn { tenant_claim: "sub".to_owned() };
        if path.starts_with("/api/uploads") && path.ends_with("/inspect") {
            return inspect::router(Inspections {
                store,
                registry: builtin(records, files.clone()),
                files,
                access,
                max_file_bytes: 5 << 30,
                tenant_calls: longshore_domain::rate::Rate { per_second: 1_000, burst: 10_000 },
                clock: || NOW,
            });
        }
        if path.starts_with("/api/uploads") {
            let (storage, max_bytes_per_day) = (files, 1 << 40);
            return upload::router(Uploads {
                store,
                storage,
                access,
                max_file_bytes: 5 << 30,
                multipart_bytes: 64 << 20,
                tenant_calls: longshore_domain::rate::Rate { per_second: 1_000, burst: 10_000 },
                max_bytes_per_day,
                retention_days: 14,
                clock: || NOW,
            });
        }
        if path.starts_with("/api/dead-letters") || path.starts_with("/api/operations/") {
            let operators =
                Operators { claim: "cognito:groups".into(), group: "operators".into(), read_only_group: None };
            return operations::router(Operations::<Memory> {
                statistics: queues.clone(),
                ports: Ports { store, queues, files },
                log: MemoryOperatorLog::default(),
                registry: Registry::default(),
                access,
                operators,
                retention_days: 14,
                clock: || NOW,
            });
        }
        let limits = Limits {
            max_file_bytes: 5 << 30,
            retention_days: 14,
            job_time_limit_s: 3_600,
            max_queued_chunks: 9,
            stall_s: 60,
        };
        let tenant_calls = longshore_domain::rate::Rate { per_second: 1_000, burst: 10_000 };
        let (registry, queue_depths) = (builtin(records.clone(), files.clone()), QueueDepths::default());
        let operators = Operators { claim: "cognito:groups".into(), group: "operators".into(), read_only_group: None };
        let job_types = Registrations::new(store.clone(), queues.clone());
        let ports = Ports { store, queues, files };
        jobs_api::router(Api::<Memory> {
            job_types,
            operators,
            tenant_calls,
            ports,
            records,
            registry,
            access,
            limits,
            webhook_urls: UrlPolicy::any_host(),
            queue_depths,
            clock: || NOW,
        })
    }

    async fn upload(&self, digit: &str, name: &str, bytes: &str) -> Result<(), PortError> {
        let (file_guid, key) = (file_guid(digit), upload_key(&TENANT, file_guid(digit)));
        self.files.put(&key, bytes);
        let upload = Upload {
            file_guid,
            tenant: TENANT.clone(),
            key,
            file_name: name.to_owned(),
            content_type: String::new(),
            size_bytes: bytes.len() as u64,
            sha256: None,
            multipart: None,
            promised_at: NOW,
            expires_at: NOW.plus_seconds(60).seconds(),
        };
        self.store.create_upload(&upload, None).await.map(drop)
    }

    /// Creates a waiting job over the first upload.
    async fn job(&self, digit: &str, mode: &str) -> Result<(), PortError> {
        let key = upload_key(&TENANT, file_guid("a"));
        let info = self.files.info(&key).await?.unwrap_or_else(|| panic!("the upload does not exist"));
        let source = Some(SourceFile::new(key, info, Format::Csv, "people.csv").into());
        let waiting = Job::waiting(job_id(digit), TENANT.clone(), "import", NOW);
        let job = Job {
            source,
            times: JobTimes {
                timeout_s: 3_600,
                expires_at: NOW.seconds() + 86_400,
                deadline_at: NOW.plus_seconds(3_600),
                ..waiting.times.clone()
            },
            ..waiting
        };
        let options: Value = json!({ "dataset": "people", "key": "id", "mode": mode });
        let columns = Some(vec!["id".to_owned(), "name".to_owned()]);
        self.store.create_job(&job, &Definition { columns, ..Definition::new(options) }, None).await.map(drop)
    }

    /// Ends the job, with its report.
    async fn finish(&self, digit: &str, failed: u64) -> Result<(), PortError> {
        let id = job_id(digit);
        self.store.begin(id, 0, NOW).await?;
        let charge = self.store.job(id).await?.map(|job| Charge::new(&job, &[]));
        let totals = Counts { failed, ..Counts::default() };
        let end = Finish { charge, ..Finish::new(Status::Completed, totals, NOW.plus_seconds(2)) };
        self.store.finish(id, &end).await?;
        let Some(job) = self.store.job(id).await? else { return Ok(()) };
        let folder = JobFolder::for_job(&job);
        let file = ReportFile { key: folder.report_key(0, None, "failed.csv"), rows: failed };
        if failed > 0 {
            self.files.put(&file.key, FAILED);
        }
        let files = ReportFiles { failed: (failed > 0).then_some(file), ..ReportFiles::default() };
        let counts = ResultCounts { succeeded: 1, failed, ..ResultCounts::default() };
        let document = ResultDocument::new(&job, Report { counts, files, ..Report::default() });
        let bytes = serde_json::to_vec(&document).unwrap_or_else(|error| panic!("{error}"));
        self.files.put(&folder.report_key(0, None, RESULT_NAME), bytes);
        Ok(())
    }
}
