//! Every call about uploads through the router, over in-memory services.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod calls;
mod parts;
mod raced;
mod template;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use lambda_http::tower::ServiceExt;
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, Upload};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryFiles;
use serde_json::{Value, json};
use upload::{Uploads, router};

use calls::{HASH, NoSigner, people, send, send_keyed, uploads, with_claims};

#[tokio::test]
async fn an_upload_is_created_and_stored() {
    let (store, uploads) = uploads(MemoryFiles::default());
    let (response, document) = send(router(uploads), "POST", "/api/uploads", people().to_string()).await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let id = document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
    assert_eq!(response.headers()["location"], format!("/api/uploads/{id}"));
    let expected = json!({
        "fileGuid": id,
        "method": "PUT",
        "url": format!("memory:uploads/acme/{id}?for=3600"),
        "headers": {"content-type": "text/csv", "x-amz-checksum-sha256": HASH},
        "expiresAt": "2023-11-14T23:13:20Z",
    });
    assert_eq!(document, expected);
    let upload = store.upload(id).await.unwrap().unwrap();
    assert_eq!((upload.size_bytes, upload.expires_at), (1_000, 1_700_000_000 + 14 * 86_400));
    assert_eq!(upload.tenant.as_str(), "acme");
}

#[tokio::test]
async fn repeated_requests_with_one_key_create_one_upload() {
    let (_, uploads) = uploads(MemoryFiles::default());
    let post = ("POST", "/api/uploads");
    let (first, one) = send_keyed(router(uploads.clone()), post, "k", people().to_string()).await;
    // The checksum in hexadecimal: the same request.
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let mut again = people();
    again["sha256"] = hex.into();
    let (second, two) = send_keyed(router(uploads.clone()), post, "k", again.to_string()).await;
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (201, 201));
    assert_eq!((&one, &first.headers()["location"]), (&two, &second.headers()["location"]));
    let mut other = people();
    other["size"] = 999.into();
    let (third, problem) = send_keyed(router(uploads.clone()), post, "k", other.to_string()).await;
    assert_eq!((third.status().as_u16(), &problem["type"]), (422, &json!("/api/problems/idempotency-key-reused")));
    let (_, elsewhere) = send_keyed(router(uploads), post, "k2", people().to_string()).await;
    assert_ne!(elsewhere["fileGuid"], one["fileGuid"]);
}

#[tokio::test]
async fn a_tenant_over_its_daily_quota_learns_when_the_next_day_begins() {
    let (_, uploads) = uploads(MemoryFiles::default());
    let post = ("POST", "/api/uploads");
    let of_size = |size: u64| {
        let mut request = people();
        request["size"] = size.into();
        request.to_string()
    };
    let (first, _) = send_keyed(router(uploads.clone()), post, "k", of_size(900)).await;
    assert_eq!(first.status(), 201);
    for _ in 0..9 {
        assert_eq!(send_keyed(router(uploads.clone()), post, "", of_size(1_000)).await.0.status(), 201);
    }
    let (response, problem) = send_keyed(router(uploads.clone()), post, "k2", of_size(101)).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(problem["type"], "/api/problems/upload-quota-exceeded");
    assert_eq!(response.headers()["retry-after"], "6400", "at 22:13:20");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("100 bytes of today's upload quota are left"), "{detail}");
    assert!(detail.ends_with("2023-11-15T00:00:00Z"), "{detail}");
    let (again, _) = send_keyed(router(uploads.clone()), post, "k", of_size(900)).await;
    assert_eq!(again.headers().get("location"), first.headers().get("location"), "a repeated request does not count");
    assert_eq!(send_keyed(router(uploads.clone()), post, "k2", of_size(100)).await.0.status(), 201);
    let tomorrow = Uploads { clock: || Timestamp(1_700_006_400_000), ..uploads };
    assert_eq!(send_keyed(router(tomorrow.clone()), post, "", of_size(1_000)).await.0.status(), 201);
    let request = Request::post("/api/uploads").header("content-type", "application/json");
    let others = with_claims(request.body(Body::from(of_size(1_000))).unwrap(), json!({"sub": "other"}));
    let today = Uploads { clock: || Timestamp(1_700_000_000_000), ..tomorrow };
    assert_eq!(router(today).oneshot(others).await.unwrap().status(), 201);
}

#[tokio::test]
async fn a_file_larger_than_the_daily_quota_is_refused_permanently() {
    let (_, uploads) = uploads(MemoryFiles::default());
    let narrow = Uploads { max_bytes_per_day: 999, ..uploads };
    let (response, problem) = send(router(narrow), "POST", "/api/uploads", people().to_string()).await;
    assert_eq!((response.status().as_u16(), &problem["errors"][0]["code"]), (422, &json!("file_too_large")));
    assert!(response.headers().get("retry-after").is_none());
}

#[tokio::test]
async fn a_refused_request_does_not_use_up_its_key() {
    let (_, uploads) = uploads(MemoryFiles::default());
    let post = ("POST", "/api/uploads");
    assert_eq!(send_keyed(router(uploads.clone()), post, "k", "{}").await.0.status(), 422);
    assert_eq!(send_keyed(router(uploads.clone()), post, "k", people().to_string()).await.0.status(), 201);
    let (response, problem) = send_keyed(router(uploads), post, &"x".repeat(256), people().to_string()).await;
    let kind = "/api/problems/invalid-idempotency-key";
    assert_eq!((response.status().as_u16(), &problem["type"]), (400, &json!(kind)));
}

#[tokio::test]
async fn an_upload_is_waiting_until_its_file_is_received() {
    let files = MemoryFiles::default();
    let (_, uploads) = uploads(files.clone());
    let (_, document) = send(router(uploads.clone()), "POST", "/api/uploads", people().to_string()).await;
    let id = document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
    let path = format!("/api/uploads/{id}");
    let mut expected = json!({
        "fileGuid": id, "fileName": "people.csv", "contentType": "text/csv", "size": 1000,
        "state": "waiting", "expiresAt": "2023-11-28T22:13:20Z",
    });
    let (response, status) = send(router(uploads.clone()), "GET", &path, "").await;
    assert_eq!((response.status().as_u16(), &status), (200, &expected));
    files.put(&upload_key(&TenantId::from_static("acme"), id), "x");
    expected["state"] = "received".into();
    assert_eq!(send(router(uploads), "GET", &path, "").await.1, expected);
}

#[tokio::test]
async fn a_new_url_has_the_same_signed_headers_until_the_file_is_received() {
    let files = MemoryFiles::default();
    let (_, uploads) = uploads(files.clone());
    let (_, first) = send(router(uploads.clone()), "POST", "/api/uploads", people().to_string()).await;
    let id = first["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
    let path = format!("/api/uploads/{id}/url");
    let (response, second) = send(router(uploads.clone()), "POST", &path, "").await;
    assert_eq!((response.status().as_u16(), &second), (200, &first), "the checksum is signed again");
    let of_part = json!({"parts": [{"partNumber": 1, "sha256": HASH}]}).to_string();
    let (response, problem) = send(router(uploads.clone()), "POST", &path, of_part).await;
    assert_eq!((response.status().as_u16(), &problem["errors"][0]["code"]), (422, &json!("unknown_part")));
    files.put(&upload_key(&TenantId::from_static("acme"), id), "x");
    let (response, problem) = send(router(uploads), "POST", &path, "").await;
    assert_eq!((response.status().as_u16(), &problem["type"]), (409, &json!("/api/problems/already-uploaded")));
}

#[tokio::test]
async fn an_upload_in_one_put_needs_no_completion() {
    let files = MemoryFiles::default();
    let (_, uploads) = uploads(files.clone());
    let (_, document) = send(router(uploads.clone()), "POST", "/api/uploads", people().to_string()).await;
    let id = document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
    let path = format!("/api/uploads/{id}/complete");
    let (response, problem) = send(router(uploads.clone()), "POST", &path, "").await;
    assert_eq!((response.status().as_u16(), &problem["type"]), (409, &json!("/api/problems/upload-incomplete")));
    files.put(&upload_key(&TenantId::from_static("acme"), id), "x");
    let (response, status) = send(router(uploads), "POST", &path, "").await;
    assert_eq!((response.status().as_u16(), &status["state"]), (200, &json!("received")));
}

#[tokio::test]
async fn an_upload_of_another_tenant_or_an_expired_one_is_not_found() {
    let (store, uploads) = uploads(MemoryFiles::default());
    let (_, document) = send(router(uploads.clone()), "POST", "/api/uploads", people().to_string()).await;
    let own = store.upload(document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap()).await.unwrap().unwrap();
    let others = Upload { file_guid: FileGuid::generate(), tenant: TenantId::from_static("other"), ..own.clone() };
    let expired = Upload { file_guid: FileGuid::generate(), expires_at: 1_700_000_000, ..own };
    for upload in [&others, &expired] {
        store.create_upload(upload, None).await.unwrap();
    }
    for id in
        [others.file_guid.to_string(), expired.file_guid.to_string(), FileGuid::generate().to_string(), "x".into()]
    {
        for (method, call) in [("GET", ""), ("POST", "/url"), ("POST", "/complete")] {
            let path = format!("/api/uploads/{id}{call}");
            let (response, problem) = send(router(uploads.clone()), method, &path, "").await;
            let kind = &problem["type"];
            assert_eq!((response.status().as_u16(), kind), (404, &json!("/api/problems/not-found")), "{path}");
        }
    }
}

#[tokio::test]
async fn every_refusal_is_a_problem_document() {
    let long = format!("{{\"fileName\": \"{}\"}}", "x".repeat(70_000));
    for (method, path, body, status, kind) in [
        ("POST", "/api/uploads", "{}", 422, "invalid-request"),
        ("POST", "/api/uploads", "{", 400, "malformed-json"),
        ("POST", "/api/uploads", long.as_str(), 413, "body-too-large"),
        ("GET", "/api/uploads", "", 405, "method-not-allowed"),
        ("POST", "/api/upload", "{}", 404, "not-found"),
    ] {
        let (response, problem) = send(router(uploads(MemoryFiles::default()).1), method, path, body.to_owned()).await;
        assert_eq!(response.status(), status, "{method} {path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(problem["type"], format!("/api/problems/{kind}"));
        assert_eq!(problem["status"], status);
    }
}

#[tokio::test]
async fn an_unsupported_content_type_is_refused() {
    let request = Request::post("/api/uploads").header("content-type", "text/plain").body(Body::from("{}")).unwrap();
    let request = with_claims(request, json!({"sub": "acme"}));
    let response = router(uploads(MemoryFiles::default()).1).oneshot(request).await.unwrap();
    assert_eq!(response.status(), 415);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
}

#[tokio::test]
async fn an_internal_error_reveals_nothing() {
    let body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1}).to_string();
    let (response, problem) = send(router(uploads(NoSigner::default()).1), "POST", "/api/uploads", body).await;
    assert_eq!(response.status(), 500);
    assert_eq!(problem["type"], "/api/problems/internal");
    assert!(!problem.to_string().contains("hunter2") && !problem.to_string().contains("presign"));
}

#[tokio::test]
async fn a_caller_without_a_tenant_cannot_create_an_upload() {
    let (_, uploads) = uploads(MemoryFiles::default());
    let body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1}).to_string();
    let request = Request::post("/api/uploads").header("content-type", "application/json").body(Body::from(body));
    let request = with_claims(request.unwrap(), json!({"email": "ann@example.com"}));
    let (parts, body) = router(uploads).oneshot(request).await.unwrap().into_parts();
    let problem: Value = serde_json::from_slice(&to_bytes(body, usize::MAX).await.unwrap()).unwrap();
    assert_eq!((parts.status.as_u16(), &problem["type"]), (403, &json!("/api/problems/no-tenant")));
}
