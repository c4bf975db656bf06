//! `DELETE /api/jobs/{jobId}`: the job is hidden at once, stopped, and removed by the sweeper later.

use crate::world::{NOW, World};
use longshore::ports::upload_key;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Stage, Status, Stop};
use longshore_domain::ports::{JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use longshore_testing::MemoryFiles;

const JSON: (&str, &str) = ("content-type", "application/json");

/// Every call for one job.
const CALLS: [(&str, &str); 5] =
    [("GET", ""), ("GET", "/output"), ("POST", "/cancel"), ("POST", "/retry"), ("DELETE", "")];

async fn is_hidden(world: &World, id: JobId) {
    for (method, suffix) in CALLS {
        world.call(method, &format!("/api/jobs/{id}{suffix}"), &[]).await.is_problem(404, "not-found");
    }
}

#[tokio::test]
async fn a_deleted_job_is_hidden_stopped_and_left_to_the_sweeper() {
    let world = World::default();
    let id = world.job().await;
    world.store.begin(id, NOW).await.unwrap();
    let reply = world.call("DELETE", &format!("/api/jobs/{id}"), &[]).await;
    assert_eq!((reply.status, reply.body), (204, serde_json::Value::Null));
    is_hidden(&world, id).await;
    let job = world.store.job(id).await.unwrap().unwrap();
    assert_eq!((job.times.deleted_at, job.stage, job.stop), (Some(NOW), Stage::Stopping, Some(Stop::deleted(NOW))));
    assert_eq!(world.queues.take_completes().len(), 1);
    assert_eq!(world.unfinished().await, [id]);
}

#[tokio::test]
async fn a_deleted_job_that_has_ended_is_visible_to_the_sweeper() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Completed, 3).await;
    assert_eq!(world.unfinished().await, []);
    assert_eq!(world.call("DELETE", &format!("/api/jobs/{id}"), &[]).await.status, 204);
    is_hidden(&world, id).await;
    assert_eq!(world.unfinished().await, [id]);
    assert_eq!(world.store.job(id).await.unwrap().unwrap().status, Status::Completed, "a final status stays");
    assert_eq!(world.queues.take_completes(), []);
}

#[tokio::test]
async fn an_unknown_job_and_another_tenants_job_are_not_found() {
    let world = World::default();
    is_hidden(&world, JobId::generate()).await;
    let other_job = world.job_of("another").await;
    is_hidden(&world, other_job).await;
    assert_eq!(world.store.job(other_job).await.unwrap().unwrap().times.deleted_at, None);
}

#[tokio::test]
async fn if_match_protects_a_changed_job_from_deletion() {
    let world = World::default();
    let id = world.job().await;
    let path = format!("/api/jobs/{id}");
    let etag = world.get(&path).await.header("etag").to_owned();
    world.finish(id, Status::Completed, 0).await;
    world.call("DELETE", &path, &[("if-match", &etag)]).await.is_problem(412, "precondition-failed");
    let etag = world.get(&path).await.header("etag").to_owned();
    assert_eq!(world.call("DELETE", &path, &[("if-match", &etag)]).await.status, 204);
    world.call("DELETE", &path, &[("if-match", "*")]).await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_key_does_not_restore_its_deleted_job() {
    let world = World::default();
    let (request, key) = (world.import().await.to_string(), ("idempotency-key", "7c6f0a2e"));
    let first = world.post(request.clone(), &[JSON, key]).await;
    let id = JobId::parse(first.body["jobId"].as_str().unwrap()).unwrap();
    world.queues.take_creates();
    world.queues.forget_deduplication();
    assert_eq!(world.call("DELETE", &format!("/api/jobs/{id}"), &[]).await.status, 204);
    world.post(request.clone(), &[JSON, key]).await.is_problem(409, "job-deleted");
    let other = world.import().await.to_string();
    world.post(other, &[JSON, key]).await.is_problem(422, "idempotency-key-reused");
    // The sweeper removes the upload with the job.
    let upload = serde_json::from_str::<serde_json::Value>(&request).unwrap()["fileGuid"].clone();
    let upload = FileGuid::parse(upload.as_str().unwrap()).unwrap();
    MemoryFiles::remove(&world.files, &upload_key(&TenantId::from_static("default"), upload));
    world.post(request.clone(), &[JSON, key]).await.is_problem(409, "job-deleted");
    assert_eq!(world.queues.take_creates(), []);
    world.post(request, &[JSON, ("idempotency-key", "another")]).await.is_problem(422, "invalid-request");
}
