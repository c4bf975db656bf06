//! Metadata of a job: its rules, in the request of a create and in the filter of a list, and its schema.

use std::collections::BTreeMap;

use longshore::field_error::{FieldError, escape};
use longshore::http::{Bad, Checked, QueryText, paging};
use serde_json::{Value, json};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Object, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Maximum number of pairs.
const PAIRS: usize = 16;

/// Maximum length of a key in bytes, which are characters.
const KEY_BYTES: usize = 40;

/// Maximum length of a value in characters.
const VALUE_CHARS: usize = 200;

/// Maximum size of all keys and values. They are part of the job's item, which is rewritten often, and each KiB of it
/// costs a write unit.
const BYTES: usize = 2_048;

/// Maximum size of a filter in a URL, percent-encoded. The link to the next page adds a few hundred bytes, and
/// `longshore::http` allows 4 KiB.
const FILTER_BYTES: usize = 3 * 1024;

/// Reads the member `metadata` of a request.
///
/// # Errors
/// Every error, at `/metadata` or `/metadata/{key}`.
pub(super) fn from_body(value: &Value) -> Result<BTreeMap<String, String>, Vec<FieldError>> {
    let Some(members) = value.as_object() else {
        let detail = format!("metadata must be an object of at most {PAIRS} strings");
        return Err(vec![FieldError::new("/metadata", "invalid_type", detail)]);
    };
    let (mut pairs, mut errors) = (BTreeMap::new(), Vec::new());
    for (key, value) in members {
        let text = value.as_str();
        let checks = [check_key(key), check_value(text)];
        let pointer = format!("/metadata/{}", escape(key));
        let bad = checks.into_iter().filter_map(Result::err);
        errors.extend(bad.map(|bad| FieldError::new(&*pointer, bad.code, bad.detail)));
        pairs.insert(key.clone(), text.unwrap_or_default().to_owned());
    }
    let checks = [check_count(pairs.len()), check_bytes(&pairs)];
    errors.extend(checks.into_iter().filter_map(Result::err).map(at_metadata));
    if errors.is_empty() { Ok(pairs) } else { Err(errors) }
}

/// Reads the parameters `metadata[key]=value` of a list. Appends every error to `errors`, at `/metadata`.
pub(super) fn from_query(query: &QueryText, errors: &mut Vec<FieldError>) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    for name in query.names().filter(|name| is_other_form(name)) {
        let detail = format!("{name} is not a filter by metadata: write metadata[key]=value");
        errors.push(at_metadata(Bad::new("invalid_metadata_key", detail)));
    }
    for (key, value) in query.members("metadata") {
        let repeated = query.is_repeated(&parameter(key)).then(repeated);
        for bad in [check_key(key), check_value(Some(value))].into_iter().filter_map(Result::err).chain(repeated) {
            let detail = format!("metadata[{key}]: {}", bad.detail);
            errors.push(at_metadata(Bad::new(bad.code, detail)));
        }
        pairs.insert(key.to_owned(), value.to_owned());
    }
    let checks = [check_count(pairs.len()), check_filter(&pairs)];
    errors.extend(checks.into_iter().filter_map(Result::err).map(at_metadata));
    pairs
}

/// Returns true if a parameter begins like a filter by metadata, and has another form. Ignored, it would list all jobs.
fn is_other_form(name: &str) -> bool {
    name.strip_prefix("metadata").is_some_and(|rest| rest.starts_with(|c: char| c != '[' && !c.is_alphanumeric()))
}

fn repeated() -> Bad {
    Bad::new("repeated_parameter", "the filter has two values; no job can have both")
}

/// Returns the name of the parameter that filters a list by this key.
pub(super) fn parameter(key: &str) -> String {
    format!("metadata[{key}]")
}

fn at_metadata(bad: Bad) -> FieldError {
    FieldError::new("/metadata", bad.code, bad.detail)
}

fn check_key(key: &str) -> Checked<()> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if (1..=KEY_BYTES).contains(&key.len()) && key.bytes().all(allowed) {
        return Ok(());
    }
    let detail = format!("a key of metadata must be 1 to {KEY_BYTES} characters of A-Z, a-z, 0-9, _, . and -");
    Err(Bad::new("invalid_metadata_key", detail))
}

/// Checks a value; `None` is one that is not a string.
fn check_value(value: Option<&str>) -> Checked<()> {
    let valid = |text: &str| text.chars().count() <= VALUE_CHARS && !text.chars().any(char::is_control);
    if value.is_some_and(valid) {
        return Ok(());
    }
    let detail =
        format!("a value of metadata must be a string of at most {VALUE_CHARS} characters, without control characters");
    Err(Bad::new("invalid_metadata_value", detail))
}

fn check_count(pairs: usize) -> Checked<()> {
    if pairs <= PAIRS {
        return Ok(());
    }
    Err(Bad::new("too_many_metadata_pairs", format!("metadata has {pairs} pairs; the maximum is {PAIRS}")))
}

fn check_bytes(pairs: &BTreeMap<String, String>) -> Checked<()> {
    let bytes: usize = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
    if bytes <= BYTES {
        return Ok(());
    }
    let detail = format!("the keys and values of metadata have {bytes} bytes in UTF-8; the maximum is {BYTES}");
    Err(Bad::new("metadata_too_large", detail))
}

fn check_filter(pairs: &BTreeMap<String, String>) -> Checked<()> {
    let names: Vec<_> = pairs.iter().map(|(key, value)| (parameter(key), value)).collect();
    let parameters: Vec<_> = names.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let bytes = paging::query_string(&parameters).len();
    if bytes <= FILTER_BYTES {
        return Ok(());
    }
    let detail = format!("the filter by metadata has {bytes} bytes in the URL; the maximum is {FILTER_BYTES}");
    Err(Bad::new("metadata_too_large", detail))
}

/// Schema of metadata.
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct Metadata;

impl PartialSchema for Metadata {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let key: Object = text().pattern(Some(format!("^[A-Za-z0-9_.-]{{1,{KEY_BYTES}}}$"))).build();
        let description = format!(
            "The client's labels of a job: at most {PAIRS} pairs, and {BYTES} bytes of keys and values together. A key \
             has 1 to {KEY_BYTES} characters, a value at most {VALUE_CHARS}, none of them a control character. Every \
             user of the tenant can read metadata, so it must contain no secrets."
        );
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(description))
            .property_names(Some(key))
            .additional_properties(Some(text().max_length(Some(VALUE_CHARS))))
            .max_properties(Some(PAIRS))
            .examples([json!({ "team": "crm", "run": "2026-07-01" })])
            .into()
    }
}

impl ToSchema for Metadata {}
