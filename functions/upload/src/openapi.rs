//! OpenAPI metadata of this function's calls: parameters, refusals and examples. `shared/src/openapi` assembles the
//! document.

use longshore::refusals;
use longshore_domain::ids::FileGuid;
use utoipa::IntoParams;

use crate::{PartDocument, PartsDocument, ReceivedDocument, UploadDocument, UploadState, UploadStatus};

/// Path parameter that identifies an upload.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FileGuidInPath {
    /// Id of the upload, as returned by `POST /api/uploads`.
    #[param(rename = "fileGuid", format = "uuid")]
    #[allow(dead_code, reason = "for the schema only")]
    file_guid: String,
}

refusals!(
    /// Refusals of `POST /api/uploads`. 404 if the upload of the Idempotency-Key was removed with its job.
    CreateRefusals: MalformedJson, InvalidIdempotencyKey, NotFound, BodyTooLarge, UnsupportedMediaType, InvalidRequest,
    IdempotencyKeyReused, UploadQuotaExceeded
);
refusals!(
    /// Refusals of `GET /api/uploads/{fileGuid}`.
    StatusRefusals: NotFound
);
refusals!(
    /// Refusals of `POST /api/uploads/{fileGuid}/url`.
    RenewRefusals: MalformedJson, NotFound, AlreadyUploaded, UploadAbandoned, UploadIncomplete, BodyTooLarge,
    UnsupportedMediaType, InvalidRequest
);
refusals!(
    /// Refusals of `POST /api/uploads/{fileGuid}/complete`.
    CompleteRefusals: NotFound, UploadAbandoned, UploadIncomplete
);

/// Host of the example URLs.
const HOST: &str = "https://bucket.s3.eu-central-1.amazonaws.com";

const HASH: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

const PART_BYTES: u64 = 16 << 20;

const GUID: &str = "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";

fn guid() -> FileGuid {
    FileGuid::parse(GUID).unwrap_or_else(FileGuid::generate)
}

/// Example: instructions for an upload by one PUT.
pub(crate) fn upload_example() -> UploadDocument {
    let headers = [("content-type", "text/csv"), ("if-none-match", "*")];
    UploadDocument {
        file_guid: guid(),
        method: "PUT",
        url: format!("{HOST}/uploads/acme/{GUID}?X-Amz-Expires=3600&X-Amz-Signature=0f1e2d3c"),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        expires_at: "2026-07-01T10:00:00Z".to_owned(),
    }
}

/// Example: an upload whose file was received.
pub(crate) fn status_example() -> UploadStatus {
    UploadStatus {
        file_guid: guid(),
        file_name: "people.csv".to_owned(),
        content_type: "text/csv".to_owned(),
        size: 5_242_880,
        state: UploadState::Received,
        expires_at: "2026-07-15T09:00:00Z".to_owned(),
        part_size: None,
        received_parts: None,
    }
}

/// Example: a large upload with one received part.
pub(crate) fn waiting_example() -> UploadStatus {
    let received = ReceivedDocument { part_number: 1, size: PART_BYTES, sha256: Some(HASH.to_owned()) };
    let (part_size, received_parts) = (Some(PART_BYTES), Some(vec![received]));
    UploadStatus {
        size: PART_BYTES * 5 + 11,
        state: UploadState::Waiting,
        part_size,
        received_parts,
        ..status_example()
    }
}

/// Example: the parts of a large file.
pub(crate) fn parts_example() -> PartsDocument {
    let planned = |(part_number, size)| PartDocument {
        part_number,
        size,
        method: None,
        url: None,
        headers: None,
        expires_at: None,
    };
    let parts = (1..=5).map(|number| (number, PART_BYTES)).chain([(6, 11)]).map(planned).collect();
    PartsDocument { file_guid: guid(), part_size: PART_BYTES, parts }
}

/// Example: a part with its URL.
pub(crate) fn part_example() -> PartsDocument {
    let upload = upload_example();
    let part = PartDocument {
        part_number: 3,
        size: PART_BYTES,
        method: Some(upload.method),
        url: Some(format!(
            "{HOST}/uploads/acme/{GUID}?partNumber=3&uploadId=2~x&X-Amz-Expires=3600&X-Amz-Signature=0f1e2d3c"
        )),
        headers: Some([("x-amz-checksum-sha256".to_owned(), HASH.to_owned())].into()),
        expires_at: Some(upload.expires_at),
    };
    PartsDocument { parts: vec![part], ..parts_example() }
}
