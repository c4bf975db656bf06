//! `POST /api/uploads`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, JsonFields, Tenant, idempotency};
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath};
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{Created, JobStore, Upload};
use longshore_domain::time_stamp::Timestamp;

use crate::openapi::{CreateRefusals, upload_example};
use crate::{UploadDocument, UploadPlaces, UploadRequest, Uploads};

/// The largest body of a request: a name of 255 characters in its longest spelling takes 3 KiB.
const BODY_BYTES: usize = 16 * 1024;

const SECONDS_PER_DAY: i64 = 86_400;

/// Remembers an upload and answers its URL: 201. Under an `Idempotency-Key` that was used before, 201 with the upload
/// that it made and a new URL for it.
#[utoipa::path(
    post,
    path = "/api/uploads",
    operation_id = "createUpload",
    tag = "uploads",
    summary = "Ask where to put a file.",
    description = "The URL takes exactly the promised file, once: its length, content type and checksum (if given) are \
        signed, and a second PUT is refused by S3 with 412. The PUT must begin before `expiresAt`. With an \
        `Idempotency-Key` the same request makes one upload however often it is sent, and each answer has a new URL for \
        it.",
    params(IdempotencyKeyHeader),
    request_body(
        content = UploadRequest,
        description = "Up to 16 KiB.",
        example = json!({ "fileName": "people.csv", "contentType": "text/csv", "size": 5_242_880 }),
    ),
    responses(
        (
            status = 201,
            description = "Put the file there.",
            body = UploadDocument,
            headers(
                ("Location" = inline(OnePath), description = "The upload's status."),
                ("Cache-Control" = inline(CacheNoStore))),
            example = json!(upload_example()),
        ),
        CreateRefusals,
    ),
)]
pub(crate) async fn create<S: JobStore, P: UploadPlaces>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let now = (uploads.clock)();
    let key = idempotency::key(&headers)?;
    let request = UploadRequest::read(fields, uploads.max_file_bytes)?;
    let key = key.map(|key| idempotency::of_request(key, &request.meaning(), now));
    let upload = promised(&tenant, request, now.plus_seconds(uploads.retention_days * SECONDS_PER_DAY));
    let document = uploads.signed(&upload).await?;
    match uploads.store.create_upload(&upload, key.as_ref()).await? {
        Created::New => Ok(created(document)),
        Created::Replayed(id) => {
            let first = uploads.upload(&tenant, &id.to_string()).await?;
            Ok(created(uploads.signed(&first).await?))
        }
        Created::KeyReused => Err(idempotency::key_reused().into()),
    }
}

fn promised(tenant: &Tenant, request: UploadRequest, forgotten_at: Timestamp) -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        key: upload_key(&tenant.0, file_guid),
        tenant: tenant.0.clone(),
        file_name: request.file_name,
        content_type: request.content_type,
        size_bytes: request.size_bytes,
        sha256: request.sha256,
        expires_at: forgotten_at.seconds(),
    }
}

fn created(document: UploadDocument) -> Response {
    let about = AppendHeaders([
        (header::LOCATION, format!("/api/uploads/{}", document.file_guid)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ]);
    (StatusCode::CREATED, about, Json(document)).into_response()
}
