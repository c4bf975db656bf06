//! Requests over a limit: active jobs, calls, body size.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, router};
use lambda_http::tower::ServiceExt;
use longshore::field_error::FieldError;
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::http::MAX_BODY;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::ports::{JobStore, TenantLimits};
use longshore_domain::rate::Rate;
use longshore_testing::MemoryStore;
use serde_json::{Value, json};

use crate::world::{FILE, InMemory, NOW, World};

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
pub(crate) const KEY: (&str, &str) = ("idempotency-key", "monday-1");

/// Limits a tenant to this many active jobs.
fn at_most(active_jobs: u64) -> World {
    let store = MemoryStore::default().with_limits(TenantLimits { active_jobs, ..TenantLimits::default() });
    World { store, ..World::default() }
}

pub(crate) fn id(body: &Value) -> JobId {
    JobId::parse(body["jobId"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_tenant_over_its_limit_of_active_jobs_gets_429_with_retry_after() {
    let world = at_most(2);
    let ping = json!({"jobType": "ping"});
    let first = world.post(ping.to_string(), &[JSON, KEY]).await;
    assert_eq!((first.status, world.create(&ping).await.status), (202, 202));
    let reply = world.create(&ping).await;
    reply.is_problem(429, "too-many-jobs");
    assert_eq!((reply.header("retry-after"), reply.header("cache-control")), ("10", "no-store"));
    assert!(reply.body["detail"].as_str().unwrap().contains("has 2 active jobs"), "{}", reply.body);
    let repeated = world.post(ping.to_string(), &[JSON, KEY]).await;
    assert_eq!(
        (repeated.status, id(&repeated.body)),
        (202, id(&first.body)),
        "a repeated create returns the first job"
    );
    world
        .post(json!({"jobType": "ping", "priority": "low"}).to_string(), &[JSON, KEY])
        .await
        .is_problem(422, "idempotency-key-reused");
    assert_eq!(world.as_tenant("another").create(&ping).await.status, 202);
    world.finish(id(&first.body), Status::Failed, 1).await;
    assert_eq!(world.create(&ping).await.status, 202, "one job has ended");
    world.create(&ping).await.is_problem(429, "too-many-jobs");
    assert_eq!(world.unfinished().await.len(), 3, "the jobs of both tenants");
}

#[tokio::test]
async fn a_retry_counts_as_an_active_job() {
    let world = at_most(1);
    let ended = world.job().await;
    world.finish(ended, Status::Failed, 1).await;
    let active = world.job().await;
    let retry = format!("/api/jobs/{ended}/retry");
    let reply = world.call("POST", &retry, &[]).await;
    reply.is_problem(429, "too-many-jobs");
    assert_eq!(reply.header("retry-after"), "10");
    assert_eq!(world.store.job(ended).await.unwrap().unwrap().status, Status::Failed);
    world.finish(active, Status::Failed, 1).await;
    assert_eq!(world.call("POST", &retry, &[]).await.status, 202);
    world.create(&json!({"jobType": "ping"})).await.is_problem(429, "too-many-jobs");
}

#[tokio::test]
async fn the_daily_bytes_of_a_tenants_jobs_are_limited() {
    let limits = TenantLimits { job_bytes_per_day: 2 * FILE.len() as u64, ..TenantLimits::default() };
    let world = World { store: MemoryStore::default().with_limits(limits), ..World::default() };
    let import = world.import().await;
    let first = world.post(import.to_string(), &[JSON, KEY]).await;
    assert_eq!((first.status, world.create(&import).await.status), (202, 202));
    let reply = world.create(&import).await;
    reply.is_problem(429, "upload-quota-exceeded");
    let remaining_s = NOW.end_of_day().seconds_since(NOW).to_string();
    assert_eq!((reply.header("retry-after"), reply.header("cache-control")), (remaining_s.as_str(), "no-store"));
    let repeated = world.post(import.to_string(), &[JSON, KEY]).await;
    assert_eq!((repeated.status, id(&repeated.body)), (202, id(&first.body)), "a repeated create counts once");
    world.finish(id(&first.body), Status::Failed, 1).await;
    let retry = format!("/api/jobs/{}/retry", id(&first.body));
    world.call("POST", &retry, &[]).await.is_problem(429, "upload-quota-exceeded");
    assert_eq!(world.create(&json!({"jobType": "ping"})).await.status, 202, "a job without a file has no bytes");
    assert_eq!(world.as_tenant("another").create(&json!({"jobType": "ping"})).await.status, 202);
}

#[tokio::test]
async fn a_tenants_work_is_rate_limited_except_for_repeated_creates() {
    let store = MemoryStore::default().with_limits(TenantLimits { work_calls: 2, ..TenantLimits::default() });
    let world = World { store, ..World::default() };
    let ping = json!({"jobType": "ping"});
    let first = world.post(ping.to_string(), &[JSON, KEY]).await;
    assert_eq!((first.status, world.create(&ping).await.status), (202, 202));
    let reply = world.create(&ping).await;
    reply.is_problem(429, "rate-limited");
    let wait_s: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=11).contains(&wait_s), "{wait_s}");
    let path = format!("/api/jobs/{}", id(&first.body));
    let record = "/api/datasets/people/records?key=a".to_owned();
    let list = "/api/jobs?metadata%5Ba%5D=b".to_owned();
    for (method, path) in
        [("POST", format!("{path}/cancel")), ("DELETE", path.clone()), ("DELETE", record), ("GET", list)]
    {
        world.call(method, &path, &[]).await.is_problem(429, "rate-limited");
    }
    let repeated = world.post(ping.to_string(), &[JSON, KEY]).await;
    assert_eq!((repeated.status, id(&repeated.body)), (202, id(&first.body)));
    for path in [path.as_str(), "/api/jobs"] {
        assert_eq!(world.get(path).await.status, 200, "a read does not count");
    }
    assert_eq!(world.as_tenant("another").create(&ping).await.status, 202);
}

#[tokio::test]
async fn refused_retries_and_starts_count_toward_the_rate() {
    for call in ["retry", "start"] {
        let store = MemoryStore::default().with_limits(TenantLimits { work_calls: 2, ..TenantLimits::default() });
        let world = World { store, ..World::default() };
        let job = world.create(&json!({"jobType": "ping"})).await;
        let path = format!("/api/jobs/{}/{call}", id(&job.body));
        assert_eq!(world.call("POST", &path, &[]).await.status, 409, "{call}");
        world.call("POST", &path, &[]).await.is_problem(429, "rate-limited");
    }
}

/// A job type whose options are expensive to compile, and are then refused.
#[derive(Clone, Default)]
struct Expensive(Arc<AtomicU32>);

impl JobType for Expensive {
    const NAME: &'static str = "expensive";
    const INPUT: Input = Input::Options;
    type Options = Value;
    type Item = Value;
    type Output = ();

    fn check(&self, _: &Value) -> Vec<FieldError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        vec![FieldError::new("/schema", "invalid_schema", "too many patterns")]
    }

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        Outcome::Ok(())
    }
}

#[tokio::test]
async fn a_create_is_counted_before_its_options_are_compiled() {
    let store = MemoryStore::default().with_limits(TenantLimits { work_calls: 2, ..TenantLimits::default() });
    let world = World { store, ..World::default() };
    let expensive = Expensive::default();
    let registry = || Registry::default().with(expensive.clone());
    let api = || Api { registry: registry(), ..world.api::<InMemory>(world.queues.clone()) };
    let create = async |key: Option<&str>| {
        let mut request = Request::post("/api/jobs").header(JSON.0, JSON.1);
        if let Some(key) = key {
            request = request.header(KEY.0, key);
        }
        let request = request.body(Body::from(json!({"jobType": "expensive"}).to_string())).unwrap();
        router(api()).oneshot(world.signed_in(request)).await.unwrap().status().as_u16()
    };
    let answers = [create(None).await, create(Some("a")).await, create(None).await, create(Some("b")).await];
    assert_eq!(answers, [422, 422, 429, 429]);
    assert_eq!(expensive.0.load(Ordering::Relaxed), 2, "rate-limited creates are not compiled");
}

#[tokio::test]
async fn a_process_limits_the_calls_of_a_tenant() {
    let world = World { tenant_calls: Some(Rate { per_second: 1, burst: 3 }), ..World::default() };
    let router = router(world.api::<InMemory>(world.queues.clone()));
    let call = async |world: &World, method: &str| {
        let request = Request::builder().method(method).uri("/api/jobs").header(JSON.0, JSON.1);
        let request = request.body(Body::from(json!({"jobType": "ping"}).to_string())).unwrap();
        let answer = router.clone().oneshot(world.signed_in(request)).await.unwrap();
        (answer.status().as_u16(), answer.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned()))
    };
    for _ in 0..3 {
        assert_eq!(call(&world, "GET").await.0, 200);
    }
    assert_eq!(call(&world, "GET").await, (429, Some("2".into())));
    assert_eq!(call(&world, "POST").await.0, 202, "a create is counted by the store");
    assert_eq!(call(&world.as_tenant("another"), "GET").await.0, 200);
}

#[tokio::test]
async fn deeply_nested_json_is_refused() {
    let world = World::default();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = |depth: usize| {
            let value = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            format!("{{\"jobType\":\"ping\",\"options\":{{\"schema\":{value}}}}}")
        };
        let bomb = deep(200 * 1024 / (open.len() + close.len()));
        world.post(bomb, &[JSON]).await.is_problem(400, "malformed-json");
        let never_closed = format!("{{\"options\":{}", open.repeat(200 * 1024 / open.len()));
        world.post(never_closed, &[JSON]).await.is_problem(400, "malformed-json");
        assert_eq!(world.post(deep(100), &[JSON]).await.status, 202, "accepted JSON can be hashed and stored");
    }
    let mut import = world.import().await;
    let mut schema = json!({"type": "string"});
    for _ in 0..60 {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    import["options"]["schema"] = schema;
    let status = world.create(&import).await.status;
    assert!([202, 400, 422].contains(&status), "{status}");
}

#[tokio::test]
async fn every_route_limits_the_request_size() {
    let world = World::default();
    let job = world.job().await;
    for (method, path) in jobs_api::ROUTES {
        let to = path.replace("{jobId}", &job.to_string()).replace("{dataset}", "people").replace("{kind}", "busy");
        let send = async |uri: &str, header: (&str, usize), body: usize| {
            let request = Request::builder().method(method).uri(uri).header(JSON.0, JSON.1);
            let request = request.header(header.0, "x".repeat(header.1)).body(Body::from(" ".repeat(body))).unwrap();
            world.send(request).await
        };
        send(&to, ("x-a", 1), MAX_BODY + 1).await.is_problem(413, "body-too-large");
        send(&to, ("x-a", 10 * 1024), 0).await.is_problem(431, "headers-too-large");
        send(&to, ("if-none-match", 4 * 1024 + 1), 0).await.is_problem(431, "headers-too-large");
        send(&format!("{to}?cursor={}", "x".repeat(7 * 1024)), ("x-a", 1), 0).await.is_problem(414, "uri-too-long");
    }
    for path in ["/api/jobs", "/api/datasets/people/records"] {
        let reply = world.get(&format!("{path}?cursor={}", "x".repeat(3 * 1024))).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), [("/cursor", "invalid_cursor")], "{path}");
    }
    assert_eq!(world.store.job(job).await.unwrap().unwrap().status, Status::Waiting, "no request had an effect");
}
