//! What a client says about the file that it wants to put, and everything that can be wrong with it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::http::{Bad, Checked, Fields};
use longshore::problem::Problem;
use serde_json::{Value, json};

/// The longest file name, in characters: more than any file system takes.
const MAX_NAME_CHARS: usize = 255;

/// The longest media type with its parameters; it becomes a header.
const MAX_TYPE_BYTES: usize = 255;

/// A promise to put a file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct UploadRequest {
    /// The client's name for it.
    pub file_name: String,
    /// Its media type.
    pub content_type: String,
    /// Its size, at least one byte.
    pub size_bytes: u64,
    /// Its checksum in base64, if the client knows it.
    pub sha256: Option<String>,
}

impl UploadRequest {
    /// Reads a request for a file of up to `max_file_bytes`.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub fn read(mut fields: Fields, max_file_bytes: u64) -> Result<Self, Problem> {
        let file_name = fields.required("fileName", file_name);
        let content_type = fields.required("contentType", content_type);
        let size_bytes = fields.required("size", |value| size_bytes(value, max_file_bytes));
        let sha256 = fields.optional("sha256", sha256);
        let (Some(file_name), Some(content_type), Some(size_bytes)) = (file_name, content_type, size_bytes) else {
            return Err(fields.into_problem());
        };
        fields.finish()?;
        Ok(Self { file_name, content_type, size_bytes, sha256 })
    }

    /// What it says, in one spelling: the same for two bodies that mean the same.
    pub(crate) fn meaning(&self) -> Value {
        let Self { file_name, content_type, size_bytes, sha256 } = self;
        json!({ "fileName": file_name, "contentType": content_type, "size": size_bytes, "sha256": sha256 })
    }
}

fn file_name(value: &Value) -> Checked<String> {
    let bad = || {
        let detail = format!("fileName is 1 to {MAX_NAME_CHARS} characters, none of them a control character");
        Bad::new("invalid_file_name", detail)
    };
    let name = value.as_str().ok_or_else(bad)?;
    let fits = (1..=MAX_NAME_CHARS).contains(&name.chars().count());
    if fits && !name.chars().any(char::is_control) { Ok(name.to_owned()) } else { Err(bad()) }
}

fn content_type(value: &Value) -> Checked<String> {
    let text = value.as_str().filter(|text| text.len() <= MAX_TYPE_BYTES && is_media_type(text));
    text.map(str::to_owned).ok_or_else(|| {
        let detail = "contentType is a media type such as text/csv or application/x-ndjson";
        Bad::new("invalid_content_type", detail)
    })
}

/// `type/subtype`, and perhaps parameters. Single spaces only: a signature counts several in a row as one.
fn is_media_type(text: &str) -> bool {
    let mut parts = text.split(';');
    let (kind, subtype) = parts.next().and_then(|media| media.trim_end().split_once('/')).unwrap_or_default();
    let is_parameter = |part: &str| {
        let (name, value) = part.trim().split_once('=').unwrap_or_default();
        is_token(name) && !value.is_empty() && value.bytes().all(|b| (b' '..=b'~').contains(&b))
    };
    is_token(kind) && is_token(subtype) && parts.all(is_parameter) && text == text.trim() && !text.contains("  ")
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn size_bytes(value: &Value, max: u64) -> Checked<u64> {
    match value.as_u64() {
        None => Err(Bad::new("invalid_size", "size is the number of bytes of the file, a whole number")),
        Some(0) => Err(Bad::new("empty_file", "the file is empty: there is nothing to process")),
        Some(size) if size > max => {
            Err(Bad::new("file_too_large", format!("the file has {size} bytes; up to {max} are taken")))
        }
        Some(size) => Ok(size),
    }
}

/// SHA-256 as people write it (64 hexadecimal digits) or as S3 does (44 characters of base64), as S3 does.
fn sha256(value: &Value) -> Checked<String> {
    let text = value.as_str().unwrap_or_default();
    let bytes = match text.len() {
        64 => from_hex(text),
        44 => STANDARD.decode(text).ok(),
        _ => None,
    };
    bytes.filter(|bytes| bytes.len() == 32).map(|bytes| STANDARD.encode(bytes)).ok_or_else(|| {
        let detail = "sha256 is the SHA-256 of the file in hexadecimal (64 digits) or base64 (44 characters)";
        Bad::new("invalid_sha256", detail)
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: &u8| char::from(*b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
