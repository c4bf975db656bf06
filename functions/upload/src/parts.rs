//! What the answers say of the parts of a large upload.

use std::collections::BTreeMap;

use longshore::files::{PutUrl, ReceivedPart};
use longshore_domain::ids::FileGuid;
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::Upload;
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::document::put;

/// A large file and how it is put. Each part has `partSize` bytes, the last one what is left.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UploadInParts)]
pub struct PartsDocument {
    /// Names the file when a job is created.
    pub file_guid: FileGuid,
    /// Bytes of each part but the last.
    #[schema(minimum = 5_242_880)]
    pub part_size: u64,
    /// In order: those that were asked for, or else those that S3 does not have.
    #[schema(max_items = 200)]
    pub parts: Vec<PartDocument>,
}

impl PartsDocument {
    /// Some parts of an upload.
    pub(crate) fn new(upload: &Upload, multipart: &Multipart, parts: Vec<PartDocument>) -> Self {
        Self { file_guid: upload.file_guid, part_size: multipart.part_bytes, parts }
    }
}

/// A part of a file. Where to put it is told once it was asked for with its SHA-256.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UploadPart)]
pub struct PartDocument {
    /// Its place, from 1.
    #[schema(minimum = 1, maximum = 200)]
    pub part_number: u32,
    /// Its size in bytes.
    #[schema(minimum = 1)]
    pub size: u64,
    /// `PUT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = put, required = false)]
    pub method: Option<&'static str>,
    /// Where to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", value_type = String, required = false)]
    pub url: Option<String>,
    /// To be sent exactly so: they are signed. The length is signed too, and sent by every client by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    pub headers: Option<BTreeMap<String, String>>,
    /// When the URL ends, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, value_type = String, required = false)]
    pub expires_at: Option<String>,
}

impl PartDocument {
    /// A part as it is planned.
    pub(crate) fn planned(part: Part) -> Self {
        let (part_number, size) = (part.number, part.size_bytes);
        Self { part_number, size, method: None, url: None, headers: None, expires_at: None }
    }

    /// A part with a URL, until then.
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

/// A part that S3 has.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceivedPart)]
pub struct ReceivedDocument {
    /// Its place, from 1.
    #[schema(minimum = 1, maximum = 200)]
    pub part_number: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub sha256: Option<String>,
}

impl ReceivedDocument {
    /// As S3 lists it.
    pub(crate) fn new(part: ReceivedPart) -> Self {
        Self { part_number: part.number, size: part.size_bytes, sha256: part.sha256 }
    }
}
