//! A job's compiled JSON Schema: checks rows, and describes single columns.
//!
//! A schema whose cost is not bounded ([`cost`]) is not compiled. A row that would take too long to check fails without
//! being checked, so that it does not delay other rows.

use std::collections::HashMap;
use std::iter;

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::cost::{self, Cost};
use super::kinds::{self, Kind};
use super::refusal::Refusal;
use super::regex_weight::BACKTRACK_LIMIT;
use super::violation;
use crate::field_error::FieldError;
use crate::handler::Rejection;

/// Bytes of one compiled pattern, and of its cache while rows are checked.
const PATTERN_BYTES: usize = 4 << 20;
const PATTERN_CACHE_BYTES: usize = 256 << 10;

/// Maximum number of steps for one row: about a second.
const ROW_STEPS: u64 = 50_000_000;
/// Maximum number of steps of a row for which every error is counted, and branches of `anyOf` and `oneOf` are listed:
/// each step can leave an error in memory.
const DETAIL_STEPS: u64 = 250_000;
/// Bytes of text that count as one additional value.
const TEXT_BYTES: u64 = 8;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    cost: Cost,
    kinds: HashMap<String, Kind>,
    required: Vec<String>,
    /// True if the schema can apply to columns beyond `properties`: `patternProperties`.
    open: bool,
}

impl Schema {
    /// Compiles a schema as 2020-12. Formats are checked, although the standard makes that optional: an author of
    /// `"format": "email"` in an import expects it. Nothing is fetched.
    ///
    /// # Errors
    /// The position of an error in the schema, and the reason; or checking rows against it could take too long.
    pub(super) fn compile(schema: &Value) -> Result<Self, FieldError> {
        Ok(Self::build(schema)?)
    }

    /// Compiles a schema that a request has at this pointer.
    ///
    /// # Errors
    /// As for [`Schema::compile`].
    pub(crate) fn compile_at(pointer: &str, schema: &Value) -> Result<Self, FieldError> {
        Self::build(schema).map_err(|refusal| refusal.at(pointer))
    }

    fn build(schema: &Value) -> Result<Self, Refusal> {
        let Some(members) = schema.as_object() else {
            return Err(Refusal::invalid("", "the schema must be a JSON object"));
        };
        let dialect = members.get("$schema").and_then(Value::as_str);
        if dialect.is_some_and(|uri| !uri.contains("//json-schema.org/draft/2020-12/schema")) {
            let detail = "only JSON Schema 2020-12 is supported: use https://json-schema.org/draft/2020-12/schema, or \
                          omit $schema";
            return Err(Refusal::invalid("/$schema", detail));
        }
        let cost = cost::schema_cost(schema)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(BACKTRACK_LIMIT)
            .size_limit(PATTERN_BYTES)
            .dfa_size_limit(PATTERN_CACHE_BYTES);
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .offline();
        #[cfg(test)]
        let options = options.with_format("step", tests::step);
        let validator = options.build(schema).map_err(|e| refused(&e))?;
        let shape = kinds::Shape::new(schema);
        Ok(Self { validator, cost, kinds: shape.kinds, required: shape.required, open: shape.open })
    }

    /// Returns the kind of a column's cells.
    pub(super) fn kind(&self, column: &str) -> Kind {
        self.kinds.get(column).copied().unwrap_or(Kind::TEXT)
    }

    /// Returns true if the schema mentions a column.
    pub(super) fn knows(&self, column: &str) -> bool {
        self.open || self.kinds.is_empty() || self.kinds.contains_key(column)
    }

    /// Returns the properties that every row must have.
    pub(super) fn required(&self) -> &[String] {
        &self.required
    }

    /// Checks a row. Collects details only for an invalid row, and only as far as they fit into memory.
    ///
    /// # Errors
    /// `schema_…` with the first error, and the number and the properties of further ones if they can be counted;
    /// `row_too_complex` for a row that is too large for this schema.
    pub(crate) fn check(&self, row: &Value) -> Result<(), Rejection> {
        let work = self.cost.steps.saturating_mul(size(row));
        if work > ROW_STEPS {
            return Err(too_complex(work));
        }
        if self.validator.is_valid(row) {
            return Ok(());
        }
        if work <= DETAIL_STEPS {
            let mut errors = self.validator.iter_errors(row);
            return errors.next().map_or(Ok(()), |first| Err(violation::rejection(&first, errors)));
        }
        Err(self.first_error(row))
    }

    /// Returns the first error of a large row. An error of `anyOf` or `oneOf` would contain every error of every
    /// branch.
    fn first_error(&self, row: &Value) -> Rejection {
        let first = if self.cost.branches { None } else { self.validator.validate(row).err() };
        first.map_or_else(violation_somewhere, |first| violation::rejection(&first, iter::empty()))
    }
}

/// Counts the values of a row; a long text counts as several.
fn size(row: &Value) -> u64 {
    match row {
        Value::String(text) => 1 + text.len() as u64 / TEXT_BYTES,
        Value::Array(values) => 1 + values.iter().map(size).sum::<u64>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, value)| name.len() as u64 / TEXT_BYTES + size(value)).sum::<u64>()
        }
        _ => 1,
    }
}

fn violation_somewhere() -> Rejection {
    let message = "the row does not match the schema, and it is too large to locate the error; check its longest \
                   values";
    Rejection::new("schema_violation", None, message)
}

fn too_complex(work: u64) -> Rejection {
    let message = format!(
        "checking this row can take {work} steps; the maximum is {ROW_STEPS}; shorten the row, or simplify the schema"
    );
    Rejection::new("row_too_complex", None, message)
}

fn refused(error: &ValidationError<'_>) -> Refusal {
    Refusal::invalid(error.instance_path().as_str(), error.to_string())
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
