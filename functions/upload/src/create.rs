//! `POST /api/uploads`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use longshore::http::{Answer, JsonFields, Tenant};
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, Upload};
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;

use crate::{UploadRequest, UploadUrls, Uploads};

/// The largest body of a request: a name of 255 characters in its longest spelling takes 3 KiB.
const BODY_BYTES: usize = 16 * 1024;

/// Within this time the PUT must begin; it may last longer. An hour, so that a person can queue up some large files.
const URL_SECONDS: i64 = 3_600;

/// What the client needs to put its file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UploadDocument {
    /// Names the file when a job is created.
    pub file_guid: FileGuid,
    /// `PUT`.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// To be sent exactly so: they are signed. The length is signed too, and sent by every client by itself.
    pub headers: BTreeMap<String, String>,
    /// When the URL ends, in RFC 3339.
    pub expires_at: String,
}

/// Remembers an upload and answers its URL: 201.
pub(crate) async fn create<S, U>(
    State(uploads): State<Arc<Uploads<S, U>>>,
    Tenant(tenant): Tenant,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer
where
    S: JobStore,
    U: UploadUrls,
{
    let now = (uploads.clock)();
    let request = UploadRequest::read(fields, uploads.max_file_bytes)?;
    let upload = promised(tenant, &request, now.plus_seconds(uploads.retention_days * 86_400));
    let signed = uploads.urls.upload_url(&upload, request.sha256.as_deref(), URL_SECONDS.unsigned_abs()).await?;
    uploads.store.create_upload(&upload).await?;
    let document = UploadDocument {
        file_guid: upload.file_guid,
        method: "PUT",
        url: signed.url,
        headers: signed.headers.into_iter().collect(),
        expires_at: now.plus_seconds(URL_SECONDS).to_rfc3339(),
    };
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

fn promised(tenant: String, request: &UploadRequest, forgotten_at: Timestamp) -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        key: upload_key(&tenant, file_guid),
        tenant,
        file_name: request.file_name.clone(),
        content_type: request.content_type.clone(),
        size_bytes: request.size_bytes,
        expires_at: forgotten_at.seconds(),
    }
}
