//! Jobs that start later: their documents, their limits, and what is sent.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Status, Transition};
use longshore_domain::ports::{JobStore, JobTransitions};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{NOW, Reply, World};

async fn create(world: &World, start_at: Value) -> Reply {
    world.create(&json!({ "jobType": "ping", "startAt": start_at })).await
}

fn in_seconds(seconds: i64) -> Value {
    json!(NOW.plus_seconds(seconds).to_rfc3339())
}

#[tokio::test]
async fn a_scheduled_job_is_not_sent_and_its_times_count_from_its_start() {
    let world = World::default();
    let reply = create(&world, in_seconds(3_600)).await;
    assert_eq!((reply.status, &reply.body["startAt"]), (202, &in_seconds(3_600)), "{}", reply.body);
    assert_eq!((&reply.body["status"], &reply.body["stage"]), (&json!("waiting"), &json!("queued")));
    assert!(reply.body["message"].as_str().unwrap().starts_with("Job scheduled for "), "{}", reply.body);
    assert_eq!(world.queues.take_creates().len(), 0);
    let id = JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap();
    let job = world.store.job(id).await.unwrap().unwrap();
    let start = NOW.plus_seconds(3_600);
    assert_eq!((job.is_scheduled, job.times.deadline_at), (true, start.plus_seconds(job.times.timeout_s)));
    assert_eq!(job.times.created_at, NOW);
    let (seconds, nanos) = id.0.get_timestamp().unwrap().to_unix();
    assert_eq!(
        Timestamp(seconds as i64 * 1_000 + i64::from(nanos) / 1_000_000),
        start,
        "its writes count as made then"
    );
    assert_eq!(world.store.due_jobs(start.plus_seconds(1), 9).await.unwrap(), [id]);
}

#[tokio::test]
async fn a_repeated_create_of_a_scheduled_job_sends_nothing() {
    let world = World::default();
    let body = json!({ "jobType": "ping", "startAt": in_seconds(60) }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "7c6f0a2e")];
    let [first, second] = [world.post(body.clone(), &headers).await, world.post(body, &headers).await];
    assert_eq!((second.status, &second.body["jobId"]), (202, &first.body["jobId"]));
    assert_eq!(world.queues.take_creates().len(), 0);
}

#[tokio::test]
async fn a_start_that_is_not_in_the_future_is_at_once() {
    for start_at in [in_seconds(0), in_seconds(-9), Value::Null] {
        let world = World::default();
        let reply = create(&world, start_at).await;
        assert_eq!((reply.status, reply.body.get("startAt")), (202, None));
        assert_eq!(world.queues.take_creates().len(), 1);
    }
}

#[tokio::test]
async fn a_start_is_a_time_at_which_the_source_is_still_kept() {
    let world = World::default();
    for (start_at, code) in
        [(json!("tomorrow"), "invalid_time"), (json!(7), "invalid_time"), (in_seconds(400 * 86_400), "start_too_late")]
    {
        let reply = create(&world, start_at).await;
        let error = &reply.body["errors"][0];
        assert_eq!((reply.status, &error["pointer"], &error["code"]), (422, &json!("/startAt"), &json!(code)));
    }
}

#[tokio::test]
async fn a_scheduled_job_is_canceled_and_deleted_like_any_other() {
    let world = World::default();
    let reply = create(&world, in_seconds(3_600)).await;
    let id = JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap();
    assert_eq!(world.cancel(id, &[]).await.status, 202);
    assert_eq!(world.store.due_jobs(NOW.plus_seconds(9_999), 9).await.unwrap(), []);
    assert_eq!(world.unfinished().await, [id]);
    let job = world.store.job(id).await.unwrap().unwrap();
    assert_eq!(world.store.enqueue(&job, NOW).await.unwrap(), Transition::Refused);
    world.finish(id, Status::Canceled, 0).await;
    let retried = world.call("POST", &format!("/api/jobs/{id}/retry"), &[]).await;
    assert_eq!((retried.status, &retried.body["type"]), (409, &json!("/api/problems/nothing-to-retry")));
    let deleted = create(&world, in_seconds(60)).await;
    let path = format!("/api/jobs/{}", deleted.body["jobId"].as_str().unwrap());
    assert_eq!(world.call("DELETE", &path, &[]).await.status, 204);
    assert_eq!(world.store.due_jobs(NOW.plus_seconds(9_999), 9).await.unwrap(), []);
}
