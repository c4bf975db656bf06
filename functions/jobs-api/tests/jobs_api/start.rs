//! `POST /api/jobs/{jobId}/start`: an import is started from a validation job, once.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{JobStore, JobTransitions};
use serde_json::json;

use crate::world::{NOW, Reply, World};

/// Creates a validation job.
async fn create_validation(world: &World) -> JobId {
    let mut request = world.import().await;
    request["options"]["mode"] = "validate".into();
    request["options"]["maxFailed"] = 7.into();
    request["timeoutSeconds"] = 99.into();
    let reply = world.create(&request).await;
    assert_eq!((reply.status, &reply.body["links"]["start"]), (202, &json!(null)), "{}", reply.body);
    world.queues.take_creates();
    JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap()
}

async fn start(world: &World, id: JobId, headers: &[(&str, &str)]) -> Reply {
    world.call("POST", &format!("/api/jobs/{id}/start"), headers).await
}

fn job_id(reply: &Reply) -> JobId {
    assert_eq!(reply.status, 202, "{}", reply.body);
    JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_validated_job_is_started_with_the_same_request() {
    let world = World::default();
    let id = create_validation(&world).await;
    world.finish(id, Status::Completed, 3).await;
    let validation = world.get(&format!("/api/jobs/{id}")).await.body;
    assert_eq!(validation["links"]["start"], json!(format!("/api/jobs/{id}/start")));
    let reply = start(&world, id, &[]).await;
    let started = job_id(&reply);
    assert_ne!(started, id);
    assert_eq!((reply.header("location"), reply.header("retry-after")), (&*format!("/api/jobs/{started}"), "1"));
    assert_eq!((&reply.body["status"], &reply.body["startedFrom"]), (&json!("waiting"), &json!(id)));
    let estimate = &reply.body["costEstimate"];
    assert!(estimate["assumedWriteMicros"] == 1_000 && estimate.get("assumedItemBytes").is_none(), "{estimate}");
    let (checked, job) =
        (world.store.job(id).await.unwrap().unwrap(), world.store.job(started).await.unwrap().unwrap());
    let options = world.store.definition(started).await.unwrap().unwrap().options;
    assert_eq!(options, json!({"dataset": "people", "key": "id", "mode": "upsert", "maxFailed": 7}));
    let request = |job: &Job| (job.source.clone(), job.tolerance, job.times.timeout_s, job.tenant.clone());
    assert_eq!(request(&job), request(&checked));
    assert_eq!(job.trace_id(), checked.trace_id());
    assert_eq!((job.times.timeout_s, job.times.deadline_at), (99, NOW.plus_seconds(99)));
    assert_eq!(
        (checked.status, checked.validation.started_as, checked.is_startable()),
        (Status::Completed, Some(started), false)
    );
    assert_eq!(world.queues.take_creates().iter().map(|sent| sent.job_id).collect::<Vec<_>>(), [started]);
}

#[tokio::test]
async fn a_repeated_start_returns_the_first_job() {
    let world = World::default();
    let id = create_validation(&world).await;
    world.finish(id, Status::Completed, 0).await;
    let etag = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    let first = start(&world, id, &[("if-match", &etag)]).await;
    // The first call died before sending its message; a client without a reply repeats the request.
    world.queues.take_creates();
    world.queues.forget_deduplication();
    let second = start(&world, id, &[("if-match", &etag)]).await;
    assert_eq!((second.status, &second.body), (202, &first.body));
    assert_eq!(world.queues.take_creates().len(), 1);
    world.store.begin(job_id(&first), 0, NOW).await.unwrap();
    let third = start(&world, id, &[]).await;
    assert_eq!((job_id(&third), &third.body["status"]), (job_id(&first), &json!("running")));
    assert_eq!(world.queues.take_creates(), []);
    world.store.delete(job_id(&first), NOW).await.unwrap();
    start(&world, id, &[]).await.is_problem(409, "job-deleted");
}

#[tokio::test]
async fn concurrent_starts_create_a_single_job() {
    let world = World::default();
    let id = create_validation(&world).await;
    world.finish(id, Status::Completed, 0).await;
    let replies = futures::future::join_all((0..8).map(|_| start(&world, id, &[]))).await;
    let started: std::collections::BTreeSet<_> = replies.iter().map(job_id).collect();
    assert_eq!(started.len(), 1);
    assert_eq!(world.get("/api/jobs").await.body["jobs"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn only_completed_validations_are_started() {
    let world = World::default();
    let import = world.job().await;
    start(&world, import, &[]).await.is_problem(409, "nothing-to-start");
    world.finish(import, Status::Completed, 0).await;
    start(&world, import, &[]).await.is_problem(409, "nothing-to-start");
    let running = create_validation(&world).await;
    start(&world, running, &[("if-match", "\"another\"")]).await.is_problem(409, "not-ended");
    for status in [Status::Failed, Status::Canceled] {
        let stopped = create_validation(&world).await;
        world.finish(stopped, status, 9).await;
        start(&world, stopped, &[]).await.is_problem(409, "not-validated");
    }
    let changed = create_validation(&world).await;
    world.finish(changed, Status::Completed, 0).await;
    start(&world, changed, &[("if-match", "\"another\"")]).await.is_problem(412, "precondition-failed");
    world.store.delete(changed, NOW).await.unwrap();
    start(&world, changed, &[]).await.is_problem(404, "not-found");
    start(&world, world.job_of("another").await, &[]).await.is_problem(404, "not-found");
    assert_eq!(world.queues.take_creates(), []);
}

#[tokio::test]
async fn a_missing_or_replaced_file_is_not_started() {
    for replaced in [None, Some("id,name\n1,Eve\n2,Bob\n")] {
        let world = World::default();
        let id = create_validation(&world).await;
        world.finish(id, Status::Completed, 0).await;
        let key = world.store.job(id).await.unwrap().unwrap().file().unwrap().key.clone();
        match replaced {
            Some(bytes) => world.files.put(&key, bytes),
            None => world.files.remove(&key),
        }
        start(&world, id, &[]).await.is_problem(409, "file-gone");
        assert_eq!(world.store.job(id).await.unwrap().unwrap().validation.started_as, None);
    }
}
