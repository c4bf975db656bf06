//! `GET /api/uploads/{fileGuid}`.

use longshore_domain::ports::UploadStorage;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::CacheNoStore;
use longshore_domain::ports::{JobStore, TenantCounts, Upload};

use crate::openapi::{FileGuidInPath, StatusRefusals, status_example, waiting_example};
use crate::state::UploadProgress;
use crate::{UploadStatus, Uploads};

/// Returns the state of an upload: 200.
#[utoipa::path(
    get,
    path = "/api/uploads/{fileGuid}",
    operation_id = "getUpload",
    tag = "uploads",
    summary = "Read the state of an upload.",
    description = "For an incomplete upload in parts, it lists the received parts, so that a client can resume.",
    params(FileGuidInPath),
    responses(
        (
            status = 200,
            description = "The upload in its current state.",
            body = UploadStatus,
            headers(("Cache-Control" = inline(CacheNoStore))),
            examples(
                ("received" = (summary = "The file is complete", value = json!(status_example()))),
                ("in-parts" = (summary = "Parts are missing", value = json!(waiting_example()))),
            ),
        ),
        StatusRefusals,
    ),
)]
pub(crate) async fn status<S: JobStore + TenantCounts, P: UploadStorage>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let state = UploadProgress::read(&uploads.storage, &upload, (uploads.clock)()).await?;
    Ok(state_response(upload, state))
}

/// 200 with the state of an upload.
pub(crate) fn state_response(upload: Upload, state: UploadProgress) -> Response {
    let document = UploadStatus::new(upload, state);
    no_store(document)
}
