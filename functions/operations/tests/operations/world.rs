//! The router over in-memory services, jobs with chunks that were given up, and calls.

use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request};
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use lambda_http::{Context, RequestExt};
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::ports::{Ports, report_key};
use longshore::result::{FailuresByCode, RESULT_NAME, Report, ResultCounts, ResultDocument};
use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue, RETENTION_S};
use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Finish, Job, JobTimes, Status};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{DeadLetterRecords, Definition, Files, JobStore, JobTransitions, Ledger, TenantLimits};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryOperatorLog, MemoryQueues, MemoryStore};
use operations::{Backend, Operations, router};
use serde_json::{Value, json};

/// The time of every call.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// The in-memory services.
struct Memory;

impl Backend for Memory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Statistics = MemoryQueues;
    type Files = MemoryFiles;
    type Log = MemoryOperatorLog;
}

/// The in-memory services behind the router.
#[derive(Clone)]
pub(crate) struct World {
    /// Jobs and dead-letter records.
    pub(crate) store: MemoryStore,
    /// Messages.
    pub(crate) queues: MemoryQueues,
    /// Reports.
    pub(crate) files: MemoryFiles,
    /// The operators' log.
    pub(crate) log: MemoryOperatorLog,
    /// The clock of the function.
    pub(crate) clock: fn() -> Timestamp,
    /// Who may call.
    pub(crate) access: Access,
}

/// The reply to a call.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    link: String,
}

impl Reply {
    /// Asserts that this is a problem document of a kind.
    pub(crate) fn is_problem(&self, status: u16, kind: &str) {
        assert_eq!(
            (self.status, &self.body["type"]),
            (status, &json!(format!("/api/problems/{kind}"))),
            "{}",
            self.body
        );
    }

    /// Returns the path of the next page; `None` on the last one.
    pub(crate) fn next_path(&self) -> Option<&str> {
        self.link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")
    }
}

impl Default for World {
    fn default() -> Self {
        let store = MemoryStore::default().with_limits(TenantLimits { active_jobs: 2, ..TenantLimits::default() });
        Self {
            store,
            queues: MemoryQueues::default(),
            files: MemoryFiles::default(),
            log: MemoryOperatorLog::default(),
            clock: || NOW,
            access: Access::SignedIn { tenant_claim: "sub".into() },
        }
    }
}

impl World {
    /// The same services, with open access.
    pub(crate) fn open() -> Self {
        Self { access: Access::Open, ..Self::default() }
    }

    /// Sends a call as an operator.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.call_as("[tellers operators]", (method, path), body).await
    }

    /// Sends a call as a user in these groups.
    pub(crate) async fn call_as(&self, groups: &str, (method, path): (&str, &str), body: &Value) -> Reply {
        let function = Operations::<Memory> {
            ports: Ports { store: self.store.clone(), queues: self.queues.clone(), files: self.files.clone() },
            statistics: self.queues.clone(),
            log: self.log.clone(),
            registry: Registry::default(),
            access: self.access.clone(),
            operators: Operators {
                claim: "cognito:groups".into(),
                group: "operators".into(),
                read_only_group: Some("auditors".into()),
            },
            retention_days: 14,
            clock: self.clock,
        };
        let claims = json!({"sub": "olga", "email": "olga@example.com", "cognito:groups": groups});
        let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
        let mut lambda = Context::default();
        lambda.request_id = "r-1".into();
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let request = request.body(body).unwrap().with_lambda_context(lambda);
        let request =
            request.with_request_context(RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap()));
        let (parts, body) = router(function).oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let (status, text) = (parts.status.as_u16(), |value: &HeaderValue| value.to_str().unwrap().to_owned());
        let headers: Vec<_> = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let answer = contract::Answer { method, path, status, headers: &headers, body: &bytes };
        answer.check().unwrap_or_else(|wrong| panic!("{wrong}"));
        let link = parts.headers.get("link").map(text).unwrap_or_default();
        Reply { status, body: serde_json::from_slice(&bytes).unwrap_or_default(), link }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, &Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str) -> Reply {
        self.call("POST", path, &Value::Null).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call("DELETE", path, &Value::Null).await
    }

    /// A job of three chunks of ten items in one group, none of them begun.
    pub(crate) async fn job(&self, tenant: &str) -> Job {
        let (store, id) = (&self.store, JobId::generate());
        let job = Job {
            times: JobTimes { timeout_s: 60, deadline_at: NOW.plus_seconds(60), ..JobTimes::accepted(NOW) },
            ..Job::waiting(id, TenantId::parse(tenant).unwrap(), "import", NOW)
        };
        store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
        store.begin(id, 0, NOW).await.unwrap();
        let chunk =
            |first: u64| ChunkPlan { first, items: 10, start: first, end: first + 9, oversize: false, keys: None };
        let manifest = Manifest { group: 0, chunks: vec![chunk(1), chunk(11), chunk(21)] };
        let job = store.job(id).await.unwrap().unwrap();
        store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..30), NOW).await.unwrap();
        store.end_split(&job, 1, &[], NOW).await.unwrap();
        store.job(id).await.unwrap().unwrap()
    }

    /// Gives up these chunks of the job, as the sweeper does.
    pub(crate) async fn give_up(&self, job: &Job, chunks: &[u32]) {
        for chunk in chunks {
            let (token, file) = (format!("t{chunk}"), Some(format!("t{chunk}")));
            let to = Cursor {
                round: 0,
                position: 0,
                token,
                file,
                deferred: 0,
                due: None,
                finished: true,
                by_sweeper: false,
            };
            let counts = Counts { failed: 10, ..Counts::default() };
            let commit = Commit { chunk: *chunk, from: None, to, counts, usage: Default::default(), at: NOW };
            self.store.commit(job.job_id, 0, &commit).await.unwrap();
        }
    }

    /// Ends the job with this number of failed items.
    pub(crate) async fn end(&self, job: &Job, status: Status, failed: u64) {
        self.end_at(job, status, failed, NOW).await;
    }

    /// Ends the job at a time.
    pub(crate) async fn end_at(&self, job: &Job, status: Status, failed: u64, at: Timestamp) {
        let generation = self.stored(job).await.generation;
        let totals = Counts { succeeded: 30 - failed, failed, skipped: 0 };
        let finish = Finish { generation, ..Finish::new(status, totals, at) };
        self.store.finish(job.job_id, &finish).await.unwrap();
    }

    /// Ends the job with failed items of these codes, which its report counts.
    pub(crate) async fn failed(&self, job: &Job, codes: &[(&str, u64)]) {
        let failed = codes.iter().map(|(_, items)| items).sum();
        self.end(job, Status::Completed, failed).await;
        let mut failures_by_code = FailuresByCode::default();
        codes.iter().for_each(|(code, items)| (0..*items).for_each(|_| failures_by_code.count(code)));
        let counts = ResultCounts { succeeded: 30 - failed, failed, ..ResultCounts::default() };
        let job = self.stored(job).await;
        let result = ResultDocument::new(&job, Report { counts, failures_by_code, ..Report::default() });
        let bytes = serde_json::to_vec(&result).unwrap();
        self.files.write(&report_key(&job, RESULT_NAME), "application/json", bytes).await.unwrap();
    }

    /// Returns the job as stored now.
    pub(crate) async fn stored(&self, job: &Job) -> Job {
        self.store.job(job.job_id).await.unwrap().unwrap()
    }

    /// Records a dead letter as the sweeper does. Each one is sent a second after the previous one.
    pub(crate) async fn record(&self, queue: Queue, body: &str) -> DeadLetterRecord {
        static SENT: AtomicU32 = AtomicU32::new(0);
        let sent_at = NOW.plus_seconds(SENT.fetch_add(1, Ordering::Relaxed).into());
        let dead_letter = DeadLetterRecord {
            id: DeadLetterRecord::record_id(sent_at, "8f1d2c3b"),
            queue,
            message: DeadLetterMessage::read(queue, body),
            sent_at,
            seen_at: sent_at,
            receives: 6,
            size_bytes: body.len() as u64,
            source: None,
            group_id: None,
            resolution: None,
            expires_at: NOW.plus_seconds(RETENTION_S).seconds(),
        };
        self.store.record(&dead_letter, Some(body)).await.unwrap();
        dead_letter
    }

    /// Records the dead letter of a chunk of the job's only group.
    pub(crate) async fn chunk(&self, job: &Job, chunk: u32) -> DeadLetterRecord {
        let first = u64::from(chunk) * 10 + 1;
        let plan = ChunkPlan { first, items: 10, start: first, end: first + 9, oversize: false, keys: None };
        let message =
            ChunkMessage { inline: Some("a row".into()), ..ChunkMessage::new(job, ChunkId::new(0, chunk), &plan) };
        self.record(Queue::Chunk, &serde_json::to_string(&message).unwrap()).await
    }
}

/// Path of a dead letter.
pub(crate) fn path(dead_letter: &DeadLetterRecord) -> String {
    format!("/api/dead-letters/{}", dead_letter.id)
}
