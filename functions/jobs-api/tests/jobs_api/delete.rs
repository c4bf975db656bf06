//! `DELETE /api/jobs/{jobId}`: the job is hidden at once, stopped, and removed by the sweeper later.
//!
//! `DELETE /api/datasets/{dataset}/records?key=…`: the record is gone at once, whatever its key.

use crate::world::{NOW, World};
use longshore::ports::upload_key;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Stage, Status, Stop};
use longshore_domain::ports::{JobStore, JobTransitions, NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer};
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
    world.store.begin(id, 0, NOW).await.unwrap();
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

/// Path of the records that [`put`] writes.
const RECORDS: &str = "/api/datasets/people/records";

/// Writes records with these keys.
async fn put(world: &World, keys: &[&str]) {
    let dataset = Dataset { tenant: TenantId::from_static("default"), name: "people".into() };
    let writer = Writer { job: JobId::generate(), row: 1 };
    let record = |key: &&str| NewRecord { key: (*key).to_owned(), data: serde_json::Map::new(), writer };
    world.records.put(&dataset, Rule::Upsert, keys.iter().map(record).collect()).await;
}

/// Deletes a record. Every byte of the key is percent-encoded.
async fn delete_record(world: &World, key: &str) -> u16 {
    let key: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    world.call("DELETE", &format!("{RECORDS}?key={key}"), &[]).await.status
}

async fn keys(world: &World) -> Vec<String> {
    let body = world.get(RECORDS).await.body;
    let records = body["records"].as_array().unwrap();
    records.iter().map(|record| record["key"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_record_is_deleted_by_its_exact_key_and_the_call_can_be_repeated() {
    let world = World::default();
    let awkward = ["a", "a/b", "a%2Fb", "a?b", "a&key=c", "a b", "a+b", "a#b", "100%", "..", "Z\u{fc}rich \u{4e16}"];
    put(&world, &awkward).await;
    let mut expected = keys(&world).await;
    assert_eq!(expected.len(), awkward.len());
    for key in awkward.into_iter().rev() {
        expected.retain(|other| other != key);
        for _ in 0..2 {
            assert_eq!(delete_record(&world, key).await, 204, "{key}");
            assert_eq!(keys(&world).await, expected, "{key}");
        }
    }
    let datasets = world.get("/api/datasets").await.body;
    assert_eq!(datasets["datasets"][0]["name"], "people", "a dataset without records stays in the list");
}

#[tokio::test]
async fn a_key_that_no_record_can_have_is_refused() {
    let world = World::default();
    let longest = "k".repeat(1_024);
    put(&world, &["Z\u{fffd}rich", &longest]).await;
    let dataset = ("/dataset", "invalid_dataset");
    let key = ("/key", "invalid_record_key");
    for (call, errors) in [
        ("people/records".to_owned(), vec![("/key", "required")]),
        ("people/records?key=".into(), vec![key]),
        (format!("people/records?key={longest}k"), vec![key]),
        (format!("people/records?key=a&key={longest}"), vec![("/key", "repeated_parameter")]),
        (format!("people/records?key={}", "%C3%BC".repeat(513)), vec![key]),
        ("a%20b/records?key=a".into(), vec![dataset]),
        ("a%20b/records?key=".into(), vec![dataset, key]),
    ] {
        let reply = world.call("DELETE", &format!("/api/datasets/{call}"), &[]).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), errors, "{call}");
    }
    world.call("DELETE", &format!("{RECORDS}?key=Z%FCrich"), &[]).await.is_problem(400, "malformed-query");
    world.call("DELETE", "/api/datasets/%ff/records?key=a", &[]).await.is_problem(404, "not-found");
    assert_eq!(keys(&world).await.len(), 2);
    assert_eq!(delete_record(&world, &longest).await, 204);
    assert_eq!(keys(&world).await, ["Z\u{fffd}rich"]);
}
