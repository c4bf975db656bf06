//! The published schemas.

use jsonschema::{Draft, Validator};
use serde_json::Value;

/// Schema of a request with items.
pub(crate) const ITEMS_REQUEST: &str = include_str!("../../../../docs/contract/items-request.json");
/// Schema of the answer to it.
pub(crate) const ITEMS_ANSWER: &str = include_str!("../../../../docs/contract/items-answer.json");
/// Schema of a ping.
pub(crate) const PING_REQUEST: &str = include_str!("../../../../docs/contract/ping-request.json");
/// Schema of the answer to it.
pub(crate) const PING_ANSWER: &str = include_str!("../../../../docs/contract/ping-answer.json");

/// Compiles a schema.
pub(crate) fn validator(schema: &str) -> Validator {
    let schema: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&schema).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the errors of a value.
pub(crate) fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
