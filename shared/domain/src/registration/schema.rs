//! Limits of the JSON Schemas of a registration, checked before a schema is compiled.

use serde_json::Value;

/// Maximum bytes of a schema as JSON without white space.
pub const MAX_SCHEMA_BYTES: usize = 16 << 10;

/// Maximum levels of objects and arrays within each other. Documents that contain the schema stay below the 128 levels
/// that readers of JSON commonly accept.
pub const MAX_SCHEMA_DEPTH: usize = 64;

/// A schema that is not compiled, with the way to fix it.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum BadSchema {
    /// Not an object.
    #[error("the schema must be a JSON object")]
    NotAnObject,
    /// Too many bytes.
    #[error("the schema has {0} bytes without white space; the maximum is {MAX_SCHEMA_BYTES}")]
    TooLarge(usize),
    /// Too many levels.
    #[error("the schema has more than {MAX_SCHEMA_DEPTH} levels; put parts under $defs, and refer to them")]
    TooDeep,
}

/// Checks the form, the size and the depth of a schema.
///
/// # Errors
/// The first limit that the schema exceeds.
pub fn check_schema(schema: &Value) -> Result<(), BadSchema> {
    if !schema.is_object() {
        return Err(BadSchema::NotAnObject);
    }
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA_BYTES {
        return Err(BadSchema::TooLarge(bytes));
    }
    if levels(schema) > MAX_SCHEMA_DEPTH { Err(BadSchema::TooDeep) } else { Ok(()) }
}

/// Returns the number of objects and arrays within each other. The recursion is bounded: no value is parsed that has
/// more than 128 levels.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_an_object_of_bounded_size_and_depth() {
        let text = |bytes: usize| json!({ "title": "x".repeat(bytes - "{\"title\":\"\"}".len()) });
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
        for (schema, expected) in [
            (json!({}), Ok(())),
            (text(MAX_SCHEMA_BYTES), Ok(())),
            (text(MAX_SCHEMA_BYTES + 1), Err(BadSchema::TooLarge(MAX_SCHEMA_BYTES + 1))),
            (nested(MAX_SCHEMA_DEPTH), Ok(())),
            (nested(MAX_SCHEMA_DEPTH + 1), Err(BadSchema::TooDeep)),
            (json!(true), Err(BadSchema::NotAnObject)),
            (json!([]), Err(BadSchema::NotAnObject)),
            (json!(null), Err(BadSchema::NotAnObject)),
        ] {
            assert_eq!(check_schema(&schema), expected, "{}", schema.to_string().len());
        }
    }
}
