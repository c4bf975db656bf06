//! The router over in-memory services, an uploaded file, and calls.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request};
use jobs_api::{Api, Backend, Limits, QueueDepths, Registrations, router};
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use lambda_http::{Context, RequestExt};
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Registry, TypeLimits};
use longshore::http::{Access, Operators};
use longshore::job_types::builtin;
use longshore::ports::{JobFolder, Ports};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{ByAge, JobStore};
use longshore_domain::rate::Rate;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::secret::RootSecret;
use longshore_targets::root_secret::RootSecretReader;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::{Value, json};

use crate::job_types::targets;
pub(crate) use crate::reply::Reply;

/// The time of every call.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// Limit of queued chunks.
pub(crate) const MAX_QUEUED_CHUNKS: u64 = 3;
/// Seconds after the end of an import until it can be undone.
pub(crate) const STALL_S: i64 = 60;
/// The uploaded file.
pub(crate) const FILE: &str = "id,name\n1,Ann\n2,Bob\n";

/// Folder of a job's files.
pub(crate) fn folder(id: JobId) -> JobFolder<'static> {
    JobFolder { tenant: &DEFAULT_TENANT, id }
}

/// A backend of in-memory services.
#[derive(Copy, Clone)]
pub(crate) struct InMemory;

impl Backend for InMemory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = MemoryFiles;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

/// A job type without a file, with its own time limit.
pub(crate) struct Ping;

impl JobType for Ping {
    const NAME: &'static str = "ping";
    const INPUT: Input = Input::Options;
    const LIMITS: TypeLimits = TypeLimits { job_time_limit_s: Some(7), ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        Outcome::Ok(())
    }
}

/// The in-memory services behind the router.
#[derive(Clone)]
pub(crate) struct World {
    /// Jobs and uploads.
    pub(crate) store: MemoryStore,
    /// Messages.
    pub(crate) queues: MemoryQueues,
    /// Sources and reports.
    pub(crate) files: MemoryFiles,
    /// Records.
    pub(crate) records: MemoryRecords,
    /// The calling tenant; `default` if `None`.
    pub(crate) tenant: Option<&'static str>,
    /// Rate limit of a tenant's calls per process; practically unlimited if `None`.
    pub(crate) tenant_calls: Option<Rate>,
    /// Groups of the caller, as the gateway passes them.
    pub(crate) groups: &'static str,
    /// Access to the API.
    pub(crate) access: Access,
}

impl Default for World {
    fn default() -> Self {
        let (store, queues, files, records, tenant, tenant_calls) = Default::default();
        let access = Access::SignedIn { tenant_claim: "sub".into() };
        Self { store, queues, files, records, tenant, tenant_calls, groups: "[]", access }
    }
}

impl World {
    /// Returns the ids of the unfinished jobs, oldest first.
    pub(crate) async fn unfinished(&self) -> Vec<JobId> {
        let page = self.store.unfinished(None, ByAge::OldestFirst).await.unwrap();
        page.into_iter().map(|position| position.job_id).collect()
    }

    /// Returns the router over these services.
    pub(crate) fn router(&self) -> axum::Router {
        router(self.api::<InMemory>(self.queues.clone()))
    }

    /// Returns the function over these services, with other queues.
    pub(crate) fn api<B>(&self, queues: B::Queues) -> Api<B>
    where
        B: Backend<Store = MemoryStore, Files = MemoryFiles, Records = MemoryRecords, JobTypes = MemoryStore>,
        B: Backend<Pings = <B as Backend>::Queues>,
        B::Queues: Clone,
    {
        let World { store, files, records, .. } = self.clone();
        let registry: Registry = builtin(records.clone(), files.clone()).with(Ping);
        let access = self.access.clone();
        let (group, read_only_group) = ("operators".into(), Some("auditors".into()));
        let operators = Operators { claim: "cognito:groups".into(), group, read_only_group };
        let root_secret = RootSecretReader::known(RootSecret::from_bytes(&[b'x'; 64]).unwrap());
        let registrations = Registrations::new(store.clone(), queues.clone());
        let job_types = Registrations { targets: targets(), root_secret, ..registrations };
        let limits = Limits {
            max_file_bytes: 1_000,
            retention_days: 14,
            job_time_limit_s: 3_600,
            max_queued_chunks: MAX_QUEUED_CHUNKS,
            stall_s: STALL_S,
        };
        let (ports, queue_depths) = (Ports { store, queues, files }, QueueDepths::default());
        let tenant_calls = self.tenant_calls.unwrap_or(Rate { per_second: 1_000, burst: 10_000 });
        Api {
            ports,
            records,
            registry,
            job_types,
            access,
            operators,
            limits,
            tenant_calls,
            webhook_urls: UrlPolicy::any_host(),
            queue_depths,
            clock: || NOW,
        }
    }

    /// Returns the same services, called by another tenant.
    pub(crate) fn as_tenant(&self, tenant: &'static str) -> Self {
        Self { tenant: Some(tenant), ..self.clone() }
    }

    /// Returns a request as the gateway forwards it after accepting the caller's token.
    pub(crate) fn signed_in(&self, request: Request<Body>) -> Request<Body> {
        let claims = json!({"sub": self.tenant.unwrap_or("default"), "cognito:groups": self.groups});
        let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
        request.with_request_context(RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap()))
    }

    /// Sends a request.
    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        self.without_token(self.signed_in(request)).await
    }

    /// Sends a request unchanged, and checks the answer against the API's document.
    pub(crate) async fn without_token(&self, request: Request<Body>) -> Reply {
        self.send_unchanged(self.router(), request).await
    }

    /// Sends a request to a router unchanged, and checks the answer against the API's document.
    pub(crate) async fn send_unchanged(&self, router: axum::Router, request: Request<Body>) -> Reply {
        let mut context = Context::default();
        context.request_id = "r-1".into();
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let request = request.with_lambda_context(context);
        let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let status = parts.status.as_u16();
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        let headers: Vec<_> = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let answer = contract::Answer { method: &method, path: &path, status, headers: &headers, body: &bytes };
        answer.check().unwrap_or_else(|error| panic!("{error}"));
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Reply { status, headers: parts.headers, body, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Sends a `GET`.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    /// Sends a call without a body.
    pub(crate) async fn call(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.call_with(method, path, headers, String::new()).await
    }

    /// Sends a call with a body.
    pub(crate) async fn call_with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// Sends a `PUT` of JSON to another router.
    pub(crate) async fn send_put(&self, router: axum::Router, path: &str, body: &Value) -> Reply {
        let request = Request::put(path).header("content-type", "application/json");
        self.send_unchanged(router, self.signed_in(request.body(Body::from(body.to_string())).unwrap())).await
    }

    /// Sends `POST /api/jobs/{jobId}/cancel`.
    pub(crate) async fn cancel(&self, id: JobId, headers: &[(&str, &str)]) -> Reply {
        self.call("POST", &format!("/api/jobs/{id}/cancel"), headers).await
    }

    /// Sends `POST /api/jobs`.
    pub(crate) async fn create(&self, body: &Value) -> Reply {
        self.post(body.to_string(), &[("content-type", "application/json")]).await
    }

    /// Sends a `POST` of JSON to any path.
    pub(crate) async fn post_to(&self, path: &str, body: &Value) -> Reply {
        self.send_to(self.router(), path, body).await
    }

    /// Sends a `POST` of JSON to another router.
    pub(crate) async fn send_to(&self, router: axum::Router, path: &str, body: &Value) -> Reply {
        let request = Request::post(path).header("content-type", "application/json");
        self.send_unchanged(router, self.signed_in(request.body(Body::from(body.to_string())).unwrap())).await
    }

    /// Sends `POST /api/jobs` with any body and headers.
    pub(crate) async fn post(&self, body: String, headers: &[(&str, &str)]) -> Reply {
        self.call_with("POST", "/api/jobs", headers, body).await
    }
}
