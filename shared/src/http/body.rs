//! Reads the JSON object in a request's body: up to a limit of bytes, and member by member.
//!
//! API Gateway accepts up to 10 MB and an emulator accepts anything, so the limit is enforced here. Every error of a
//! member is collected, so that the client gets all errors at once.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use super::Failure;
use crate::field_error::{FieldError, escape};
use crate::problem::{Kind, Problem};

/// The members of the JSON object in a request's body of up to `LIMIT` bytes. Must be the last argument of a handler.
///
/// Refuses a content type other than JSON (415), more than `LIMIT` bytes (413), malformed JSON (400, with line and
/// column), and JSON that is not an object (422).
#[derive(Debug)]
pub struct JsonFields<const LIMIT: usize>(pub Fields);

impl<S: Send + Sync, const LIMIT: usize> FromRequest<S> for JsonFields<LIMIT> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        Ok(Self(object(&read_json(request, LIMIT).await?)?))
    }
}

/// Reads a JSON body of up to `limit` bytes, without parsing it.
///
/// # Errors
/// 413 for more bytes, 415 for another content type.
pub async fn read_json(request: Request, limit: usize) -> Result<Vec<u8>, Problem> {
    if !is_json(request.headers()) {
        return Err(unsupported_media_type());
    }
    if declared_bytes(request.headers()).is_some_and(|bytes| bytes > limit as u64) {
        return Err(too_long(limit));
    }
    read(request.into_body(), limit).await
}

/// Same as [`JsonFields`], for an optional body. An empty body counts as an empty object.
#[derive(Debug)]
pub struct OptionalFields<const LIMIT: usize>(pub Fields);

impl<S: Send + Sync, const LIMIT: usize> FromRequest<S> for OptionalFields<LIMIT> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = read(body, LIMIT).await?;
        if bytes.is_empty() {
            return Ok(Self(Fields::new(Map::new())));
        }
        let request = Request::from_parts(parts, Body::from(bytes));
        JsonFields::<LIMIT>::from_request(request, state).await.map(|fields| Self(fields.0))
    }
}

async fn read(body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    // The body is already in memory, so it can only be too long.
    to_bytes(body, limit).await.map(Vec::from).map_err(|_| too_long(limit))
}

fn object(bytes: &[u8]) -> Result<Fields, Problem> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(Fields::new(members)),
        Ok(_) => Err(not_an_object()),
        Err(error) => Err(malformed(&error)),
    }
}

pub(super) fn not_an_object() -> Problem {
    Problem::invalid(vec![FieldError::new("", "invalid_type", "the body must be a JSON object")])
}

pub(super) fn malformed(error: &serde_json::Error) -> Problem {
    // serde_json reports the recursion limit only in the text of the error.
    let detail = match error.to_string() {
        text if text.starts_with("recursion limit") => format!("the body is nested too deeply: {text}"),
        text => format!("the body is not JSON: {text}"),
    };
    Problem::new(Kind::MalformedJson, detail)
}

/// Accepts `application/json` and `application/…+json`, with any parameters and in any case.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = media_type.strip_prefix("application/").unwrap_or_default();
    subtype == "json" || (subtype.len() > "+json".len() && subtype.ends_with("+json"))
}

fn declared_bytes(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

pub(super) fn too_long(limit: usize) -> Problem {
    let detail = format!("the body may have up to {} KiB; upload rows as a file", limit / 1024);
    Problem::new(Kind::BodyTooLarge, detail)
}

fn unsupported_media_type() -> Problem {
    let detail = "send JSON, with the header Content-Type: application/json";
    Problem::new(Kind::UnsupportedMediaType, detail)
}

/// Error of a value: a stable code, and a sentence that describes a valid value.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Bad {
    /// Stable code, in snake case.
    pub code: &'static str,
    /// Text for people.
    pub detail: String,
}

impl Bad {
    /// Creates an error from its two parts.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// A value that was read, or its error.
pub type Checked<T> = Result<T, Bad>;

/// The members of an object that are not yet read, and the errors of those that are.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    known: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Creates a reader of these members.
    pub fn new(members: Map<String, Value>) -> Self {
        Self { members, known: Vec::new(), errors: Vec::new() }
    }

    /// Returns a member that is not yet read, without reading it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// Reads a required member.
    pub fn required<T>(&mut self, name: &'static str, read: impl FnOnce(&Value) -> Checked<T>) -> Option<T> {
        self.known.push(name);
        let Some(value) = self.members.remove(name) else {
            self.refuse(name, &Bad::new("required", format!("{name} is required")));
            return None;
        };
        self.checked(name, read(&value))
    }

    /// Reads an optional member; `null` counts as missing.
    pub fn optional<T>(&mut self, name: &'static str, read: impl FnOnce(&Value) -> Checked<T>) -> Option<T> {
        self.known.push(name);
        let value = self.members.remove(name).filter(|value| !value.is_null())?;
        self.checked(name, read(&value))
    }

    /// Records an error of a member that was found after reading it.
    pub fn refuse(&mut self, name: &str, bad: &Bad) {
        self.errors.push(FieldError::new(format!("/{}", escape(name)), bad.code, &*bad.detail));
    }

    /// Records errors that have their own pointers.
    pub fn refuse_all(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// Returns true if and only if every member was read and none has an error.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.members.is_empty()
    }

    /// Finishes reading: every member that was not read is unknown.
    ///
    /// # Errors
    /// 422 with every recorded error.
    pub fn finish(self) -> Result<(), Problem> {
        Problem::check(self.all_errors())
    }

    /// Returns the problem with every recorded error. Only if there is an error.
    pub fn into_problem(self) -> Problem {
        Problem::invalid(self.all_errors())
    }

    fn all_errors(self) -> Vec<FieldError> {
        let known = self.known.join(", ");
        let unknown = self.members.keys().map(|name| {
            let detail = format!("unknown field; the fields are {known}");
            FieldError::new(format!("/{}", escape(name)), "unknown_field", detail)
        });
        self.errors.into_iter().chain(unknown).collect()
    }

    fn checked<T>(&mut self, name: &'static str, checked: Checked<T>) -> Option<T> {
        checked.map_err(|bad| self.refuse(name, &bad)).ok()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_recognized_by_its_media_type() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.api+json", true),
            ("application/+json", false),
            ("text/json", false),
            ("application/x-www-form-urlencoded", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn malformed_json_is_refused_with_its_position() {
        let problem = object(b"{\"a\": 1,\n \"b\" 2}").unwrap_err();
        assert_eq!((problem.status(), problem.kind), (400, Kind::MalformedJson));
        assert!(problem.detail.contains("line 2 column 6"), "{}", problem.detail);
        let deep = format!("{{\"a\":{}", "[".repeat(10_000));
        assert_eq!(object(deep.as_bytes()).unwrap_err().status(), 400);
        assert_eq!(object(b"\xff").unwrap_err().status(), 400);
        assert_eq!(object(b"").unwrap_err().status(), 400);
    }

    #[test]
    fn json_that_is_not_an_object_is_refused() {
        for body in ["[]", "null", "1", "\"{}\""] {
            let problem = object(body.as_bytes()).unwrap_err();
            assert_eq!((problem.status(), problem.errors[0].pointer.as_str()), (422, ""), "{body}");
        }
    }

    fn fields(body: Value) -> Fields {
        Fields::new(body.as_object().cloned().unwrap())
    }

    fn number(value: &Value) -> Checked<u64> {
        value.as_u64().ok_or_else(|| Bad::new("invalid_type", "a number"))
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let mut fields = fields(json!({"a": "x", "c": null, "e/f": 1}));
        assert_eq!(fields.required("a", number), None);
        assert_eq!(fields.required("b", number), None);
        assert_eq!(fields.optional("c", number), None);
        assert!(!fields.is_valid());
        let problem = fields.finish().unwrap_err();
        let errors: Vec<_> = problem.errors.iter().map(|e| (e.pointer.as_str(), e.code.as_str())).collect();
        assert_eq!(errors, [("/a", "invalid_type"), ("/b", "required"), ("/e~1f", "unknown_field")]);
    }

    #[test]
    fn valid_members_are_read() {
        let mut fields = fields(json!({"a": 1, "b": 2}));
        assert_eq!(fields.required("a", number), Some(1));
        assert!(!fields.is_valid(), "b is not read");
        assert_eq!(fields.optional("b", number), Some(2));
        assert!(fields.is_valid());
        assert_eq!(fields.optional("c", number), None);
        assert_eq!(fields.finish(), Ok(()));
    }
}
