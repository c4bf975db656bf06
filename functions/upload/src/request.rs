//! Reads and validates a request for an upload.

use std::collections::BTreeMap;

use longshore::http::{Bad, Checked, Fields};
use longshore::problem::Problem;
use longshore_domain::parts::{MAX_PARTS, MIN_PART_BYTES, PartChecksum, part_bytes, parts};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::requested_parts::{PartRequest, list, read_parts, sha256};

/// Maximum length of a file name, in characters: more than any file system allows.
const MAX_NAME_CHARS: usize = 255;

/// Maximum length of a media type with its parameters. It becomes a header.
const MAX_TYPE_BYTES: usize = 255;

/// Maximum size of a part in S3.
const MAX_PART_BYTES: u64 = 5 << 30;

/// A request to upload a file.
#[derive(Clone, Eq, PartialEq, Debug, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UploadRequest {
    /// Name of the file, without control characters. The name (`.jsonl`, `.ndjson`) or `contentType` marks a file as
    /// JSON Lines; any other file is CSV.
    #[schema(min_length = 1, max_length = 255, pattern = r"^[^\u0000-\u001f\u007f-\u009f]+$", examples("people.csv"))]
    pub file_name: String,
    /// Media type of the file.
    #[schema(
        max_length = 255,
        pattern = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+( ?; ?[!#$%&'*+.^_`|~0-9A-Za-z-]+= ?[!-:<-~]+( [!-:<-~]+)*)*$",
        examples("text/csv", "application/x-ndjson")
    )]
    pub content_type: String,
    /// Exact size in bytes. The maximum is a setting of the deployment.
    #[schema(rename = "size", minimum = 1, maximum = 5_368_709_120_usize)]
    pub size_bytes: u64,
    /// SHA-256 of the file, as 64 hexadecimal digits or 44 characters of base64. S3 verifies it. Not allowed for a file
    /// that is uploaded in parts, because each part has its own checksum.
    #[schema(pattern = "^([0-9A-Fa-f]{64}|[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$")]
    pub sha256: Option<String>,
    /// Part size in bytes: a larger file is uploaded in parts of this size. If omitted, the deployment's
    /// `MultipartBytes` decides which files are uploaded in parts, and the response contains the part size.
    #[schema(minimum = 5_242_880, maximum = 5_368_709_120_usize)]
    pub part_size: Option<u64>,
    /// Parts whose URLs this response contains, as in `POST /api/uploads/{fileGuid}/url`: all parts, or those to be
    /// uploaded first. Requires `partSize`, because each checksum covers one part's bytes.
    #[schema(min_items = 1, max_items = 200, value_type = Option<Vec<PartRequest>>)]
    pub parts: Option<Vec<PartChecksum>>,
}

impl UploadRequest {
    /// Reads a request for a file of up to `max_file_bytes`. A file above `multipart_bytes` is uploaded in parts.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub fn read(mut fields: Fields, max_file_bytes: u64, multipart_bytes: u64) -> Result<Self, Problem> {
        let file_name = fields.required("fileName", file_name);
        let content_type = fields.required("contentType", content_type);
        let size_bytes = fields.required("size", |value| size_bytes(value, max_file_bytes));
        let sha256 = fields.optional("sha256", sha256);
        let part_size = fields.optional("partSize", |value| part_size(value, size_bytes));
        let limit = part_size.unwrap_or(multipart_bytes);
        if sha256.is_some() && size_bytes.is_some_and(|size| size > limit) {
            fields.refuse("sha256", &in_parts(limit));
        }
        let list = fields.optional("parts", list);
        if list.is_some() && part_size.is_none() {
            fields.refuse(
                "partSize",
                &Bad::new("required", "partSize is required with parts, because a checksum depends on it"),
            );
        }
        let parts = list.zip(size_bytes).zip(part_size).map(|((list, size), part_size)| {
            let parts: Vec<_> = if size > part_size { parts(size, part_size).collect() } else { Vec::new() };
            read_parts(&mut fields, list, &parts)
        });
        let (Some(file_name), Some(content_type), Some(size_bytes)) = (file_name, content_type, size_bytes) else {
            return Err(fields.into_problem());
        };
        fields.finish()?;
        Ok(Self { file_name, content_type, size_bytes, sha256, part_size, parts })
    }

    /// Returns the bytes of each part except the last, if the file is uploaded in parts. The default limit is
    /// `multipart_bytes`.
    pub(crate) fn part_bytes(&self, multipart_bytes: u64) -> Option<u64> {
        let is_large = self.size_bytes > self.part_size.unwrap_or(multipart_bytes);
        is_large.then(|| self.part_size.unwrap_or_else(|| part_bytes(self.size_bytes, multipart_bytes)))
    }

    /// Returns the canonical form of the request. Two bodies with the same meaning have the same form. It excludes
    /// omitted fields, so that an idempotency key stays valid after a deployment that adds a field.
    pub(crate) fn canonical(&self) -> Value {
        let Self { file_name, content_type, size_bytes, sha256, part_size, parts } = self;
        let mut request =
            json!({ "fileName": file_name, "contentType": content_type, "size": size_bytes, "sha256": sha256 });
        if let Some(part_size) = part_size {
            let parts: BTreeMap<_, _> =
                parts.iter().flatten().map(|PartChecksum { part, sha256 }| (part.number, sha256)).collect();
            request["partSize"] = json!(part_size);
            request["parts"] = json!(parts);
        }
        request
    }
}

fn file_name(value: &Value) -> Checked<String> {
    let bad = || {
        let detail = format!("fileName must have 1 to {MAX_NAME_CHARS} characters, and no control characters");
        Bad::new("invalid_file_name", detail)
    };
    let name = value.as_str().ok_or_else(bad)?;
    let fits = (1..=MAX_NAME_CHARS).contains(&name.chars().count());
    if fits && !name.chars().any(char::is_control) { Ok(name.to_owned()) } else { Err(bad()) }
}

fn content_type(value: &Value) -> Checked<String> {
    let text = value.as_str().filter(|text| text.len() <= MAX_TYPE_BYTES && is_media_type(text));
    text.map(str::to_owned).ok_or_else(|| {
        let detail = "contentType must be a media type such as text/csv or application/x-ndjson";
        Bad::new("invalid_content_type", detail)
    })
}

/// Accepts `type/subtype` with optional parameters. Single spaces only: the URL signature collapses several spaces into
/// one.
fn is_media_type(text: &str) -> bool {
    let mut parts = text.split(';');
    let (kind, subtype) = parts.next().and_then(|media| media.trim_end().split_once('/')).unwrap_or_default();
    let is_parameter = |part: &str| {
        let (name, value) = part.trim().split_once('=').unwrap_or_default();
        is_token(name) && !value.is_empty()
    };
    // The value becomes a header, and a control character could end the header line.
    let is_line = text.bytes().all(|b| (b' '..=b'~').contains(&b)) && text == text.trim() && !text.contains("  ");
    is_token(kind) && is_token(subtype) && parts.all(is_parameter) && is_line
}

/// Returns true for a token of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn size_bytes(value: &Value, max: u64) -> Checked<u64> {
    match value.as_u64() {
        None => Err(Bad::new("invalid_size", "size must be the number of bytes of the file, a whole number")),
        Some(0) => Err(Bad::new("empty_file", "the file is empty")),
        Some(size) if size > max => {
            Err(Bad::new("file_too_large", format!("the file has {size} bytes; the maximum is {max}")))
        }
        Some(size) => Ok(size),
    }
}

/// Parses a part size that cuts the file into at most `MAX_PARTS` parts, none smaller than S3's minimum.
fn part_size(value: &Value, size_bytes: Option<u64>) -> Checked<u64> {
    let least = size_bytes.unwrap_or(0).div_ceil(u64::from(MAX_PARTS)).max(MIN_PART_BYTES);
    value.as_u64().filter(|size| (least..=MAX_PART_BYTES).contains(size)).ok_or_else(|| {
        let detail = format!(
            "partSize must be a number of bytes from {MIN_PART_BYTES} to {MAX_PART_BYTES} that results in up to \
             {MAX_PARTS} parts; for this file, at least {least}"
        );
        Bad::new("invalid_part_size", detail)
    })
}

fn in_parts(multipart_bytes: u64) -> Bad {
    let detail = format!(
        "a file of more than {multipart_bytes} bytes is uploaded in parts, each with its own SHA-256; omit sha256"
    );
    Bad::new("sha256_not_allowed", detail)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
