//! Reads the JSON object in a request's body, up to a limit of bytes.
//!
//! API Gateway accepts up to 10 MB and an emulator accepts anything, so the limit is enforced here.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use super::{Failure, Fields};
use crate::field_error::FieldError;
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
        if !is_json(request.headers()) {
            return Err(unsupported_media_type().into());
        }
        if declared_bytes(request.headers()).is_some_and(|bytes| bytes > LIMIT as u64) {
            return Err(too_long(LIMIT).into());
        }
        let bytes = read(request.into_body(), LIMIT).await?;
        Ok(Self(object(&bytes)?))
    }
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
        Ok(_) => {
            let detail = "the body must be a JSON object";
            Err(Problem::invalid(vec![FieldError::new("", "invalid_type", detail)]))
        }
        Err(error) => {
            // serde_json reports the recursion limit only in the text of the error.
            let detail = match error.to_string() {
                text if text.starts_with("recursion limit") => format!("the body is nested too deeply: {text}"),
                text => format!("the body is not JSON: {text}"),
            };
            Err(Problem::new(Kind::MalformedJson, detail))
        }
    }
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

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
}
