//! `POST /api/jobs/{jobId}/cancel`: permissions, states and messages.

use std::cell::Cell;

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, router};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Stage, Status, Stop};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryStore;
use serde_json::json;

use crate::world::{InMemory, NOW, Reply, World};

fn complete(job_id: JobId) -> CompleteMessage {
    CompleteMessage {
        job_id,
        generation: 0,
        resend: 0,
        step: 0,
        tenant: Some(TenantId::from_static("default")),
        failures: 0,
    }
}

#[tokio::test]
async fn a_canceled_waiting_job_stops_and_its_completion_is_requested() {
    let world = World::default();
    let id = world.job().await;
    let reply = world.cancel(id, &[]).await;
    assert_eq!((reply.status, reply.header("location")), (202, format!("/api/jobs/{id}").as_str()), "{}", reply.body);
    assert_eq!((reply.header("retry-after"), reply.header("cache-control")), ("1", "no-store"));
    assert_eq!((&reply.body["status"], &reply.body["stage"]), (&json!("waiting"), &json!("stopping")));
    assert_eq!(reply.body["links"]["cancel"], json!(null));
    let job = world.store.job(id).await.unwrap().unwrap();
    assert_eq!((job.stage, job.stop), (Stage::Stopping, Some(Stop::canceled(NOW))));
    assert_eq!(world.queues.take_completes(), [complete(id)]);
}

#[tokio::test]
async fn a_canceled_running_job_stops_with_its_progress() {
    let world = World::default();
    let id = world.job().await;
    world.store.begin(id, 0, NOW).await.unwrap();
    let job = world.store.job(id).await.unwrap().unwrap();
    let plan = ChunkPlan { first: 1, items: 2, start: 0, end: 20, oversize: false, keys: None };
    let manifest = Manifest { group: 0, chunks: vec![plan] };
    world.store.commit_group(&job, &GroupPlan::from_file(0, manifest, 0..20), NOW).await.unwrap();
    let reply = world.cancel(id, &[]).await;
    assert_eq!((reply.status, &reply.body["status"], &reply.body["itemCount"]), (202, &json!("running"), &json!(2)));
    assert_eq!(reply.body["message"], "Job stopping, 0% complete...");
}

#[tokio::test]
async fn a_repeated_cancel_returns_the_same_answer() {
    let world = World::default();
    let id = world.job().await;
    let first = world.cancel(id, &[]).await;
    // The first call died before sending its message; a repeated call sends it again.
    world.queues.take_completes();
    world.queues.forget_deduplication();
    let second = world.cancel(id, &[("if-match", "\"an older version\"")]).await;
    assert_eq!((second.status, &second.body), (202, &first.body));
    assert_eq!(world.queues.take_completes(), [complete(id)]);
}

#[tokio::test]
async fn the_first_reason_to_stop_stays() {
    let world = World::default();
    let id = world.job().await;
    let fatal = Stop { status: Status::Failed, error: None, at: NOW };
    world.store.stop(id, 0, &fatal).await.unwrap();
    assert_eq!(world.cancel(id, &[]).await.status, 202);
    assert_eq!(world.store.job(id).await.unwrap().unwrap().stop, Some(fatal));
}

#[tokio::test]
async fn a_cancel_of_an_ended_job_returns_its_status() {
    for (status, word) in [(Status::Completed, "completed"), (Status::Failed, "failed"), (Status::Canceled, "canceled")]
    {
        let world = World::default();
        let id = world.job().await;
        world.finish(id, status, 0).await;
        let before = world.store.job(id).await.unwrap();
        let reply = world.cancel(id, &[("if-match", "\"another\"")]).await;
        reply.is_problem(409, "job-ended");
        assert!(reply.body["detail"].as_str().unwrap().contains(word), "{}", reply.body);
        assert_eq!(world.store.job(id).await.unwrap(), before);
        assert_eq!(world.queues.take_completes(), []);
    }
}

#[tokio::test]
async fn an_unknown_job_and_another_tenants_job_are_not_found() {
    let world = World::default();
    world.cancel(JobId::generate(), &[]).await.is_problem(404, "not-found");
    let other_job = world.job_of("another").await;
    world.cancel(other_job, &[("if-match", "*")]).await.is_problem(404, "not-found");
    assert_eq!(world.store.job(other_job).await.unwrap().unwrap().stage, Stage::Queued);
    assert_eq!(world.queues.take_completes(), []);
}

thread_local!(static BEGINS: Cell<Option<(MemoryStore, JobId)>> = const { Cell::new(None) });

/// A clock that begins a job when it is first read.
fn begins() -> Timestamp {
    if let Some((store, id)) = BEGINS.take() {
        store.amend(id, |job, _| job.begin(0, NOW.plus_seconds(1)));
    }
    NOW
}

/// Sends a call with `If-Match`; the job begins after the call's first read of the clock.
async fn call_while_it_begins(world: &World, id: JobId, call: (&str, &str), etag: &str) -> Reply {
    BEGINS.set(Some((world.store.clone(), id)));
    let api = Api { clock: begins, ..world.api::<InMemory>(world.queues.clone()) };
    let request = Request::builder().method(call.0).uri(call.1).header("if-match", etag);
    world.send_unchanged(router(api), world.signed_in(request.body(Body::empty()).unwrap())).await
}

#[tokio::test]
async fn if_match_protects_a_job_that_changes_during_the_call() {
    for (method, end) in [("POST", "/cancel"), ("DELETE", "")] {
        let world = World::default();
        let id = world.job().await;
        let path = format!("/api/jobs/{id}");
        let etag = world.get(&path).await.header("etag").to_owned();
        let call = (method, format!("{path}{end}"));
        let reply = call_while_it_begins(&world, id, (call.0, &call.1), &etag).await;
        reply.is_problem(412, "precondition-failed");
        let job = world.store.job(id).await.unwrap().unwrap();
        assert_eq!((job.stage, job.times.deleted_at), (Stage::Splitting, None), "{method}");
        let other = world.job().await;
        let reply = call_while_it_begins(&world, other, (method, &format!("/api/jobs/{other}{end}")), "*").await;
        assert!([202, 204].contains(&reply.status), "any version matches: {}", reply.text);
    }
}

#[tokio::test]
async fn if_match_protects_a_changed_job_from_cancellation() {
    let world = World::default();
    let id = world.job().await;
    let etag = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    world.store.begin(id, 0, NOW).await.unwrap();
    for stale in [etag.clone(), format!("W/{etag}"), "\"a\", \"b\"".to_owned()] {
        world.cancel(id, &[("if-match", &stale)]).await.is_problem(412, "precondition-failed");
    }
    assert_eq!(world.store.job(id).await.unwrap().unwrap().stage, Stage::Splitting);
    let etag = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    assert_eq!(world.cancel(id, &[("if-match", &format!("\"a\", {etag}"))]).await.status, 202);
}
