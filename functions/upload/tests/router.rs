//! `POST /api/uploads` through the router, on fakes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test's own step that fails ends the test")]

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use longshore::files::PutUrl;
use longshore::http::Access;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, PortError, PortResult, Upload};
use longshore_domain::time_stamp::Timestamp;
use serde_json::{Value, json};
use upload::{UploadUrls, Uploads, router};

struct Signer;

impl UploadUrls for Signer {
    async fn upload_url(&self, upload: &Upload, sha256: Option<&str>, seconds: u64) -> PortResult<PutUrl> {
        let checksum = sha256.map(|sha256| ("x-amz-checksum-sha256".to_owned(), sha256.to_owned()));
        let headers = [("content-type".to_owned(), upload.content_type.clone())].into_iter().chain(checksum);
        Ok(PutUrl { url: format!("https://bucket/{}?for={seconds}", upload.key), headers: headers.collect() })
    }
}

struct NoSigner;

impl UploadUrls for NoSigner {
    async fn upload_url(&self, _: &Upload, _: Option<&str>, _: u64) -> PortResult<PutUrl> {
        let source = "the secret is hunter2".into();
        Err(PortError { service: "files", operation: "presign_put", source })
    }
}

fn uploads<U>(urls: U) -> (MemoryStore, Uploads<MemoryStore, U>) {
    let (store, clock) = (MemoryStore::default(), || Timestamp(1_700_000_000_000));
    let access = Access::SignedIn { tenant_claim: "sub".into() };
    (store.clone(), Uploads { store, urls, access, max_file_bytes: 1_000, retention_days: 14, clock })
}

/// A request as the gateway hands it over once it has accepted a token with these claims.
fn with_claims(request: Request<Body>, claims: Value) -> Request<Body> {
    let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
    request.with_request_context(RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap()))
}

async fn send(router: axum::Router, method: &str, path: &str, body: impl Into<Body>) -> (Response<()>, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = with_claims(request.body(body.into()).unwrap(), json!({"sub": "acme"}));
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn an_upload_is_promised_and_remembered() {
    let (store, uploads) = uploads(Signer);
    let hash = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    let body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1000, "sha256": hash});
    let (response, document) = send(router(uploads), "POST", "/api/uploads", body.to_string()).await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let id = document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
    let expected = json!({
        "fileGuid": id,
        "method": "PUT",
        "url": format!("https://bucket/uploads/acme/{id}?for=3600"),
        "headers": {"content-type": "text/csv", "x-amz-checksum-sha256": hash},
        "expiresAt": "2023-11-14T23:13:20Z",
    });
    assert_eq!(document, expected);
    let upload = store.upload(id).await.unwrap().unwrap();
    assert_eq!((upload.size_bytes, upload.expires_at), (1_000, 1_700_000_000 + 14 * 86_400));
    assert_eq!(upload.tenant, "acme");
}

#[tokio::test]
async fn every_refusal_is_a_problem_document() {
    let long = format!("{{\"fileName\": \"{}\"}}", "x".repeat(20_000));
    for (method, path, body, status, kind) in [
        ("POST", "/api/uploads", "{}", 422, "invalid-request"),
        ("POST", "/api/uploads", "{", 400, "malformed-json"),
        ("POST", "/api/uploads", long.as_str(), 413, "body-too-large"),
        ("GET", "/api/uploads", "", 405, "method-not-allowed"),
        ("POST", "/api/upload", "{}", 404, "not-found"),
    ] {
        let (response, problem) = send(router(uploads(Signer).1), method, path, body.to_owned()).await;
        assert_eq!(response.status(), status, "{method} {path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(problem["type"], format!("urn:longshore:problem:{kind}"));
        assert_eq!(problem["status"], status);
    }
}

#[tokio::test]
async fn another_content_type_is_refused() {
    let request = Request::post("/api/uploads").header("content-type", "text/plain").body(Body::from("{}")).unwrap();
    let request = with_claims(request, json!({"sub": "acme"}));
    let response = router(uploads(Signer).1).oneshot(request).await.unwrap();
    assert_eq!(response.status(), 415);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
}

#[tokio::test]
async fn a_failure_of_ours_leaks_nothing() {
    let body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1}).to_string();
    let (response, problem) = send(router(uploads(NoSigner).1), "POST", "/api/uploads", body).await;
    assert_eq!(response.status(), 500);
    assert_eq!(problem["type"], "urn:longshore:problem:internal");
    assert!(!problem.to_string().contains("hunter2") && !problem.to_string().contains("presign"));
}

#[tokio::test]
async fn a_caller_without_a_tenant_gets_no_place_for_a_file() {
    let (_, uploads) = uploads(Signer);
    let body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1}).to_string();
    let request = Request::post("/api/uploads").header("content-type", "application/json").body(Body::from(body));
    let request = with_claims(request.unwrap(), json!({"email": "ann@example.com"}));
    let (parts, body) = router(uploads).oneshot(request).await.unwrap().into_parts();
    let problem: Value = serde_json::from_slice(&to_bytes(body, usize::MAX).await.unwrap()).unwrap();
    assert_eq!((parts.status.as_u16(), &problem["type"]), (403, &json!("urn:longshore:problem:no-tenant")));
}
