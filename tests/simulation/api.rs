//! Calls of the real API over the services of a world, which can fail or crash half-way.

use std::future::poll_fn;
use std::pin::pin;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{Request, StatusCode};
use jobs_api::{Api, Backend, Limits, QueueDepths, Registrations, router};
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{PortError, PortResult};
use longshore_domain::rate::Rate;
use longshore_domain::tenant::TenantId;
use longshore_outbound::policy::UrlPolicy;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::clock::clock;
use crate::imports::Records;
use crate::plan::TEN_DAYS_S;
use crate::stepwise::Stepwise;
use crate::unguarded::{Unguarded, without};

/// Name of the condition that an undo begins only after the stall time of its import.
const AFTER_STALL: &str = "undo-after-the-stall-time";

/// The services of a world.
pub(crate) struct Simulated;

impl Backend for Simulated {
    type Store = Stepwise<Unguarded<MemoryStore>>;
    type Queues = Stepwise<Unguarded<MemoryQueues>>;
    type Files = Stepwise<Unguarded<MemoryFiles>>;
    type Records = Records;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

type Services = Ports<<Simulated as Backend>::Store, <Simulated as Backend>::Queues, <Simulated as Backend>::Files>;

/// Days for which jobs are kept.
pub(crate) const RETENTION_DAYS: i64 = 100;

/// The API over these services.
pub(crate) fn api(ports: Services, records: &MemoryRecords, stall_s: i64) -> Router {
    router(Api::<Simulated> {
        ports,
        records: Stepwise(Unguarded(records.clone())),
        registry: Registry::default(),
        job_types: Registrations::new(MemoryStore::default(), MemoryQueues::default()),
        operators: Operators { claim: "cognito:groups".into(), group: "operators".into(), read_only_group: None },
        access: Access::SignedIn { tenant_claim: "sub".into() },
        limits: Limits {
            max_file_bytes: u64::MAX,
            retention_days: RETENTION_DAYS,
            job_time_limit_s: TEN_DAYS_S,
            max_queued_chunks: u64::MAX,
            stall_s: if without(AFTER_STALL) { 0 } else { stall_s },
        },
        tenant_calls: Rate { per_second: 1_000, burst: 100_000 },
        webhook_urls: UrlPolicy::any_host(),
        queue_depths: QueueDepths::default(),
        clock,
    })
}

thread_local! {
    /// The runtime in which the API's timeouts are created. Its own clock never advances.
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
}

/// The answer to a call.
pub(crate) struct Answer {
    /// The status, also of a refused call.
    pub(crate) status: &'static str,
    /// The job at the answer's `Location`.
    pub(crate) job: Option<JobId>,
}

/// Makes a call, with a body or without one.
pub(crate) async fn call(
    api: Router,
    tenant: &TenantId,
    [method, path]: [&str; 2],
    body: Option<&Value>,
) -> PortResult<Answer> {
    let claims = json!({ "sub": tenant.as_str() });
    let context =
        json!({ "http": { "method": method }, "timeEpoch": 0, "authorizer": { "jwt": { "claims": claims } } });
    let context = serde_json::from_value(context).expect("a context of the gateway");
    let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, "application/json");
    let request = request.body(body.map_or_else(Body::empty, |body| body.to_string().into())).expect("a request");
    let request = request.with_request_context(RequestContext::ApiGatewayV2(context));
    let mut response = pin!(api.oneshot(request));
    let response = poll_fn(|context| {
        RUNTIME.with(|runtime| {
            let _entered = runtime.enter();
            response.as_mut().poll(context)
        })
    });
    let Ok(response) = response.await;
    let location = response.headers().get(LOCATION).map(|location| location.to_str().expect("a path"));
    let job = location.and_then(|path| JobId::parse(path.rsplit('/').next()?));
    let status = match response.status() {
        StatusCode::ACCEPTED => "202",
        StatusCode::NO_CONTENT => "204",
        StatusCode::NOT_FOUND => "404",
        StatusCode::CONFLICT => "409",
        StatusCode::INTERNAL_SERVER_ERROR => {
            return Err(PortError { service: "simulated", operation: "call", source: "500".into() });
        }
        other => panic!("unexpected answer to {method} {path}: {other}"),
    };
    Ok(Answer { status, job })
}
