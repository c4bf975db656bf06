//! Contract check: compares responses with the API document, `docs/openapi.json`. Every call that a test makes verifies
//! the document, down to each property.
//!
//! Not checked: rules that a document cannot express, such as combinations of values.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The API document as it is committed and served.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap_or_else(|error| panic!("{error}"))
});

/// Headers that any response may have without documentation: those of the transport, and those of every response.
const EVERYWHERE: [&str; 4] = ["content-type", "content-length", "date", "traceparent"];

/// Headers with a meaning in this API: a response that has one must be documented with it.
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
            return self.wrong(format!("the document knows no answer {status}"));
        }
        self.check_headers(response)?;
        self.check_body(response)
    }

    fn wrong<T>(&self, what: impl std::fmt::Display) -> Result<T, String> {
        let body = String::from_utf8_lossy(self.body);
        let body: String = body.chars().take(2_000).collect();
        Err(format!("{} {} answered {}: {what}\n{body}", self.method, self.path, self.status))
    }

    fn operation(&self) -> Option<&'static Value> {
        let path = self.path.split('?').next()?;
        let paths = DOCUMENT["paths"].as_object()?;
        let fitting = paths.iter().filter(|(template, _)| fits(template, path));
        let (_, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        // Methods are case-sensitive: `Post` is an unknown method.
        let method = self.method.to_lowercase();
        if self.method == method.to_uppercase() { item.get(method) } else { None }
    }

    /// Checks that an undocumented request is refused: for its method, its path, or before either is inspected.
    fn check_unknown(&self) -> Result<(), String> {
        match self.status {
            401 | 404 | 405 | 413 | 414 | 431 => Ok(()),
            _ if self.method == "HEAD" => Ok(()),
            _ => self.wrong("the document knows no such call"),
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn check_headers(&self, response: &'static Value) -> Result<(), String> {
        let documented: Vec<_> = response["headers"].as_object().into_iter().flatten().collect();
        for (name, header) in &documented {
            let Some(text) = self.header(name) else { continue };
            let schema = resolve(&resolve(header)["schema"]);
            let value = if schema["type"] == "integer" { serde_json::from_str(text).ok() } else { Some(json!(text)) };
            let fits = value.is_some_and(|value| validator(schema).is_valid(&value));
            if !fits {
                return self.wrong(format!("the document says otherwise of {name}: {text}"));
            }
        }
        let names = self.headers.iter().map(|(name, _)| name.to_lowercase());
        let is_documented = |name: &str| documented.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut unknown =
            names.filter(|name| MEANINGFUL.contains(&name.as_str()) && !EVERYWHERE.contains(&name.as_str()));
        match unknown.find(|name| !is_documented(name)) {
            Some(name) => self.wrong(format!("the document does not say that there is a header {name}")),
            None => Ok(()),
        }
    }

    fn check_body(&self, response: &'static Value) -> Result<(), String> {
        let Some(content) = response["content"].as_object() else {
            return if self.body.is_empty() { Ok(()) } else { self.wrong("the document knows no body") };
        };
        let content_type = self.header("content-type").unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let Some(content) = content.get(media_type) else {
            return self.wrong(format!("the document knows no content of type {media_type:?}"));
        };
        if !media_type.ends_with("json") {
            return Ok(());
        }
        let Ok(body) = serde_json::from_slice(self.body) else { return self.wrong("the body is not JSON") };
        let validator = validator(&content["schema"]);
        let faults: Vec<_> = validator.iter_errors(&body).map(|e| format!("{}: {e}", e.instance_path())).collect();
        if faults.is_empty() { Ok(()) } else { self.wrong(faults.join("\n")) }
    }
}

/// Returns true if the path matches the template.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == found || (wanted.starts_with('{') && !found.is_empty()) => {}
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
    static MADE: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = made.entry(schema.to_string());
    entry.or_insert_with(|| Arc::new(compiled(schema))).clone()
}

fn compiled(schema: &Value) -> Validator {
    let mut whole = schema.clone();
    whole["components"] = DOCUMENT["components"].clone();
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(true);
    options.build(&whole).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, path: &str, status: u16, content_type: &str, body: &str) -> Result<(), String> {
        let headers = [("content-type".to_owned(), content_type.to_owned())];
        Answer { method, path, status, headers: &headers, body: body.as_bytes() }.check()
    }

    #[test]
    fn an_answer_that_the_document_knows_is_good_and_any_other_is_not() {
        let (json, problem) = ("application/json", "application/problem+json");
        let upload = "/api/uploads/4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";
        let not_found = r#"{"type": "/x", "title": "x", "status": 404, "detail": "x", "requestId": "r"}"#;
        for (method, path, status, content_type, body, expected) in [
            ("GET", upload, 404, problem, not_found, true),
            ("GET", upload, 404, json, not_found, false),
            ("GET", upload, 404, problem, r#"{"type": "/x"}"#, false),
            ("GET", upload, 418, problem, not_found, false),
            ("GET", upload, 401, json, r#"{"message": "Unauthorized"}"#, true),
            ("GET", upload, 401, json, "Unauthorized", false),
            ("GET", upload, 200, json, "{}", false),
            ("PUT", upload, 405, problem, not_found, true),
            ("PUT", upload, 200, problem, not_found, false),
            ("Get", upload, 405, problem, not_found, true),
            ("Get", upload, 200, json, "{}", false),
            ("GET", "/api/nothing", 404, problem, not_found, true),
            ("GET", "/api/nothing", 200, problem, not_found, false),
        ] {
            let found = check(method, path, status, content_type, body);
            assert_eq!(found.is_ok(), expected, "{found:?}");
        }
    }

    #[test]
    fn a_header_is_as_the_document_says_and_none_is_unknown() {
        let path = "/api/jobs/4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b?redirect=output";
        let check = |name: &str, value: &str| {
            let headers = [(name.to_owned(), value.to_owned())];
            Answer { method: "GET", path, status: 304, headers: &headers, body: b"" }.check().is_ok()
        };
        assert!(check("etag", "\"a\"") && check("retry-after", "30") && check("traceparent", "x"));
        assert!(
            !check("etag", "a") && !check("retry-after", "31") && !check("retry-after", "x") && !check("link", "x")
        );
    }
}
