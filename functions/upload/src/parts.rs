//! Response documents for the parts of a large upload.

use longshore_domain::ports::{PutUrl, ReceivedPart};
use std::collections::BTreeMap;

use longshore_domain::ids::FileGuid;
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::Upload;
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

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
    pub(crate) fn new(part: ReceivedPart) -> Self {
        Self { part_number: part.number, size: part.size_bytes, sha256: part.sha256 }
    }
}

/// Schema of the only method, `PUT`.
pub(crate) fn put() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["PUT"])).build()
}
