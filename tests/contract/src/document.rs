//! The API document, its references and its schemas.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::Value;

/// The API document, as committed and served.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap_or_else(|error| panic!("{error}"))
});

/// Returns true if the path matches the template.
pub(crate) fn matches(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(pattern), Some(segment))
                if pattern == segment || (pattern.starts_with('{') && !segment.is_empty()) => {}
            _ => return false,
        }
    }
}

/// Resolves a reference; returns any other value unchanged.
pub(crate) fn resolve(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(to) => DOCUMENT.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

/// Returns the validator of a schema of the document. Each is built once.
pub fn validator(schema: &Value) -> Arc<Validator> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = validators.entry(schema.to_string());
    entry.or_insert_with(|| Arc::new(compile(schema))).clone()
}

fn compile(schema: &Value) -> Validator {
    let mut document = schema.clone();
    document["components"] = DOCUMENT["components"].clone();
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(true);
    options.build(&document).unwrap_or_else(|error| panic!("{schema}: {error}"))
}
