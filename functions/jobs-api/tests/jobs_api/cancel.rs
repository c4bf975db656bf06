//! `POST /api/jobs/{jobId}/cancel`: permissions, states and messages.

use crate::world::{NOW, World};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Stage, Status, Stop};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use serde_json::json;

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
async fn a_waiting_job_stops_and_its_completion_is_asked_for() {
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
async fn a_running_job_stops_with_what_it_has() {
    let world = World::default();
    let id = world.job().await;
    world.store.begin(id, NOW).await.unwrap();
    let job = world.store.job(id).await.unwrap().unwrap();
    let plan = ChunkPlan { first: 1, items: 2, start: 0, end: 20, oversize: false };
    let manifest = Manifest { group: 0, chunks: vec![plan] };
    world.store.commit_group(&job, &GroupPlan::of_file(0, manifest, 0..20), NOW).await.unwrap();
    let reply = world.cancel(id, &[]).await;
    assert_eq!((reply.status, &reply.body["status"], &reply.body["itemCount"]), (202, &json!("running"), &json!(2)));
    assert_eq!(reply.body["message"], "Job stopping, 0% complete...");
}

#[tokio::test]
async fn a_job_that_stops_is_canceled_again_with_the_same_answer() {
    let world = World::default();
    let id = world.job().await;
    let first = world.cancel(id, &[]).await;
    // The first call died before sending its message; a repeated call sends it again.
    world.queues.take_completes();
    world.queues.forget_deduplication();
    let second = world.cancel(id, &[("if-match", "\"what the client saw before\"")]).await;
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
async fn a_job_that_has_ended_says_how() {
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
async fn a_job_of_nobody_or_of_another_is_not_there() {
    let world = World::default();
    world.cancel(JobId::generate(), &[]).await.is_problem(404, "not-found");
    let theirs = world.job_of("another").await;
    world.cancel(theirs, &[("if-match", "*")]).await.is_problem(404, "not-found");
    assert_eq!(world.store.job(theirs).await.unwrap().unwrap().stage, Stage::Queued);
    assert_eq!(world.queues.take_completes(), []);
}

#[tokio::test]
async fn a_job_that_changes_between_the_look_and_the_write_is_left_alone_if_its_client_asks_for_that() {
    for (method, end) in [("POST", "/cancel"), ("DELETE", "")] {
        let world = World::default();
        let id = world.job().await;
        let path = format!("/api/jobs/{id}");
        let seen = world.get(&path).await.header("etag").to_owned();
        let call = (method, format!("{path}{end}"));
        let reply = world.call_while_it_begins(id, (call.0, &call.1), &seen).await;
        reply.is_problem(412, "precondition-failed");
        let job = world.store.job(id).await.unwrap().unwrap();
        assert_eq!((job.stage, job.times.deleted_at), (Stage::Splitting, None), "{method}");
        let other = world.job().await;
        let reply = world.call_while_it_begins(other, (method, &format!("/api/jobs/{other}{end}")), "*").await;
        assert!([202, 204].contains(&reply.status), "any job is the one: {}", reply.text);
    }
}

#[tokio::test]
async fn a_job_that_has_changed_since_is_left_alone_if_its_client_asks_for_that() {
    let world = World::default();
    let id = world.job().await;
    let seen = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    world.store.begin(id, NOW).await.unwrap();
    for stale in [seen.clone(), format!("W/{seen}"), "\"a\", \"b\"".to_owned()] {
        world.cancel(id, &[("if-match", &stale)]).await.is_problem(412, "precondition-failed");
    }
    assert_eq!(world.store.job(id).await.unwrap().unwrap().stage, Stage::Splitting);
    let seen = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    assert_eq!(world.cancel(id, &[("if-match", &format!("\"a\", {seen}"))]).await.status, 202);
}
