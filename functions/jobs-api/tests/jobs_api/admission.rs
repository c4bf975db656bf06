//! Creates and retries while the queue of their priority is deep.

use axum::body::Body;
use axum::http::Request;
use jobs_api::router;
use lambda_http::tower::ServiceExt;
use longshore_domain::admission::FEW_JOBS;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, Priority, Status};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{JobStore, Queues};
use longshore_domain::tenant::DEFAULT_TENANT;
use serde_json::json;

use crate::limits::{JSON, KEY, id};
use crate::world::{InMemory, MAX_QUEUED_CHUNKS, NOW, World};

/// Queues this many chunks of a priority.
async fn queue_chunks(world: &World, priority: Priority, chunks: u64) {
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
    let job = Job { priority, ..Job::waiting(JobId::generate(), DEFAULT_TENANT.clone(), "ping", NOW) };
    let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    world.queues.take_chunks();
    world.queues.send_chunks(&vec![message; usize::try_from(chunks).unwrap()], 0).await.unwrap();
}

#[tokio::test]
async fn a_deep_queue_refuses_jobs_of_its_priority() {
    let world = World::default();
    let ping = |priority: &str| json!({"jobType": "ping", "priority": priority});
    queue_chunks(&world, Priority::Low, MAX_QUEUED_CHUNKS).await;
    assert_eq!(world.create(&ping("low")).await.status, 202, "the limit is not exceeded");
    queue_chunks(&world, Priority::Low, MAX_QUEUED_CHUNKS * 10 + 1).await;
    let reply = world.create(&ping("low")).await;
    reply.is_problem(503, "busy");
    assert_eq!((reply.header("retry-after"), reply.header("cache-control")), ("30", "no-store"));
    for priority in ["normal", "high"] {
        assert_eq!(world.create(&ping(priority)).await.status, 202, "{priority}");
    }
    world.create(&json!({"jobType": "pong", "priority": "low"})).await.is_problem(422, "invalid-request");
}

#[tokio::test]
async fn a_repeated_create_succeeds_while_the_queue_is_deep() {
    let world = World::default();
    let request = world.import().await.to_string();
    let first = world.post(request.clone(), &[JSON, KEY]).await;
    queue_chunks(&world, Priority::Normal, MAX_QUEUED_CHUNKS * 10 + 1).await;
    let repeated = world.post(request.clone(), &[JSON, KEY]).await;
    assert_eq!((repeated.status, id(&repeated.body)), (202, id(&first.body)));
    let other = world.import().await.to_string();
    world.post(other.clone(), &[JSON, KEY]).await.is_problem(422, "idempotency-key-reused");
    world.post(other.clone(), &[JSON, ("idempotency-key", "monday-2")]).await.is_problem(503, "busy");
    world.post(other.clone(), &[JSON]).await.is_problem(503, "busy");
    queue_chunks(&world, Priority::Normal, 0).await;
    let later = world.post(other, &[JSON, ("idempotency-key", "monday-2")]).await;
    assert_eq!(later.status, 202, "a refused create leaves no key");
}

#[tokio::test]
async fn a_deep_queue_refuses_retries_and_allows_other_calls() {
    let world = World::default();
    let ended = world.job().await;
    world.finish(ended, Status::Failed, 1).await;
    queue_chunks(&world, Priority::Normal, MAX_QUEUED_CHUNKS * 10 + 1).await;
    let path = format!("/api/jobs/{ended}");
    let reply = world.call("POST", &format!("{path}/retry"), &[]).await;
    reply.is_problem(503, "busy");
    assert_eq!(reply.header("retry-after"), "30");
    assert_eq!(world.store.job(ended).await.unwrap().unwrap().generation, 0);
    for (method, path, status) in [("GET", path.clone(), 200), ("GET", "/api/jobs".into(), 200), ("DELETE", path, 204)]
    {
        assert_eq!(world.call(method, &path, &[]).await.status, status, "{method} {path}");
    }
}

#[tokio::test]
async fn a_backlog_refuses_only_tenants_with_active_jobs() {
    let world = World::default();
    let ping = json!({"jobType": "ping"});
    queue_chunks(&world, Priority::Normal, MAX_QUEUED_CHUNKS + 1).await;
    for _ in 0..FEW_JOBS {
        assert_eq!(world.create(&ping).await.status, 202);
    }
    world.create(&ping).await.is_problem(503, "busy");
    assert_eq!(world.as_tenant("another").create(&ping).await.status, 202, "a tenant without active jobs");
    queue_chunks(&world, Priority::Normal, MAX_QUEUED_CHUNKS * 10 + 1).await;
    world.as_tenant("another").create(&ping).await.is_problem(503, "busy");
}

#[tokio::test]
async fn a_process_caches_the_queue_depth() {
    let world = World::default();
    let router = router(world.api::<InMemory>(world.queues.clone()));
    let create = async || {
        let request = Request::post("/api/jobs").header(JSON.0, JSON.1);
        let request = request.body(Body::from(json!({"jobType": "ping"}).to_string())).unwrap();
        router.clone().oneshot(world.signed_in(request)).await.unwrap().status()
    };
    assert_eq!(create().await, 202);
    queue_chunks(&world, Priority::Normal, MAX_QUEUED_CHUNKS * 10 + 1).await;
    assert_eq!(create().await, 202, "the cached depth");
}
