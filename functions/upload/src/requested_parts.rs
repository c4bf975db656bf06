//! Reads and validates the list of parts for which a client requests URLs, and the SHA-256 checksums of clients.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER_PERMISSIVE;
use longshore::field_error::FieldError;
use longshore::http::{Bad, Checked, Fields};
use longshore::problem::Problem;
use longshore_domain::parts::{MAX_PARTS, Part, PartChecksum};
use serde_json::{Map, Value};
use utoipa::ToSchema;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Parts of a large upload for which the client requests URLs. Not for a file that is uploaded by one PUT.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PartsRequest {
    /// Parts for which URLs are requested. If omitted, the response lists the missing parts, without URLs.
    #[schema(min_items = 1, max_items = 200)]
    parts: Option<Vec<PartRequest>>,
}

/// A part to be uploaded next.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WantedPart)]
pub(crate) struct PartRequest {
    /// Number of the part, from 1.
    #[schema(minimum = 1, maximum = 200)]
    part_number: u32,
    /// SHA-256 of the part's bytes, as 64 hexadecimal digits or 44 characters of base64. S3 refuses any other bytes.
    #[schema(pattern = "^([0-9A-Fa-f]{64}|[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$")]
    sha256: String,
}

/// Reads the parts of the field `parts`, each with its SHA-256 in base64. Records errors in `fields`.
pub(crate) fn read_parts(fields: &mut Fields, list: Vec<Map<String, Value>>, all: &[Part]) -> Vec<PartChecksum> {
    let mut parts: Vec<PartChecksum> = Vec::new();
    for (index, members) in list.into_iter().enumerate() {
        match read_part(Fields::new(members), all, &parts) {
            Ok(part) => parts.push(part),
            Err(problem) => {
                let with_index =
                    |error: FieldError| FieldError { pointer: format!("/parts/{index}{}", error.pointer), ..error };
                fields.refuse_all(problem.errors.into_iter().map(with_index).collect());
            }
        }
    }
    parts
}

/// Parses the field `parts` as a list of objects. The objects are validated later.
pub(crate) fn list(value: &Value) -> Checked<Vec<Map<String, Value>>> {
    let list = value.as_array().filter(|list| (1..=MAX_PARTS as usize).contains(&list.len()));
    let objects = list.and_then(|list| list.iter().map(|part| part.as_object().cloned()).collect());
    objects.ok_or_else(|| {
        let detail = format!("parts must be a list of 1 to {MAX_PARTS} objects, each with partNumber and sha256");
        Bad::new("invalid_parts", detail)
    })
}

fn read_part(mut fields: Fields, all: &[Part], before: &[PartChecksum]) -> Result<PartChecksum, Problem> {
    let part = fields.required("partNumber", |value| {
        let known = all.iter().find(|part| value.as_u64() == Some(u64::from(part.number)));
        match known {
            None => Err(Bad::new("unknown_part", unknown(all.len()))),
            Some(part) if before.iter().any(|other| other.part == *part) => {
                Err(Bad::new("repeated_part", "the list contains the part twice"))
            }
            Some(part) => Ok(*part),
        }
    });
    let sha256 = fields.required("sha256", sha256);
    let (Some(part), Some(sha256)) = (part, sha256) else { return Err(fields.into_problem()) };
    fields.finish().map(|()| PartChecksum { part, sha256 })
}

fn unknown(parts: usize) -> String {
    match parts {
        0 => "the file is uploaded by one PUT and has no parts".to_owned(),
        _ => format!("the upload has parts 1 to {parts}"),
    }
}

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
