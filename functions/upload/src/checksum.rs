//! SHA-256 checksums of clients.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER_PERMISSIVE;
use longshore::http::{Bad, Checked};
use serde_json::Value;

/// Parses a SHA-256 in hexadecimal (64 digits) or base64 (44 characters, S3's format), and returns it in base64.
pub(crate) fn sha256(value: &Value) -> Checked<String> {
    let text = value.as_str().unwrap_or_default();
    let bytes = match text.len() {
        64 => HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok(),
        44 => STANDARD.decode(text).ok(),
        _ => None,
    };
    bytes.filter(|bytes| bytes.len() == 32).map(|bytes| STANDARD.encode(bytes)).ok_or_else(|| {
        let detail = "sha256 must be a SHA-256 in hexadecimal (64 digits) or base64 (44 characters)";
        Bad::new("invalid_sha256", detail)
    })
}
