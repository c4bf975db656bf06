//! Response documents for uploads.

use longshore_domain::ports::PutUrl;
use std::collections::BTreeMap;

use longshore_domain::ids::FileGuid;
use longshore_domain::ports::Upload;
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::parts::{PartsDocument, ReceivedDocument, put};
use crate::state::UploadProgress;

/// Instructions for uploading a file: by one PUT, or in parts if the file is large.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = PromisedUpload)]
pub enum PromisedUpload {
    /// Upload by one PUT.
    Whole(UploadDocument),
    /// Upload in parts.
    InParts(PartsDocument),
}

impl PromisedUpload {
    /// Returns the upload's id.
    pub(crate) fn file_guid(&self) -> FileGuid {
        match self {
            Self::Whole(upload) => upload.file_guid,
            Self::InParts(upload) => upload.file_guid,
        }
    }
}

/// Instructions for uploading a file by one PUT.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Upload)]
pub struct UploadDocument {
    /// Id of the upload, for the creation of a job.
    pub file_guid: FileGuid,
    /// HTTP method of the upload: `PUT`.
    #[schema(schema_with = put)]
    pub method: &'static str,
    /// URL to send the file to.
    #[schema(format = "uri")]
    pub url: String,
    /// Headers to send unchanged, because they are signed. `Content-Length` is signed too; every HTTP client sets it.
    pub headers: BTreeMap<String, String>,
    /// Time by which the PUT must begin, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

impl UploadDocument {
    /// Creates the instructions with a signed URL that is valid until `expires_at`.
    pub(crate) fn new(upload: &Upload, signed: PutUrl, expires_at: Timestamp) -> Self {
        Self {
            file_guid: upload.file_guid,
            method: "PUT",
            url: signed.url,
            headers: signed.headers.into_iter().collect(),
            expires_at: expires_at.to_rfc3339(),
        }
    }
}

/// State of an upload.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UploadState {
    /// The file is not complete yet.
    Waiting,
    /// The file is complete. It matches the request, because S3 accepts no other file.
    Received,
    /// The upload was not completed within a day, and its parts were removed.
    Abandoned,
}

/// State of an upload.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadStatus {
    /// Id of the upload, for the creation of a job.
    pub file_guid: FileGuid,
    /// Name of the file, as set by the client.
    pub file_name: String,
    /// Media type of the file.
    pub content_type: String,
    /// Size of the file in bytes.
    #[schema(minimum = 1)]
    pub size: u64,
    /// State of the upload.
    pub state: UploadState,
    /// Time when the upload and its file are removed, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Bytes of each part except the last. Only for an incomplete upload in parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5_242_880, value_type = u64, required = false)]
    pub part_size: Option<u64>,
    /// Parts that S3 has received, in order. Only for an incomplete upload in parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 200, value_type = Vec<ReceivedDocument>, required = false)]
    pub received_parts: Option<Vec<ReceivedDocument>>,
}

impl UploadStatus {
    /// Converts an upload and its progress.
    pub(crate) fn new(upload: Upload, state: UploadProgress) -> Self {
        let (state, part_size, received_parts) = match state {
            UploadProgress::Received => (UploadState::Received, None, None),
            UploadProgress::Waiting => (UploadState::Waiting, None, None),
            UploadProgress::InParts(multipart, received) => {
                (UploadState::Waiting, Some(multipart.part_bytes), Some(received))
            }
            UploadProgress::Completing(multipart) => {
                (UploadState::Waiting, Some(multipart.part_bytes), Some(Vec::new()))
            }
            UploadProgress::Abandoned => (UploadState::Abandoned, None, None),
        };
        Self {
            file_guid: upload.file_guid,
            file_name: upload.file_name,
            content_type: upload.content_type,
            size: upload.size_bytes,
            state,
            expires_at: Timestamp(upload.expires_at.saturating_mul(1000)).to_rfc3339(),
            part_size,
            received_parts: received_parts.map(|parts| parts.into_iter().map(ReceivedDocument::new).collect()),
        }
    }
}
