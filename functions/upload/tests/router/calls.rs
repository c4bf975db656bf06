//! The function over in-memory services, with every call validated against the OpenAPI document.

use longshore_domain::ports::{MultipartOutcome, PartStorage, PutUrl, ReceivedPart, UploadStorage};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request, Response};
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use lambda_http::{Context, RequestExt};
use longshore::http::Access;
use longshore_domain::parts::Multipart;
use longshore_domain::parts::PartChecksum;
use longshore_domain::ports::{PortError, PortResult, TenantLimits, Upload};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryStore;
use serde_json::{Value, json};
use upload::Uploads;

pub(crate) const HASH: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

/// Storage that signs nothing, and counts the multipart uploads that are begun.
#[derive(Clone, Default)]
pub(crate) struct NoSigner {
    pub(crate) begun: Arc<AtomicU32>,
}

impl UploadStorage for NoSigner {
    async fn upload_url(&self, _: &Upload, _: u64) -> PortResult<PutUrl> {
        let source = "the secret is hunter2".into();
        Err(PortError { service: "files", operation: "presign_put", source })
    }

    async fn is_received(&self, _: &Upload) -> PortResult<bool> {
        Ok(false)
    }
}

impl PartStorage for NoSigner {
    async fn begin(&self, _: &Upload) -> PortResult<String> {
        Ok(self.begun.fetch_add(1, Ordering::Relaxed).to_string())
    }

    async fn part_url(&self, upload: &Upload, _: &Multipart, _: &PartChecksum, seconds: u64) -> PortResult<PutUrl> {
        self.upload_url(upload, seconds).await
    }

    async fn received_parts(&self, _: &Upload, _: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        Ok(None)
    }

    async fn complete(&self, _: &Upload, _: &Multipart, _: &[ReceivedPart]) -> PortResult<MultipartOutcome> {
        Ok(MultipartOutcome::Gone)
    }

    async fn abort(&self, _: &Upload, _: &Multipart) {}
}

pub(crate) fn uploads<P>(storage: P) -> (MemoryStore, Uploads<MemoryStore, P>) {
    let limits = TenantLimits { upload_bytes_per_day: 10_000, ..TenantLimits::default() };
    let (store, clock) = (MemoryStore::default().with_limits(limits), || Timestamp(1_700_000_000_000));
    let access = Access::SignedIn { tenant_claim: "sub".into() };
    let uploads = Uploads {
        store: store.clone(),
        storage,
        access,
        max_file_bytes: 1_000,
        multipart_bytes: 1_000,
        max_bytes_per_day: 10_000,
        tenant_calls: longshore_domain::rate::Rate { per_second: 1_000, burst: 10_000 },
        retention_days: 14,
        clock,
    };
    (store, uploads)
}

/// A request as the gateway forwards it after it has accepted a token with these claims.
pub(crate) fn with_claims(request: Request<Body>, claims: Value) -> Request<Body> {
    let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
    let mut lambda = Context::default();
    lambda.request_id = "r-1".into();
    let request = request.with_lambda_context(lambda);
    request.with_request_context(RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap()))
}

pub(crate) fn people() -> Value {
    json!({"fileName": "people.csv", "contentType": "text/csv", "size": 1000, "sha256": HASH})
}

pub(crate) async fn send(
    router: axum::Router,
    method: &str,
    path: &str,
    body: impl Into<Body>,
) -> (Response<()>, Value) {
    send_keyed(router, (method, path), "", body).await
}

pub(crate) async fn send_keyed(
    router: axum::Router,
    (method, path): (&str, &str),
    key: &str,
    body: impl Into<Body>,
) -> (Response<()>, Value) {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if !key.is_empty() {
        request = request.header("idempotency-key", key);
    }
    let request = with_claims(request.body(body.into()).unwrap(), json!({"sub": "acme"}));
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    let (status, text) = (parts.status.as_u16(), |value: &HeaderValue| value.to_str().unwrap().to_owned());
    let headers: Vec<_> = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let answer = contract::Answer { method, path, status, headers: &headers, body: &bytes };
    answer.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap_or_default())
}
