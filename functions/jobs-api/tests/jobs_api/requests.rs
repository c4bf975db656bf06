//! The request schemas in the document match the parsers: they are written separately and compared here.

use crate::world::{NOW, World};
use axum::body::Body;
use axum::http::Request;
use contract::{DOCUMENT, validator};
use lambda_http::tower::ServiceExt;
use longshore::http::Access;
use longshore_testing::{MemoryFiles, MemoryStore};
use serde_json::{Value, json};

/// Returns true if the document's schema with that name allows a value.
fn allows(name: &str, value: &Value) -> bool {
    validator(&DOCUMENT["components"]["schemas"][name]).is_valid(value)
}

/// Changes a member of a valid object. `null` is a value; a member named `-` removes the member that it names.
fn changed(good: &Value, name: &str, value: &Value) -> Value {
    let mut body = good.clone();
    match name {
        "-" => drop(body.as_object_mut().unwrap().remove(value.as_str().unwrap())),
        _ => body[name] = value.clone(),
    }
    body
}

#[tokio::test]
async fn uploads_are_parsed_as_documented() {
    let uploads = upload::Uploads {
        store: MemoryStore::default(),
        storage: MemoryFiles::default(),
        access: Access::Open,
        max_file_bytes: 5_368_709_120,
        multipart_bytes: 64 << 20,
        tenant_calls: longshore_domain::rate::Rate { per_second: 1_000, burst: 10_000 },
        max_bytes_per_day: u64::MAX,
        retention_days: 14,
        clock: || NOW,
    };
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    let good = json!({ "fileName": "people.csv", "contentType": "text/csv", "size": 1 });
    let (name, kind, size, sha256) = ("fileName", "contentType", "size", "sha256");
    for (member, value, expected) in [
        (size, json!(1), true),
        (size, json!(5_368_709_120_u64), true),
        (size, json!(5_368_709_121_u64), false),
        (size, json!(0), false),
        (size, json!(-1), false),
        (size, json!(1.5), false),
        (size, json!("1"), false),
        (size, json!(null), false),
        ("-", json!(size), false),
        (name, json!("\u{fc}".repeat(255)), true),
        (name, json!("x".repeat(256)), false),
        (name, json!(""), false),
        (name, json!("a\nb"), false),
        (name, json!("a\u{85}b"), false),
        (name, json!("a\u{7f}"), false),
        (name, json!(7), false),
        ("-", json!(name), false),
        (kind, json!("application/x-ndjson; charset=utf-8"), true),
        (kind, json!("text/csv;header=a b;x=\"1\""), true),
        (kind, json!("text/csv ; a=b"), true),
        (kind, json!("text/csv;"), false),
        (kind, json!("text/csv; a"), false),
        (kind, json!("text/csv; a= "), false),
        (kind, json!("text/csv;  a=b"), false),
        (kind, json!("text/csv\t;a=b"), false),
        (kind, json!("text/csv\n;a=b"), false),
        (kind, json!("text/csv; a=\u{fc}"), false),
        (kind, json!(" text/csv"), false),
        (kind, json!("text"), false),
        (kind, json!(""), false),
        (kind, json!(format!("text/{}", "x".repeat(250))), true),
        (kind, json!(format!("text/{}", "x".repeat(251))), false),
        (sha256, json!(null), true),
        (sha256, json!(hex), true),
        (sha256, json!(hex.to_uppercase()), true),
        (sha256, json!(base64), true),
        (sha256, json!(base64.replace("a0=", "a1=")), false),
        (sha256, json!(&hex[1..]), false),
        (sha256, json!(base64.replace('+', "-")), false),
        (sha256, json!(1), false),
        ("other", json!(1), false),
    ] {
        let body = changed(&good, member, &value);
        let request = Request::post("/api/uploads").header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = upload::router(uploads.clone()).oneshot(request).await.unwrap();
        let taken = answer.status() == 201;
        assert_eq!((taken, allows("UploadRequest", &body)), (expected, expected), "{body}: {}", answer.status());
    }
}

#[tokio::test]
async fn jobs_are_parsed_as_documented() {
    let world = World::default();
    let good = world.import().await;
    let file = good["fileGuid"].clone();
    for (member, value, expected) in [
        ("timeoutSeconds", json!(1), true),
        ("timeoutSeconds", json!(null), true),
        ("timeoutSeconds", json!(0), false),
        ("timeoutSeconds", json!(1.5), false),
        ("timeoutSeconds", json!("1"), false),
        ("priority", json!("high"), true),
        ("priority", json!(null), true),
        ("priority", json!("urgent"), false),
        ("fileGuid", json!("nothing"), false),
        ("fileGuid", json!(7), false),
        ("jobType", json!(""), false),
        ("jobType", json!(null), false),
        ("-", json!("jobType"), false),
        ("options", json!([]), false),
        ("options", json!("x"), false),
        ("other", json!(1), false),
    ] {
        let body = changed(&good, member, &value);
        let taken = world.create(&body).await.status == 202;
        assert_eq!((taken, allows("JobRequest", &body)), (expected, expected), "{body}");
    }
    let options = json!({ "dataset": "people", "key": "id" });
    for (member, value, expected) in [
        ("dataset", json!("x".repeat(64)), true),
        ("dataset", json!("x".repeat(65)), false),
        ("dataset", json!(""), false),
        ("dataset", json!("a b"), false),
        ("-", json!("dataset"), false),
        ("key", json!(""), false),
        ("-", json!("key"), false),
        ("mode", json!("validate"), true),
        ("mode", json!("replace"), false),
        ("mode", json!(null), false),
        ("schema", json!({ "type": "object" }), true),
        ("schema", json!(null), true),
        ("maxFailed", json!(u64::MAX), true),
        ("maxFailed", json!(null), true),
        ("maxFailed", json!(-1), false),
        ("maxFailed", json!(0.5), false),
        ("maxFailedPercent", json!(0), true),
        ("maxFailedPercent", json!(99.9), true),
        ("maxFailedPercent", json!(null), true),
        ("maxFailedPercent", json!(100.1), false),
        ("maxFailedPercent", json!(-1), false),
        ("other", json!(1), false),
    ] {
        let options = changed(&options, member, &value);
        let body = json!({ "jobType": "import", "fileGuid": file, "options": options });
        let taken = world.create(&body).await.status == 202;
        assert_eq!((taken, allows("ImportOptions", &options)), (expected, expected), "{options}");
    }
}

/// Returns true if the document allows a value for a parameter of a call.
fn allows_parameter(pointer: &str, name: &str, value: &Value) -> bool {
    let parameters = DOCUMENT.pointer(pointer).unwrap()["parameters"].as_array().unwrap();
    let parameter = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
    validator(&parameter["schema"]).is_valid(value)
}

#[tokio::test]
async fn parameters_are_parsed_as_documented() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, longshore_domain::job::Status::Completed, 0).await;
    let (jobs, failures) = ("/paths/~1api~1jobs/get", "/paths/~1api~1jobs~1{jobId}~1failures/get");
    let records = "/paths/~1api~1datasets~1{dataset}~1records/get";
    let (of_jobs, of_records) = ("/api/jobs".to_owned(), "/api/datasets/people/records".to_owned());
    let of_failures = format!("/api/jobs/{id}/failures");
    for (call, path, most) in [(jobs, &of_jobs, 100), (failures, &of_failures, 1_000), (records, &of_records, 1_000)] {
        for (limit, expected) in [(1, true), (most, true), (most + 1, false), (0, false), (-1, false)] {
            let taken = world.get(&format!("{path}?limit={limit}")).await.status == 200;
            assert_eq!((taken, allows_parameter(call, "limit", &json!(limit))), (expected, expected), "{path} {limit}");
        }
        for cursor in ["", "*", "a b"] {
            let reply = world.get(&format!("{path}?cursor={}", cursor.replace(' ', "%20"))).await;
            assert_eq!(
                (reply.status, allows_parameter(call, "cursor", &json!(cursor))),
                (422, false),
                "{path} {cursor}"
            );
        }
    }
    for (call, path, name, value, expected) in [
        (jobs, &of_jobs, "status", "completed", true),
        (jobs, &of_jobs, "status", "done", false),
        (failures, &of_failures, "format", "csv", true),
        (failures, &of_failures, "format", "xml", false),
    ] {
        let taken = world.get(&format!("{path}?{name}={value}")).await.status == 200;
        assert_eq!((taken, allows_parameter(call, name, &json!(value))), (expected, expected), "{name}={value}");
    }
    let create = "/paths/~1api~1jobs/post";
    for (key, expected) in [("k", true), ("a b~", true), ("", false), ("\u{fc}", false), (&*"x".repeat(256), false)] {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        let taken = world.post(world.import().await.to_string(), &headers).await.status == 202;
        let allowed = allows_parameter(create, "Idempotency-Key", &json!(key));
        assert_eq!((taken, allowed), (expected, expected), "{key}");
    }
}
