//! Errors over HTTP: RFC 9457 `application/problem+json`, with a JSON pointer (RFC 6901) for each bad field.

mod codes;
mod kind;

use std::num::NonZeroU32;

use serde::Serialize;
use utoipa::ToSchema;

pub use codes::CODES;
pub use kind::{About, Kind, PAGES};

/// What is wrong with one field of a request.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// Where, as a JSON pointer into the request's body, or `/` and the name of a parameter.
    #[schema(examples("/options/dataset"))]
    pub pointer: String,
    /// Stable, in snake case. The page about `invalid-request` lists them.
    #[schema(pattern = "^[a-z][a-z0-9_]*$", examples("invalid_dataset"))]
    pub code: String,
    /// What, and what would be right.
    pub detail: String,
}

impl FieldError {
    /// An error at a pointer.
    pub fn new(pointer: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code: code.to_owned(), detail: detail.into() }
    }

    /// An error that serde found within the options.
    pub fn in_options(path: &serde_path_to_error::Path, detail: &str) -> Self {
        let pointer = path.iter().fold(String::from("/options"), |mut pointer, segment| {
            match segment {
                serde_path_to_error::Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
                serde_path_to_error::Segment::Map { key } => pointer.push_str(&format!("/{}", escape(key))),
                _ => {}
            }
            pointer
        });
        let code = if detail.starts_with("unknown field") { "unknown_option" } else { "invalid_option" };
        Self::new(pointer, code, detail)
    }
}

/// A key as one step of a JSON pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What the body of an error says (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub struct ProblemDocument<'a> {
    /// Stable: the path of a page that says what the problem means and what to do.
    #[serde(rename = "type")]
    #[schema(format = "uri-reference", examples("/api/problems/invalid-request"))]
    pub of_type: String,
    /// The same for every problem of the type.
    pub title: &'static str,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What is wrong this time, and the way out.
    pub detail: &'a str,
    /// The bad fields: the first hundred, and `detail` says how many more.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<FieldError>)]
    pub errors: &'a [FieldError],
    /// Names the request in the logs. Outside of Lambda there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, value_type = String)]
    pub request_id: Option<&'a str>,
}

/// Bad fields that are told at once: whoever has more sends something else, and a body of 256 KiB can have so many that the
/// answer would be larger than a Lambda may give.
const MAX_ERRORS: usize = 100;

/// An error answer: a kind, and what makes it this very one. `detail` says what is wrong and the way out.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Problem {
    /// Gives status, `type` and title.
    pub kind: Kind,
    /// This very one.
    pub detail: String,
    /// The bad fields.
    pub errors: Vec<FieldError>,
    /// Seconds after which asking again may help: the header `Retry-After`.
    pub retry_after_s: Option<NonZeroU32>,
    /// The id of the request, by which its log records are found; none outside of Lambda.
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem without fields.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), retry_after_s: None, request_id: None }
    }

    /// The same, with a time of at least a second after which asking again may help.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after_s: NonZeroU32::new(seconds), ..self }
    }

    /// 422 with the bad fields, as many of them as an answer has room for.
    pub fn invalid(mut errors: Vec<FieldError>) -> Self {
        let more = errors.len().saturating_sub(MAX_ERRORS);
        errors.truncate(MAX_ERRORS);
        let reported = |error: &FieldError| match error.pointer.as_str() {
            "" => error.detail.clone(),
            pointer => format!("{pointer}: {}", error.detail),
        };
        let mut detail = errors.iter().map(reported).collect::<Vec<_>>().join("; ");
        if more > 0 {
            detail.push_str(&format!("; and {more} more"));
        }
        Self { errors, ..Self::new(Kind::InvalidRequest, detail) }
    }

    /// 404 for something that is not there, or not the caller's.
    pub fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, format!("there is no {what} here"))
    }

    /// 500; the cause is in the logs, never in the answer.
    pub fn internal() -> Self {
        Self::new(Kind::Internal, "something failed on our side; try again")
    }

    /// HTTP status.
    pub fn status(&self) -> u16 {
        self.kind.about().status
    }

    /// The body.
    pub fn to_json(&self) -> serde_json::Value {
        let about = self.kind.about();
        serde_json::json!(ProblemDocument {
            of_type: self.kind.uri(),
            title: about.title,
            status: about.status,
            detail: &self.detail,
            errors: &self.errors,
            request_id: self.request_id.as_deref(),
        })
    }
}
