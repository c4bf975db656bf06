//! `GET /api/uploads/{fileGuid}` and `POST /api/uploads/{fileGuid}/url`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore_domain::ports::JobStore;

use crate::openapi::{FileGuidInPath, RenewRefusals, StatusRefusals, status_example, upload_example};
use crate::{UploadDocument, UploadPlaces, UploadState, UploadStatus, Uploads};

/// How an upload stands: 200.
#[utoipa::path(
    get,
    path = "/api/uploads/{fileGuid}",
    operation_id = "getUpload",
    tag = "uploads",
    summary = "See whether a file was put.",
    params(FileGuidInPath),
    responses(
        (
            status = 200,
            description = "The upload as it stands.",
            body = UploadStatus,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(status_example()),
        ),
        StatusRefusals,
    ),
)]
pub(crate) async fn status<S: JobStore, P: UploadPlaces>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let received = uploads.places.is_received(&upload).await?;
    let state = if received { UploadState::Received } else { UploadState::Waiting };
    let document = UploadStatus::new(upload, state);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

/// Another URL for an upload whose first one has ended, or was lost: 200; 409 once the file was put. Of two URLs for one
/// upload S3 still takes one PUT.
#[utoipa::path(
    post,
    path = "/api/uploads/{fileGuid}/url",
    operation_id = "renewUploadUrl",
    tag = "uploads",
    summary = "Ask for another URL for the same upload.",
    description = "For when the first one has ended before the PUT began. It signs the same length, content type and \
        checksum. Of two URLs for one upload S3 still takes one PUT. A body is ignored.",
    params(FileGuidInPath),
    responses(
        (
            status = 200,
            description = "Put the file there.",
            body = UploadDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(upload_example()),
        ),
        RenewRefusals,
    ),
)]
pub(crate) async fn renew<S: JobStore, P: UploadPlaces>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    if uploads.places.is_received(&upload).await? {
        return Err(already_uploaded().into());
    }
    let document = uploads.signed(&upload).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

fn already_uploaded() -> Problem {
    let detail = "the file of this upload was put already; create a job with its fileGuid, or ask for another upload";
    Problem::new(Kind::AlreadyUploaded, detail)
}
