//! JSON Schemas of registered job types, under the limits of an import's schema: nothing is fetched, and the time of a
//! check is bounded before the schema is compiled.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::handler::Rejection;
use crate::job_types::import::Schema;

/// A compiled JSON Schema (2020-12). Compiling costs as much as thousands of checks, so compile a schema once.
#[derive(Debug)]
pub struct JsonSchema(Schema);

impl JsonSchema {
    /// Compiles a schema that a request has at this pointer.
    ///
    /// # Errors
    /// `invalid_schema` at the part that is not valid, or refers to another document; `schema_too_complex` at the part
    /// that could take too long to check.
    pub fn compile(pointer: &str, schema: &Value) -> Result<Self, FieldError> {
        Schema::compile_at(pointer, schema).map(Self)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// `schema_…` with the first error; `row_too_complex` for a value that is too large for this schema.
    pub fn check(&self, value: &Value) -> Result<(), Rejection> {
        self.0.check(value)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    fn refused(schema: &Value) -> (String, String) {
        let error = JsonSchema::compile("/itemSchema", schema).unwrap_err();
        assert!(error.detail.chars().count() <= 501, "{}", error.detail);
        (error.pointer, error.code)
    }

    #[test]
    fn a_schema_is_compiled_once_and_checks_values() {
        let schema =
            json!({ "type": "object", "required": ["email"], "properties": { "email": { "format": "email" } } });
        let compiled = JsonSchema::compile("/itemSchema", &schema).unwrap();
        assert!(compiled.check(&json!({ "email": "ann@example.com" })).is_ok());
        assert_eq!(compiled.check(&json!({ "email": "ann" })).unwrap_err().code, "schema_format");
        assert_eq!(compiled.check(&json!({})).unwrap_err().code, "schema_required");
    }

    #[test]
    fn a_schema_that_is_not_valid_is_refused_with_the_position_of_its_error() {
        for (schema, pointer, code) in [
            (json!({ "type": "text" }), "/itemSchema/type", "invalid_schema"),
            (
                json!({ "properties": { "a/b": { "minimum": "1" } } }),
                "/itemSchema/properties/a~1b/minimum",
                "invalid_schema",
            ),
            (
                json!({ "properties": { "a": { "pattern": "(" } } }),
                "/itemSchema/properties/a/pattern",
                "invalid_schema",
            ),
            (json!({ "$schema": "http://json-schema.org/draft-07/schema#" }), "/itemSchema/$schema", "invalid_schema"),
            (
                json!({ "properties": { "a": { "pattern": "((a{100}){100}){100}" } } }),
                "/itemSchema/properties/a",
                "schema_too_complex",
            ),
        ] {
            assert_eq!(refused(&schema), (pointer.to_owned(), code.to_owned()), "{schema}");
        }
    }

    #[test]
    fn no_reference_to_another_document_is_followed() {
        for reference in [
            "http://169.254.169.254/latest/meta-data",
            "https://example.com/schema.json",
            "file:///etc/passwd",
            "file:///proc/self/environ",
            "schema.json",
            "//example.com/a",
            "#/$defs/none",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let schema = json!({ "properties": { "a": { keyword: reference } } });
                let pointer = format!("/itemSchema/properties/a/{keyword}");
                assert_eq!(refused(&schema), (pointer, "invalid_schema".to_owned()), "{schema}");
            }
        }
        let schema = json!({ "$defs": { "x": { "$id": "file:///etc/passwd" } }, "$ref": "#/$defs/x" });
        assert_eq!(refused(&schema).1, "invalid_schema");
    }

    #[test]
    fn references_that_never_end_or_multiply_are_refused() {
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "allOf": [{ "$ref": "#" }] }),
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "anyOf": [{ "$ref": "#/$defs/a" }] } }, "$ref": "#/$defs/a" }),
            doubling(30),
        ] {
            assert_eq!(refused(&schema).1, "schema_too_complex", "{schema}");
        }
        let tree = json!({ "properties": { "children": { "items": { "$ref": "#" } } } });
        assert!(JsonSchema::compile("", &tree).is_ok(), "a part may refer to itself below a property");
    }

    /// A schema of two references to a schema of two references, and so on.
    fn doubling(levels: usize) -> Value {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            definitions.insert(format!("d{level}"), json!({ "allOf": [next.clone(), next] }));
        }
        definitions.insert(format!("d{levels}"), json!({ "type": "string" }));
        json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
    }

    #[test]
    fn a_pattern_of_exponential_time_is_bounded() {
        for pattern in ["^(a+)+$", "^(a|a)*$", "^(?=(a+)+b)(a|aa)+$", "^(a*)*\\1b$"] {
            let schema = json!({ "properties": { "x": { "pattern": pattern } } });
            let started = Instant::now();
            if let Ok(compiled) = JsonSchema::compile("", &schema) {
                assert!(compiled.check(&json!({ "x": format!("{}!", "a".repeat(5_000)) })).is_err(), "{pattern}");
            }
            assert!(started.elapsed() < Duration::from_secs(5), "{pattern}");
        }
    }
}
