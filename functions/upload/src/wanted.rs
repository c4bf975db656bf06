//! Reads and validates the list of parts for which a client requests URLs.

use longshore::http::{Bad, Checked, Fields};
use longshore::problem::{FieldError, Problem};
use longshore_domain::parts::{MOST_PARTS, Part};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::checksum::sha256;
use longshore_domain::parts::PartChecksum;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Parts of a large upload for which the client requests URLs. A file uploaded by one PUT has no parts and takes no
/// list.
#[allow(dead_code, reason = "only described")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PartsRequest {
    /// Parts to get URLs for. If omitted, the answer lists the parts that S3 does not have, without URLs.
    #[schema(min_items = 1, max_items = 200)]
    parts: Option<Vec<WantedPart>>,
}

/// A part to be uploaded next.
#[allow(dead_code, reason = "only described")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WantedPart {
    /// Number of the part, from 1.
    #[schema(minimum = 1, maximum = 200)]
    part_number: u32,
    /// SHA-256 of the part's bytes, as 64 hexadecimal digits or 44 characters of base64. S3 refuses any other bytes.
    #[schema(pattern = "^([0-9A-Fa-f]{64}|[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$")]
    sha256: String,
}

/// Returns the parts that the field `parts` names, each with its SHA-256 in base64. Errors are recorded in `fields`.
pub(crate) fn wanted(fields: &mut Fields, list: Vec<Map<String, Value>>, all: &[Part]) -> Vec<PartChecksum> {
    let mut wanted: Vec<PartChecksum> = Vec::new();
    for (place, members) in list.into_iter().enumerate() {
        match one(Fields::new(members), all, &wanted) {
            Ok(part) => wanted.push(part),
            Err(problem) => {
                let at =
                    |error: FieldError| FieldError { pointer: format!("/parts/{place}{}", error.pointer), ..error };
                fields.refuse_all(problem.errors.into_iter().map(at).collect());
            }
        }
    }
    wanted
}

/// Parses the field `parts` as a list of objects. The objects are validated later.
pub(crate) fn list(value: &Value) -> Checked<Vec<Map<String, Value>>> {
    let list = value.as_array().filter(|list| (1..=MOST_PARTS as usize).contains(&list.len()));
    let objects = list.and_then(|list| list.iter().map(|part| part.as_object().cloned()).collect());
    objects.ok_or_else(|| {
        let detail = format!("parts is a list of 1 to {MOST_PARTS} objects, each with partNumber and sha256");
        Bad::new("invalid_parts", detail)
    })
}

fn one(mut fields: Fields, all: &[Part], before: &[PartChecksum]) -> Result<PartChecksum, Problem> {
    let part = fields.required("partNumber", |value| {
        let known = all.iter().find(|part| value.as_u64() == Some(u64::from(part.number)));
        match known {
            None => Err(Bad::new("unknown_part", unknown(all.len()))),
            Some(part) if before.iter().any(|other| other.part == *part) => {
                Err(Bad::new("repeated_part", "the part is named twice; a part has one checksum"))
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
        0 => "the upload is put by one PUT, and has no parts".to_owned(),
        _ => format!("the upload has the parts 1 to {parts}"),
    }
}
