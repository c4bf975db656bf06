//! SHA-256 checksums, as clients give them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::http::{Bad, Checked};
use longshore_domain::parts::Part;
use serde_json::Value;

/// A part to be uploaded, and the checksum of its bytes.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PartChecksum {
    /// The part.
    pub part: Part,
    /// SHA-256 of its bytes, in base64.
    pub sha256: String,
}

/// Parses a SHA-256 in hexadecimal (64 digits) or base64 (44 characters, S3's format), and returns it in base64.
pub(crate) fn sha256(value: &Value) -> Checked<String> {
    let text = value.as_str().unwrap_or_default();
    let bytes = match text.len() {
        64 => from_hex(text),
        44 => STANDARD.decode(text).ok(),
        _ => None,
    };
    bytes.filter(|bytes| bytes.len() == 32).map(|bytes| STANDARD.encode(bytes)).ok_or_else(|| {
        let detail = "sha256 is a SHA-256 in hexadecimal (64 digits) or base64 (44 characters)";
        Bad::new("invalid_sha256", detail)
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: &u8| char::from(*b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}
