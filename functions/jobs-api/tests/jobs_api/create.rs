//! `POST /api/jobs`: accepted and refused requests, error pointers, and repeated calls.

use crate::world::{FILE, NOW, World};
use longshore::http::MAX_BODY;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, Priority};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::JobStore;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn stored(world: &World, body: &Value) -> Job {
    let id = JobId::parse(body["jobId"].as_str().unwrap()).unwrap();
    world.store.job(id).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_job_is_accepted_stored_and_sent() {
    let world = World::default();
    let mut request = world.import().await;
    request["options"]["maxFailed"] = json!(3);
    let reply = world.create(&request).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let job = stored(&world, &reply.body).await;
    assert_eq!(reply.header("location"), format!("/api/jobs/{}", job.job_id));
    assert_eq!(reply.header("retry-after"), "1");
    assert_eq!((&reply.body["status"], &reply.body["stage"]), (&json!("waiting"), &json!("queued")));
    assert_eq!(reply.body["message"], "Waiting for job to start...");
    let source = job.file().unwrap().clone();
    assert_eq!(
        (source.size_bytes, source.format, source.name.as_str()),
        (FILE.len() as u64, Format::Csv, "people.csv")
    );
    assert!(!source.etag.is_empty());
    assert_eq!(job.tolerance.max_failed, Some(3));
    assert_eq!(job.times.deadline_at, NOW.plus_seconds(3_600));
    assert_eq!(job.times.expires_at, NOW.plus_seconds(14 * 86_400).seconds());
    let definition = world.store.definition(job.job_id).await.unwrap().unwrap();
    assert_eq!((definition.options, definition.columns), (request["options"].clone(), None));
    let message = CreateMessage { tenant: Some(TenantId::from_static("default")), ..CreateMessage::of_job(job.job_id) };
    assert_eq!(world.queues.take_creates(), [message]);
}

#[tokio::test]
async fn a_job_without_a_file_is_accepted() {
    let world = World::default();
    let reply = world.create(&json!({"jobType": "ping"})).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let job = stored(&world, &reply.body).await;
    assert_eq!((job.source, job.times.deadline_at), (None, NOW.plus_seconds(7)));
}

#[tokio::test]
async fn a_job_has_the_requested_priority_or_the_normal_one() {
    let world = World::default();
    for (requested, priority) in [
        (json!("high"), Priority::High),
        (json!("normal"), Priority::Normal),
        (json!("low"), Priority::Low),
        (Value::Null, Priority::Normal),
    ] {
        let reply = world.create(&json!({"jobType": "ping", "priority": requested})).await;
        assert_eq!((reply.status, &reply.body["priority"]), (202, &json!(priority)), "{}", reply.body);
        assert_eq!(stored(&world, &reply.body).await.priority, priority);
    }
    let reply = world.create(&json!({"jobType": "ping"})).await;
    assert_eq!(reply.body["priority"], "normal");
}

#[tokio::test]
async fn a_job_can_have_a_shorter_timeout() {
    let world = World::default();
    for (body, timeout_s) in [
        (json!({"jobType": "ping"}), 7),
        (json!({"jobType": "ping", "timeoutSeconds": null}), 7),
        (json!({"jobType": "ping", "timeoutSeconds": 7}), 7),
        (json!({"jobType": "ping", "timeoutSeconds": 1}), 1),
    ] {
        let reply = world.create(&body).await;
        assert_eq!((reply.status, &reply.body["timeoutSeconds"]), (202, &json!(timeout_s)), "{}", reply.body);
        assert_eq!(stored(&world, &reply.body).await.times.deadline_at, NOW.plus_seconds(timeout_s));
        assert_eq!(reply.body["deadlineAt"], NOW.plus_seconds(timeout_s).to_rfc3339());
    }
}

#[tokio::test]
async fn json_lines_are_recognized_by_the_file_name() {
    let world = World::default();
    let file = world.upload(|upload| upload.file_name = "people.jsonl".into(), Some(FILE)).await;
    let options = json!({"dataset": "people", "key": "id"});
    let reply = world.create(&json!({"jobType": "import", "fileGuid": file, "options": options})).await;
    assert_eq!(stored(&world, &reply.body).await.file().unwrap().format, Format::JsonLines);
}

#[tokio::test]
async fn every_invalid_field_is_reported() {
    let world = World::default();
    let good = world.import().await;
    let with = |pointer: &str, value: Value| {
        let mut body = good.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[name] = value;
        body
    };
    for (body, faults) in [
        (json!({}), vec![("/jobType", "required")]),
        (with("/jobType", json!("imports")), vec![("/jobType", "unknown_job_type")]),
        (with("/jobType", json!(1)), vec![("/jobType", "unknown_job_type")]),
        (with("/priority", json!(1)), vec![("/priority", "invalid_priority")]),
        (with("/priority", json!("urgent")), vec![("/priority", "invalid_priority")]),
        (with("/urgency", json!(1)), vec![("/urgency", "unknown_field")]),
        (with("/timeoutSeconds", json!(0)), vec![("/timeoutSeconds", "invalid_timeout")]),
        (with("/timeoutSeconds", json!(3_601)), vec![("/timeoutSeconds", "invalid_timeout")]),
        (with("/timeoutSeconds", json!(1.5)), vec![("/timeoutSeconds", "invalid_timeout")]),
        (with("/timeoutSeconds", json!("60")), vec![("/timeoutSeconds", "invalid_timeout")]),
        (json!({"jobType": "ping", "timeoutSeconds": 8}), vec![("/timeoutSeconds", "invalid_timeout")]),
        (with("/fileGuid", Value::Null), vec![("/fileGuid", "file_required")]),
        (with("/fileGuid", json!("x")), vec![("/fileGuid", "unknown_file")]),
        (with("/fileGuid", json!(7)), vec![("/fileGuid", "unknown_file")]),
        (with("/fileGuid", json!(FileGuid::generate())), vec![("/fileGuid", "unknown_file")]),
        (with("/options", json!([])), vec![("/options", "invalid_type")]),
        (with("/options/keys", json!("id")), vec![("/options/keys", "unknown_option")]),
        (with("/options/mode", json!("merge")), vec![("/options/mode", "invalid_option")]),
        (with("/options/dataset", json!("a b")), vec![("/options/dataset", "invalid_dataset")]),
        (with("/options/schema", json!({"type": 1})), vec![("/options/schema/type", "invalid_schema")]),
        (
            with("/options/schema", json!({"allOf": vec![json!({"$ref": "#"}); 5_000]})),
            vec![("/options/schema", "schema_too_complex")],
        ),
        (with("/options/key", json!("k".repeat(200_000))), vec![("/options", "options_too_large")]),
        (
            json!({"jobType": "import", "options": {"dataset": "", "key": ""}, "x": 1}),
            vec![
                ("/fileGuid", "file_required"),
                ("/options/dataset", "invalid_dataset"),
                ("/options/key", "invalid_key"),
                ("/x", "unknown_field"),
            ],
        ),
        (json!({"jobType": "ping", "fileGuid": good["fileGuid"]}), vec![("/fileGuid", "file_not_allowed")]),
    ] {
        let reply = world.create(&body).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{body}");
    }
    assert_eq!(world.queues.take_creates(), []);
}

#[tokio::test]
async fn an_unknown_job_type_lists_the_known_ones() {
    let reply = World::default().create(&json!({"jobType": "imports"})).await;
    let detail = reply.body["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("\"imports\"") && detail.contains("import, ") | detail.contains("ping, "), "{detail}");
}

#[tokio::test]
async fn a_file_must_exist_as_announced() {
    let world = World::default();
    let long = "x".repeat(1_001);
    let cases = [
        (world.upload(|_| {}, None).await, "file_not_uploaded"),
        (world.upload(|upload| upload.size_bytes += 1, Some(FILE)).await, "file_size_mismatch"),
        (world.upload(|upload| upload.size_bytes = 1_001, Some(&long)).await, "file_too_large"),
        (world.upload(|upload| upload.tenant = TenantId::from_static("other"), Some(FILE)).await, "unknown_file"),
        (world.upload(|upload| upload.expires_at = NOW.seconds(), Some(FILE)).await, "unknown_file"),
    ];
    for (file, code) in cases {
        let mut body = world.import().await;
        body["fileGuid"] = json!(file);
        let reply = world.create(&body).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), [("/fileGuid", code)]);
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_json_object_is_refused() {
    let world = World::default();
    for (body, content_type, status, kind) in [
        ("{", "application/json", 400, "malformed-json"),
        ("[]", "application/json", 422, "invalid-request"),
        ("{}", "text/plain", 415, "unsupported-media-type"),
        ("{}", "", 415, "unsupported-media-type"),
        (" ".repeat(MAX_BODY + 1).as_str(), "application/json", 413, "body-too-large"),
    ] {
        world.post(body.to_owned(), &[("content-type", content_type)]).await.is_problem(status, kind);
    }
    let mut request = world.import().await;
    request["options"]["schema"] = json!({"title": "x".repeat(60_000)});
    assert_eq!(world.create(&request).await.status, 202);
}

#[tokio::test]
async fn the_same_request_with_one_key_creates_one_job() {
    let world = World::default();
    let request = world.import().await;
    let key = ("idempotency-key", "7c6f0a2e");
    let first = world.post(request.to_string(), &[JSON, key]).await;
    assert_eq!(first.status, 202, "{}", first.body);
    let id = JobId::parse(first.body["jobId"].as_str().unwrap()).unwrap();
    longshore_domain::ports::JobTransitions::begin(&world.store, id, 0, NOW).await.unwrap();
    // The same members in another order and other white space are the same request.
    let reordered = format!(
        "{{\"options\": {}, \"jobType\":\"import\",\n\"fileGuid\":{}}}",
        request["options"], request["fileGuid"]
    );
    let second = world.post(reordered, &[JSON, key]).await;
    assert_eq!((second.status, second.header("location")), (202, first.header("location")));
    assert_eq!(second.body["status"], "running");
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn a_key_is_valid_for_one_request() {
    let world = World::default();
    let key = ("idempotency-key", "7c6f0a2e");
    assert_eq!(world.post(world.import().await.to_string(), &[JSON, key]).await.status, 202);
    let other = world.import().await.to_string();
    world.post(other, &[JSON, key]).await.is_problem(422, "idempotency-key-reused");
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn requests_that_differ_in_priority_are_different() {
    let world = World::default();
    let key = ("idempotency-key", "7c6f0a2e");
    for (priority, status) in [("", 202), (",\"priority\":\"normal\"", 202), (",\"priority\":\"high\"", 422)] {
        let reply = world.post(format!("{{\"jobType\":\"ping\"{priority}}}"), &[JSON, key]).await;
        assert_eq!(reply.status, status, "{priority}: {}", reply.body);
    }
}

#[tokio::test]
async fn a_repeated_create_sends_a_lost_message() {
    let world = World::default();
    let (request, key) = (world.import().await.to_string(), ("idempotency-key", "7c6f0a2e"));
    world.post(request.clone(), &[JSON, key]).await;
    world.queues.take_creates();
    world.queues.forget_deduplication();
    world.post(request, &[JSON, key]).await;
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn an_invalid_idempotency_key_is_refused() {
    let world = World::default();
    let request = world.import().await.to_string();
    for key in ["", " ", "ü", &"x".repeat(256)] {
        let reply = world.post(request.clone(), &[JSON, ("idempotency-key", key)]).await;
        reply.is_problem(400, "invalid-idempotency-key");
    }
}

#[tokio::test]
async fn at_most_one_hundred_invalid_fields_are_reported() {
    let body: serde_json::Map<_, _> = (0..5_000).map(|n| (format!("x{n}"), json!(n))).collect();
    let reply = World::default().create(&Value::Object(body)).await;
    reply.is_problem(422, "invalid-request");
    assert_eq!(reply.field_errors().len(), 100);
    assert!(reply.body["detail"].as_str().unwrap().ends_with("; and 4901 more"), "{}", reply.body["detail"]);
    assert!(reply.body.to_string().len() < 64 * 1024);
}
