//! `POST /api/uploads`.

use longshore_domain::ports::UploadStorage;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, JsonFields, Tenant, caller_trace, count_work_call, idempotency};
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath};
use longshore::ports::upload_key;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{Created, JobStore, QuotaExceeded, TenantCounts, Upload};
use longshore_domain::timestamp::Timestamp;

use crate::document::PromisedUpload;
use crate::function::{BODY_BYTES, Uploads};
use crate::openapi::{CreateRefusals, parts_example, upload_example};
use crate::request::UploadRequest;
use longshore_domain::parts::PartChecksum;

/// Creates an upload and returns its URL: 201. A repeated `Idempotency-Key` returns 201 with the first call's upload
/// and a new URL for it.
#[utoipa::path(
    post,
    path = "/api/uploads",
    operation_id = "createUpload",
    tag = "uploads",
    summary = "Create an upload.",
    description = include_str!("create.md").trim_ascii_end(),
    params(IdempotencyKeyHeader),
    request_body(
        content = UploadRequest,
        description = "Up to 64 KiB.",
        examples(
            ("whole" = (
                summary = "One PUT",
                value = json!({ "fileName": "people.csv", "contentType": "text/csv", "size": 5_242_880 }),
            )),
            ("in-parts" = (summary = "Parts, the first of them with its URL", value = json!({
                "fileName": "people.csv",
                "contentType": "text/csv",
                "size": 83_886_091,
                "partSize": 16_777_216,
                "parts": [{ "partNumber": 1, "sha256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" }],
            }))),
        ),
    ),
    responses(
        (
            status = 201,
            description = "Instructions for uploading the file.",
            body = PromisedUpload,
            headers(
                ("Location" = inline(OnePath), description = "The upload's status."),
                ("Cache-Control" = inline(CacheNoStore))),
            examples(
                ("whole" = (summary = "One PUT", value = json!(upload_example()))),
                ("in-parts" = (summary = "Parts", value = json!(parts_example()))),
            ),
        ),
        CreateRefusals,
    ),
)]
pub(crate) async fn create<S: JobStore + TenantCounts, P: UploadStorage>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let now = (uploads.clock)();
    let key = idempotency::key(&headers)?;
    // A file larger than the daily quota can never be uploaded, so it is refused with 422, not with 429.
    let max_file_bytes = uploads.max_file_bytes.min(uploads.max_bytes_per_day);
    let request = UploadRequest::read(fields, max_file_bytes, uploads.multipart_bytes)?;
    let key = key.map(|key| idempotency::key_for_request(key, &request.canonical(), now));
    let part_bytes = request.part_bytes(uploads.multipart_bytes);
    let requested = request.parts.clone().unwrap_or_default();
    if let Some(key) = &key
        && let Some(outcome) = uploads.store.upload_created_before(&tenant.0, key).await?
    {
        return uploads.created_before(&tenant, outcome, &requested).await;
    }
    count_work_call(&uploads.store, &tenant.0, (uploads.clock)()).await?;
    let upload = new_upload(&tenant, request, now, uploads.retention_days);
    telemetry::record_trace(caller_trace(&headers).unwrap_or_else(|| upload.file_guid.into()));
    let upload = uploads.begin(upload, part_bytes).await?;
    let document = uploads.document(&upload, &requested).await?;
    let outcome = uploads.store.create_upload(&upload, key.as_ref()).await?;
    // After a lost response, the store can report this same upload as already stored.
    let is_stored = matches!(outcome, Created::New) || outcome == Created::Replayed(upload.file_guid);
    if let (Some(multipart), false) = (&upload.multipart, is_stored) {
        uploads.storage.abort(&upload, multipart).await;
    }
    match outcome {
        Created::New => Ok(created(document)),
        Created::OverQuota(QuotaExceeded::ActiveJobs(bytes) | QuotaExceeded::DailyBytes(bytes)) => {
            Err(over_quota(uploads.max_bytes_per_day.saturating_sub(bytes), now).into())
        }
        earlier => uploads.created_before(&tenant, earlier, &requested).await,
    }
}

impl<S: JobStore + TenantCounts, P: UploadStorage> Uploads<S, P> {
    /// Returns the upload that the first call with this idempotency key created, with new URLs.
    async fn created_before(&self, tenant: &Tenant, outcome: Created<FileGuid>, requested: &[PartChecksum]) -> Answer {
        let Created::Replayed(id) = outcome else { return Err(idempotency::key_reused().into()) };
        let first = self.upload(tenant, &id.to_string()).await?;
        Ok(created(self.document(&first, requested).await?))
    }
}

fn new_upload(tenant: &Tenant, request: UploadRequest, now: Timestamp, retention_days: i64) -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        key: upload_key(&tenant.0, file_guid),
        tenant: tenant.0.clone(),
        file_name: request.file_name,
        content_type: request.content_type,
        size_bytes: request.size_bytes,
        sha256: request.sha256,
        multipart: None,
        promised_at: now,
        expires_at: now.plus_days(retention_days).seconds(),
    }
}

/// 429: the tenant's daily quota has this number of bytes remaining.
fn over_quota(remaining: u64, now: Timestamp) -> Problem {
    let end = now.end_of_day();
    let detail = format!(
        "{remaining} bytes of today's upload quota are left; upload a smaller file, or retry after {}",
        end.to_rfc3339()
    );
    Problem::new(Kind::UploadQuotaExceeded, detail).retry_after(end.seconds_since(now))
}

fn created(document: PromisedUpload) -> Response {
    let about = AppendHeaders([
        (header::LOCATION, format!("/api/uploads/{}", document.file_guid())),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ]);
    (StatusCode::CREATED, about, Json(document)).into_response()
}
