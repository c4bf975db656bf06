//! A job's JSON Schema, compiled: what rows are checked against, and what it says about single columns.
//!
//! A schema whose work has no bound ([`cost`]) is not compiled, and a row whose work is out of proportion is not
//! checked: it fails alone, before it delays the rows beside it.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::cost::{self, Cost};
use super::kinds::{self, Kind};
use super::refusal::Refusal;
use super::regex_weight::BACKTRACK_LIMIT;
use super::violation;
use crate::handler::Rejection;
use crate::problem::FieldError;

/// Bytes of one compiled pattern, and of the cache that it keeps while rows are checked.
const PATTERN_BYTES: usize = 4 << 20;
const PATTERN_CACHE_BYTES: usize = 256 << 10;

/// Steps that one row may take: a second or so.
const ROW_STEPS: u64 = 50_000_000;
/// Limit of the steps within which every error of a row is counted, and branches of `anyOf` and `oneOf` are listed:
/// each step may leave an error in memory.
const DETAIL_STEPS: u64 = 250_000;
/// Bytes of text that count as one value more.
const TEXT_BYTES: u64 = 8;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    cost: Cost,
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
    /// Where the schema is wrong, and how; or that checking rows against it would take too much work.
    pub(super) fn compile(schema: &Value) -> Result<Self, FieldError> {
        let Some(members) = schema.as_object() else {
            return Err(Refusal::invalid("", "the schema must be a JSON object").into());
        };
        let dialect = members.get("$schema").and_then(Value::as_str);
        if dialect.is_some_and(|uri| !uri.contains("//json-schema.org/draft/2020-12/schema")) {
            let detail =
                "schemas are read as 2020-12: write https://json-schema.org/draft/2020-12/schema, or leave $schema out";
            return Err(Refusal::invalid("/$schema", detail).into());
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

    /// Checks a row. Details are sought only for a row that is wrong, and only as far as they fit into memory.
    ///
    /// # Errors
    /// `schema_…` with the first thing that is wrong, and how many more if that can be counted; `row_too_complex` for a row
    /// that is too large for this schema.
    pub(super) fn check(&self, row: &Value) -> Result<(), Rejection> {
        let work = self.cost.steps.saturating_mul(size(row));
        if work > ROW_STEPS {
            return Err(too_complex(work));
        }
        if self.validator.is_valid(row) {
            return Ok(());
        }
        if work <= DETAIL_STEPS {
            let mut errors = self.validator.iter_errors(row);
            return errors.next().map_or(Ok(()), |first| Err(violation::rejection(&first, errors.count())));
        }
        Err(self.first_error(row))
    }

    /// The first error of a large row. One of `anyOf` or `oneOf` would hold every error of every branch.
    fn first_error(&self, row: &Value) -> Rejection {
        let first = if self.cost.branches { None } else { self.validator.validate(row).err() };
        first.map_or_else(violation_somewhere, |first| violation::rejection(&first, 0))
    }
}

/// Values of a row, a long text being several.
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
    let message = "the row does not match the schema, and it is too large to say where; check its longest values";
    Rejection::new("schema_violation", None, message)
}

fn too_complex(work: u64) -> Rejection {
    let message = format!(
        "checking this row can take {work} steps, and a row may take {ROW_STEPS}; make the row shorter or the schema simpler"
    );
    Rejection::new("row_too_complex", None, message)
}

fn refused(error: &ValidationError<'_>) -> Refusal {
    Refusal::invalid(error.instance_path().as_str(), error.to_string())
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
