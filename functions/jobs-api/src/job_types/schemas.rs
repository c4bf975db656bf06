//! The schemas of a PUT. Each is compiled once, to find its errors.

use longshore::field_error::FieldError;
use longshore::http::Fields;
use longshore::json_schema::JsonSchema;
use longshore_domain::registration::{BadSchema, check_schema};
use serde_json::Value;

/// Reads a schema. Records its error at the part that has it.
pub(super) fn schema(fields: &mut Fields, member: &'static str) -> Option<Value> {
    let schema = fields.optional(member, |value| Ok(value.clone()))?;
    match check(&format!("/{member}"), &schema) {
        Ok(()) => Some(schema),
        Err(error) => {
            fields.refuse_all(vec![error]);
            None
        }
    }
}

fn check(pointer: &str, schema: &Value) -> Result<(), FieldError> {
    check_schema(schema).map_err(|bad| match bad {
        BadSchema::NotAnObject => FieldError::new(pointer, "invalid_type", bad.to_string()),
        BadSchema::TooLarge(_) => FieldError::new(pointer, "schema_too_large", bad.to_string()),
        BadSchema::TooDeep => FieldError::new(pointer, "schema_too_complex", bad.to_string()),
    })?;
    JsonSchema::compile(pointer, schema).map(drop)
}
