//! What this function says of its calls in the API's document (`shared/src/openapi`): parameters, refusals, examples.

use longshore::refusals;
use longshore_domain::ids::FileGuid;
use utoipa::{IntoParams, OpenApi};

use crate::{UploadDocument, UploadState, UploadStatus};
use crate::{create, read};

/// This function's part of the document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Calls::openapi()
}

#[derive(OpenApi)]
#[openapi(paths(create::create, read::status, read::renew))]
struct Calls;

/// The upload that a path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FileGuidInPath {
    /// The upload, as `POST /api/uploads` named it.
    #[param(rename = "fileGuid", format = "uuid")]
    #[allow(dead_code, reason = "only described")]
    file_guid: String,
}

refusals!(
    /// Of `POST /api/uploads`. 404 if the upload of the Idempotency-Key has been removed with its job.
    CreateRefusals: MalformedJson, InvalidIdempotencyKey, NotFound, BodyTooLarge, UnsupportedMediaType, InvalidRequest,
    IdempotencyKeyReused, UploadQuotaExceeded
);
refusals!(
    /// Of `GET /api/uploads/{fileGuid}`.
    StatusRefusals: NotFound
);
refusals!(
    /// Of `POST /api/uploads/{fileGuid}/url`.
    RenewRefusals: NotFound, AlreadyUploaded
);

const GUID: &str = "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";

fn guid() -> FileGuid {
    FileGuid::parse(GUID).unwrap_or_else(FileGuid::generate)
}

/// A place for a file.
pub(crate) fn upload_example() -> UploadDocument {
    let host = "https://bucket.s3.eu-central-1.amazonaws.com";
    let headers = [("content-type", "text/csv"), ("if-none-match", "*")];
    UploadDocument {
        file_guid: guid(),
        method: "PUT",
        url: format!("{host}/uploads/acme/{GUID}?X-Amz-Expires=3600&X-Amz-Signature=0f1e2d3c"),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        expires_at: "2026-07-01T10:00:00Z".to_owned(),
    }
}

/// An upload whose file is there.
pub(crate) fn status_example() -> UploadStatus {
    UploadStatus {
        file_guid: guid(),
        file_name: "people.csv".to_owned(),
        content_type: "text/csv".to_owned(),
        size: 5_242_880,
        state: UploadState::Received,
        expires_at: "2026-07-15T09:00:00Z".to_owned(),
    }
}
