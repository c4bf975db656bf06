//! What the answers say of an upload.

use std::collections::BTreeMap;

use longshore::files::PutUrl;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::Upload;
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use crate::state::UploadProgress;
use crate::{PartsDocument, ReceivedDocument};

/// What the client needs to put its file: in one piece, or in parts if it is large.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = PromisedUpload)]
pub enum PromisedUpload {
    /// By one PUT.
    Whole(UploadDocument),
    /// Part by part.
    InParts(PartsDocument),
}

impl PromisedUpload {
    /// Which upload.
    pub(crate) fn file_guid(&self) -> FileGuid {
        match self {
            Self::Whole(upload) => upload.file_guid,
            Self::InParts(upload) => upload.file_guid,
        }
    }
}

/// What the client needs to put its file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Upload)]
pub struct UploadDocument {
    /// Names the file when a job is created.
    pub file_guid: FileGuid,
    /// `PUT`.
    #[schema(schema_with = put)]
    pub method: &'static str,
    /// Where to.
    #[schema(format = "uri")]
    pub url: String,
    /// To be sent exactly so: they are signed. The length is signed too, and sent by every client by itself.
    pub headers: BTreeMap<String, String>,
    /// When the URL ends, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// The one method there is.
pub(crate) fn put() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["PUT"])).build()
}

impl UploadDocument {
    /// A URL for an upload, until then.
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

/// Whether the file of an upload was put.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UploadState {
    /// Nothing was put, or not all parts.
    Waiting,
    /// The file is there, as it was promised: S3 takes no other.
    Received,
    /// It was not completed within a day, and its parts are gone.
    Abandoned,
}

/// An upload as it stands.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadStatus {
    /// Names the file when a job is created.
    pub file_guid: FileGuid,
    /// The client's name for it.
    pub file_name: String,
    /// Its media type.
    pub content_type: String,
    /// Its size in bytes.
    #[schema(minimum = 1)]
    pub size: u64,
    /// Whether it was put.
    pub state: UploadState,
    /// When the upload and its file are forgotten, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Of an upload in parts that waits: bytes of each part but the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5_242_880, value_type = u64, required = false)]
    pub part_size: Option<u64>,
    /// Of an upload in parts that waits: the parts that S3 has, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 200, value_type = Vec<ReceivedDocument>, required = false)]
    pub received_parts: Option<Vec<ReceivedDocument>>,
}

impl UploadStatus {
    /// An upload as it stands.
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
