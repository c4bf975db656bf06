//! The API document, its references and its schemas, and the check of a response against it.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The API document, as committed and served.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap_or_else(|error| panic!("{error}"))
});

/// Returns true if the path matches the template.
fn matches(template: &str, path: &str) -> bool {
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
fn resolve(value: &'static Value) -> &'static Value {
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

/// Headers that any response can have without documentation: those of the transport, and those of every response.
const EVERYWHERE: [&str; 4] = ["content-type", "content-length", "date", "traceparent"];

/// Headers with a meaning in this API: a response with one of them must be documented with it.
const MEANINGFUL: [&str; 5] = ["location", "retry-after", "etag", "link", "vary"];

/// A response and its request.
#[derive(Copy, Clone, Debug)]
pub struct Answer<'a> {
    /// Method of the request.
    pub method: &'a str,
    /// Path of the request; a query string is ignored.
    pub path: &'a str,
    /// Status of the response.
    pub status: u16,
    /// Headers of the response, by name in lower case.
    pub headers: &'a [(String, String)],
    /// Body of the response.
    pub body: &'a [u8],
}

impl Answer<'_> {
    /// Checks that the document allows this response to this request.
    ///
    /// # Errors
    /// Describes the difference from the document.
    pub fn check(&self) -> Result<(), String> {
        let Some(operation) = self.operation() else { return self.check_unknown() };
        let status = self.status.to_string();
        let response = resolve(&operation["responses"][&status]);
        if response.is_null() {
            return self.error(format!("the API document has no response {status} of this operation"));
        }
        self.check_headers(response)?;
        self.check_body(response)
    }

    fn error<T>(&self, difference: impl Display) -> Result<T, String> {
        let body = String::from_utf8_lossy(self.body);
        let body: String = body.chars().take(2_000).collect();
        Err(format!("{} {} answered {}: {difference}\n{body}", self.method, self.path, self.status))
    }

    fn operation(&self) -> Option<&'static Value> {
        let path = self.path.split('?').next()?;
        let paths = DOCUMENT["paths"].as_object()?;
        let matching = paths.iter().filter(|(template, _)| matches(template, path));
        let (_, item) = matching.min_by_key(|(template, _)| template.matches('{').count())?;
        // Methods are case-sensitive: `Post` is an unknown method.
        let method = self.method.to_lowercase();
        if self.method == method.to_uppercase() { item.get(method) } else { None }
    }

    /// Checks that an undocumented request is refused: for its method or path, or before either is inspected.
    fn check_unknown(&self) -> Result<(), String> {
        match self.status {
            401 | 404 | 405 | 413 | 414 | 431 => Ok(()),
            _ if self.method == "HEAD" => Ok(()),
            _ => self.error("the API document has no such operation"),
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn check_headers(&self, response: &'static Value) -> Result<(), String> {
        let documented: Vec<_> = response["headers"].as_object().into_iter().flatten().collect();
        for (name, header) in &documented {
            let Some(text) = self.header(name) else { continue };
            let schema = resolve(&resolve(header)["schema"]);
            let value = if schema["type"] == "integer" { serde_json::from_str(text).ok() } else { Some(json!(text)) };
            let is_valid = value.is_some_and(|value| validator(schema).is_valid(&value));
            if !is_valid {
                return self.error(format!("the header {name} does not match the API document: {text}"));
            }
        }
        let names = self.headers.iter().map(|(name, _)| name.to_lowercase());
        let is_documented = |name: &str| documented.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut unknown =
            names.filter(|name| MEANINGFUL.contains(&name.as_str()) && !EVERYWHERE.contains(&name.as_str()));
        match unknown.find(|name| !is_documented(name)) {
            Some(name) => self.error(format!("the API document does not have the header {name}")),
            None => Ok(()),
        }
    }

    fn check_body(&self, response: &'static Value) -> Result<(), String> {
        let Some(content) = response["content"].as_object() else {
            return if self.body.is_empty() {
                Ok(())
            } else {
                self.error("the API document has no body of this response")
            };
        };
        let content_type = self.header("content-type").unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let Some(content) = content.get(media_type) else {
            return self.error(format!("the API document has no content of type {media_type:?}"));
        };
        if !media_type.ends_with("json") {
            return Ok(());
        }
        let Ok(body) = serde_json::from_slice(self.body) else { return self.error("the body is not JSON") };
        let validator = validator(&content["schema"]);
        let errors: Vec<_> = validator.iter_errors(&body).map(|e| format!("{}: {e}", e.instance_path())).collect();
        if errors.is_empty() { Ok(()) } else { self.error(errors.join("\n")) }
    }
}
