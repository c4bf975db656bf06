//! Response documents for uploads, and for the parts of a large upload.

use std::collections::BTreeMap;

use longshore_domain::ids::FileGuid;
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::{PutUrl, ReceivedPart, Upload};
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

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

/// A large file that is uploaded in parts. Each part has `partSize` bytes, and the last one has the remaining bytes.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UploadInParts)]
pub struct PartsDocument {
    /// Id of the upload, for the creation of a job.
    pub file_guid: FileGuid,
    /// Bytes of each part except the last.
    #[schema(minimum = 5_242_880)]
    pub part_size: u64,
    /// Parts in order: the requested ones, or else those that S3 does not have yet.
    #[schema(max_items = 200)]
    pub parts: Vec<PartDocument>,
}

impl PartsDocument {
    /// Creates the document for some parts of an upload.
    pub(crate) fn new(upload: &Upload, multipart: &Multipart, parts: Vec<PartDocument>) -> Self {
        Self { file_guid: upload.file_guid, part_size: multipart.part_bytes, parts }
    }
}

/// A part of a file. It has a URL only if the request contained its number and its SHA-256.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UploadPart)]
pub struct PartDocument {
    /// Number of the part, from 1.
    #[schema(minimum = 1, maximum = 200)]
    pub part_number: u32,
    /// Size of the part in bytes.
    #[schema(minimum = 1)]
    pub size: u64,
    /// HTTP method of the upload: `PUT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = put, required = false)]
    pub method: Option<&'static str>,
    /// URL to send the part to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", value_type = String, required = false)]
    pub url: Option<String>,
    /// Headers to send unchanged, because they are signed. `Content-Length` is signed too; every HTTP client sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Time by which the PUT must begin, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, value_type = String, required = false)]
    pub expires_at: Option<String>,
}

impl PartDocument {
    /// Creates a part without a URL.
    pub(crate) fn planned(part: Part) -> Self {
        let (part_number, size) = (part.number, part.size_bytes);
        Self { part_number, size, method: None, url: None, headers: None, expires_at: None }
    }

    /// Creates a part with a signed URL that is valid until `expires_at`.
    pub(crate) fn signed(part: Part, signed: PutUrl, expires_at: Timestamp) -> Self {
        Self {
            method: Some("PUT"),
            url: Some(signed.url),
            headers: Some(signed.headers.into_iter().collect()),
            expires_at: Some(expires_at.to_rfc3339()),
            ..Self::planned(part)
        }
    }
}

/// Schema of the only method, `PUT`.
fn put() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["PUT"])).build()
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

/// A part that S3 has received.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceivedPart)]
pub struct ReceivedDocument {
    /// Number of the part, from 1.
    #[schema(minimum = 1, maximum = 200)]
    pub part_number: u32,
    /// Size of the part in bytes.
    pub size: u64,
    /// SHA-256 of the part, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub sha256: Option<String>,
}

impl ReceivedDocument {
    /// Converts an entry of S3's list of parts.
    fn new(part: ReceivedPart) -> Self {
        Self { part_number: part.number, size: part.size_bytes, sha256: part.sha256 }
    }
}
