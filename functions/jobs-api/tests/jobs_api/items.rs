//! `POST /api/jobs` with items: what is stored, the requests that are refused, repeated calls, and starts.

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, router};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{JobStore, TenantLimits};
use longshore_domain::records::Format;
use longshore_testing::MemoryStore;
use serde_json::{Value, json};

use crate::limits::{JSON, KEY, id};
use crate::world::{FILE, InMemory, NOW, Reply, World, folder};

/// The items of [`request`] as JSON Lines.
const LINES: &str = "{\"id\":\"1\",\"note\":\"a\\nb\"}\n{\"id\":\"2\"}\n";

/// A valid request with two items.
fn request() -> Value {
    let items = json!([{"id": "1", "note": "a\nb"}, {"id": "2"}]);
    json!({"jobType": "import", "items": items, "options": {"dataset": "people", "key": "id"}})
}

async fn stored(world: &World, id: JobId) -> Job {
    world.store.job(id).await.unwrap().unwrap()
}

/// Limits a tenant to this many bytes of its jobs' sources a day.
fn with_daily_bytes(job_bytes_per_day: u64) -> World {
    let limits = TenantLimits { job_bytes_per_day, ..TenantLimits::default() };
    World { store: MemoryStore::default().with_limits(limits), ..World::default() }
}

/// Returns the keys of all stored sources.
fn sources(world: &World) -> Vec<String> {
    world.files.keys().into_iter().filter(|key| key.ends_with("/source.jsonl")).collect()
}

#[tokio::test]
async fn items_become_a_json_lines_file_in_the_folder_of_the_job() {
    let world = World::default();
    let reply = world.create(&request()).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let id = id(&reply.body);
    let source = stored(&world, id).await.file().unwrap().clone();
    assert_eq!((source.key.as_str(), source.upload()), (folder(id).source_key().as_str(), None));
    assert!(source.key.starts_with(&folder(id).prefix()), "a delete removes it with the folder");
    assert_eq!(world.files.get(&source.key).unwrap(), LINES.as_bytes());
    assert_eq!((source.size_bytes, source.format), (LINES.len() as u64, Format::JsonLines));
    assert!(!source.etag.is_empty());
    assert_eq!(reply.body["source"], json!({"kind": "items", "sizeBytes": LINES.len()}));
    assert_eq!(reply.body["fileName"], Value::Null);
    assert_eq!(world.queues.take_creates().len(), 1);
    assert!(stored(&world, id).await.uploads().is_empty());
}

#[tokio::test]
async fn the_document_shows_the_source_of_a_file_and_of_one_item() {
    let world = World::default();
    let import = world.create(&world.import().await).await;
    assert_eq!(import.body["source"], json!({"kind": "file", "name": "people.csv", "sizeBytes": FILE.len()}));
    let ping = world.create(&json!({"jobType": "ping"})).await;
    assert_eq!(ping.body["source"], Value::Null);
}

#[tokio::test]
async fn a_request_has_either_a_file_or_items_if_its_type_takes_a_file() {
    let world = World::default();
    let file = world.upload(|_| {}, Some(FILE)).await;
    let with = |members: Value| {
        let mut body = request();
        let body_members = body.as_object_mut().unwrap();
        body_members.extend(members.as_object().unwrap().clone());
        body
    };
    let too_many: Vec<_> = (0..10_001).map(|id| json!({"id": id.to_string()})).collect();
    for (body, faults) in [
        (with(json!({"fileGuid": file})), vec![("/items", "file_and_items")]),
        (with(json!({"fileGuid": file, "items": []})), vec![("/items", "file_and_items"), ("/items", "no_items")]),
        (
            with(json!({"fileGuid": FileGuid::generate()})),
            vec![("/items", "file_and_items"), ("/fileGuid", "unknown_file")],
        ),
        (with(json!({"items": null})), vec![("/fileGuid", "file_required")]),
        (with(json!({"items": []})), vec![("/items", "no_items")]),
        (with(json!({"items": {"0": {}}})), vec![("/items", "invalid_type")]),
        (with(json!({"items": "[]"})), vec![("/items", "invalid_type")]),
        (with(json!({"items": too_many})), vec![("/items", "too_many_items")]),
        (with(json!({"items": ["x".repeat(2 << 20)]})), vec![("/items", "items_too_large")]),
        (
            with(json!({"items": [{}, 1, [], {"a": 1}, null]})),
            ["/items/1", "/items/2", "/items/4"].map(|pointer| (pointer, "item_not_an_object")).into(),
        ),
        (
            with(json!({"items": [1], "options": {"dataset": "a b", "key": "id"}})),
            vec![("/items/0", "item_not_an_object"), ("/options/dataset", "invalid_dataset")],
        ),
        (json!({"jobType": "ping", "items": [1]}), vec![("/items", "items_not_allowed")]),
        (json!({"jobType": "pong", "items": []}), vec![("/jobType", "unknown_job_type"), ("/items", "no_items")]),
    ] {
        let reply = world.create(&body).await;
        reply.is_problem(422, "invalid-request");
        let mut errors = reply.field_errors();
        let mut faults = faults;
        errors.sort_unstable();
        faults.sort_unstable();
        assert_eq!(errors, faults, "{}", reply.body);
    }
    assert!(sources(&world).is_empty(), "a refused request has written a file");
    assert!(world.unfinished().await.is_empty());
}

/// A job type that takes any items.
struct Anything;

impl JobType for Anything {
    const NAME: &'static str = "anything";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        Outcome::Ok(())
    }
}

async fn create_anything(world: &World, body: String) -> Reply {
    let api = Api { registry: Registry::default().with(Anything), ..world.api::<InMemory>(world.queues.clone()) };
    let request = Request::post("/api/jobs").header(JSON.0, JSON.1).body(Body::from(body)).unwrap();
    world.send_unchanged(router(api), world.signed_in(request)).await
}

#[tokio::test]
async fn an_item_of_a_custom_job_type_is_any_json_value() {
    let world = World::default();
    let body = "{\"items\": [null, 1.50, \"a\\u0000\\n\",\n [ 1 ], {\"b\": {}}], \"jobType\": \"anything\"}";
    let reply = create_anything(&world, body.to_owned()).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let lines = world.files.get(&folder(id(&reply.body)).source_key()).unwrap();
    assert_eq!(String::from_utf8(lines).unwrap(), "null\n1.50\n\"a\\u0000\\n\"\n[1]\n{\"b\":{}}\n");
}

#[tokio::test]
async fn the_largest_items_and_the_largest_options_fit_into_one_request() {
    let world = World::default();
    let items = vec![json!("x".repeat((2 << 20) / 10_000 - 3)); 10_000];
    let options = json!({"a": "x".repeat(127 * 1024)});
    let body = json!({"jobType": "anything", "items": items, "options": options});
    let reply = create_anything(&world, body.to_string()).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let size_bytes = reply.body["source"]["sizeBytes"].as_u64().unwrap();
    assert!(((2 << 20) - 10_000..=2 << 20).contains(&size_bytes), "{size_bytes}");
    let options = json!({"a": "x".repeat(129 * 1024)});
    let reply = create_anything(&world, json!({"jobType": "anything", "items": [1], "options": options}).to_string());
    assert_eq!(reply.await.field_errors(), [("/options", "options_too_large")]);
    for body in [
        json!({"jobType": "anything", "items": [1], "other": "x".repeat(257 * 1024)}),
        json!({"jobType": "anything", "items": ["x".repeat(2 << 20), "x".repeat(256 * 1024)]}),
    ] {
        create_anything(&world, body.to_string()).await.is_problem(413, "body-too-large");
    }
}

#[tokio::test]
async fn deeply_nested_items_are_left_to_the_handler() {
    let world = World::default();
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let body = format!("{{\"jobType\":\"anything\",\"items\":[{deep}]}}");
    assert_eq!(create_anything(&world, body).await.status, 202);
    let broken = format!("{{\"jobType\":\"anything\",\"items\":[{}", "[".repeat(500_000));
    create_anything(&world, broken).await.is_problem(400, "malformed-json");
}

#[tokio::test]
async fn a_repeated_key_is_answered_before_anything_is_written() {
    let world = World::default();
    let first = world.post(request().to_string(), &[JSON, KEY]).await;
    assert_eq!(first.status, 202, "{}", first.body);
    let written = sources(&world);
    let spaced = format!("{:#}", request());
    let second = world.post(spaced, &[JSON, KEY]).await;
    assert_eq!((second.status, id(&second.body)), (202, id(&first.body)), "white space has no meaning");
    let mut other = request();
    other["items"][1]["id"] = json!("3");
    world.post(other.to_string(), &[JSON, KEY]).await.is_problem(422, "idempotency-key-reused");
    let mut file = request();
    file.as_object_mut().unwrap().remove("items");
    file["fileGuid"] = json!(world.upload(|_| {}, Some(FILE)).await);
    world.post(file.to_string(), &[JSON, KEY]).await.is_problem(422, "idempotency-key-reused");
    assert_eq!(sources(&world), written);
}

#[tokio::test]
async fn items_count_toward_the_daily_bytes_and_a_refused_request_leaves_no_file() {
    let world = with_daily_bytes(2 * LINES.len() as u64);
    for _ in 0..2 {
        assert_eq!(world.create(&request()).await.status, 202);
    }
    world.create(&request()).await.is_problem(429, "upload-quota-exceeded");
    assert_eq!(sources(&world).len(), 2);
    assert_eq!(world.unfinished().await.len(), 2);
}

async fn validated(world: &World) -> JobId {
    let mut body = request();
    body["options"]["mode"] = json!("validate");
    let id = id(&world.create(&body).await.body);
    world.finish(id, Status::Completed, 0).await;
    id
}

#[tokio::test]
async fn a_started_import_has_a_copy_of_the_validated_items() {
    let world = World::default();
    let checked = validated(&world).await;
    let reply = world.call("POST", &format!("/api/jobs/{checked}/start"), &[]).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let started = id(&reply.body);
    world.files.remove(&folder(checked).source_key());
    let source = stored(&world, started).await.file().unwrap().clone();
    assert_eq!(source.key, folder(started).source_key());
    assert_eq!(world.files.get(&source.key).unwrap(), LINES.as_bytes());
    assert_eq!(reply.body["source"], json!({"kind": "items", "sizeBytes": LINES.len()}));
    let again = world.call("POST", &format!("/api/jobs/{checked}/start"), &[]).await;
    assert_eq!((again.status, id(&again.body)), (202, started));
    assert_eq!(sources(&world), [folder(started).source_key()]);
}

#[tokio::test]
async fn missing_or_changed_items_are_not_started() {
    for changed in [None, Some("{\"id\":\"1\",\"note\":\"a\\nc\"}\n{\"id\":\"2\"}\n")] {
        let world = World::default();
        let checked = validated(&world).await;
        let key = folder(checked).source_key();
        match changed {
            Some(lines) => world.files.put(&key, lines),
            None => world.files.remove(&key),
        }
        world.call("POST", &format!("/api/jobs/{checked}/start"), &[]).await.is_problem(409, "file-gone");
        assert_eq!(stored(&world, checked).await.validation.started_as, None);
        assert!(sources(&world).iter().all(|left| *left == key));
    }
}

#[tokio::test]
async fn a_refused_start_leaves_no_copy() {
    let world = with_daily_bytes(LINES.len() as u64);
    let checked = validated(&world).await;
    world.call("POST", &format!("/api/jobs/{checked}/start"), &[]).await.is_problem(429, "upload-quota-exceeded");
    assert_eq!(sources(&world), [folder(checked).source_key()]);
    assert_eq!(stored(&world, checked).await.times.created_at, NOW);
}

#[tokio::test]
async fn items_can_be_retried_with_a_corrected_file() {
    let world = World::default();
    let job = id(&world.create(&request()).await.body);
    world.finish(job, Status::Completed, 1).await;
    let corrected = "row,item\n2,\"{\"\"id\"\":\"\"3\"\"}\"\n";
    let size_bytes = corrected.len() as u64;
    let file = world.upload(|upload| upload.size_bytes = size_bytes, Some(corrected)).await;
    let reply = world.post_to(&format!("/api/jobs/{job}/retry"), &json!({"fileGuid": file})).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let job = stored(&world, job).await;
    assert_eq!(job.uploads(), [file].into(), "the corrected file is an upload, the items are not");
    assert_eq!(reply.body["source"]["kind"], "items");
}
