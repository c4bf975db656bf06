//! A job's JSON Schema, compiled: what rows are checked against, and what it says about single columns.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::kinds::{self, Kind};
use super::violation;
use crate::handler::Rejection;
use crate::problem::FieldError;

/// Steps that one match of a pattern with look-around or back-references may take; others are linear anyway.
const BACKTRACK_LIMIT: usize = 100_000;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    kinds: HashMap<String, Kind>,
    required: Vec<String>,
    /// Columns beyond `properties` may mean something to it: `patternProperties`.
    open: bool,
}

impl Schema {
    /// Compiles a schema as 2020-12. Formats are checked, though the standard leaves that open: whoever writes
    /// `"format": "email"` above an import means it. Nothing is fetched.
    ///
    /// # Errors
    /// Where the schema is wrong, and how.
    pub(super) fn compile(schema: &Value) -> Result<Self, FieldError> {
        let Some(members) = schema.as_object() else {
            return Err(invalid("", "the schema must be a JSON object"));
        };
        let dialect = members.get("$schema").and_then(Value::as_str);
        if dialect.is_some_and(|uri| !uri.contains("//json-schema.org/draft/2020-12/schema")) {
            let detail =
                "schemas are read as 2020-12: write https://json-schema.org/draft/2020-12/schema, or leave $schema out";
            return Err(invalid("/$schema", detail));
        }
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .offline()
            .build(schema)
            .map_err(|e| refused(&e))?;
        let shape = kinds::Shape::of(schema);
        Ok(Self { validator, kinds: shape.kinds, required: shape.required, open: shape.open })
    }

    /// What a column's cells are.
    pub(super) fn kind(&self, column: &str) -> Kind {
        self.kinds.get(column).copied().unwrap_or(Kind::TEXT)
    }

    /// Whether it says anything about a column.
    pub(super) fn knows(&self, column: &str) -> bool {
        self.open || self.kinds.is_empty() || self.kinds.contains_key(column)
    }

    /// Properties that every row must have.
    pub(super) fn required(&self) -> &[String] {
        &self.required
    }

    /// Checks a row. Details are sought only for a row that is wrong.
    ///
    /// # Errors
    /// `schema_…` with the first thing that is wrong, and how many more.
    pub(super) fn check(&self, row: &Value) -> Result<(), Rejection> {
        if self.validator.is_valid(row) {
            return Ok(());
        }
        let mut errors = self.validator.iter_errors(row);
        match errors.next() {
            Some(first) => Err(violation::rejection(&first, errors.count())),
            None => Ok(()),
        }
    }
}

fn refused(error: &ValidationError<'_>) -> FieldError {
    if error.kind().keyword() == "$ref" {
        let detail = format!("{error}; other documents are not fetched: put the definition under $defs");
        return invalid(error.instance_path().as_str(), &detail);
    }
    invalid(error.instance_path().as_str(), &error.to_string())
}

fn invalid(pointer: &str, detail: &str) -> FieldError {
    FieldError::new(format!("/options/schema{pointer}"), "invalid_schema", detail)
}
