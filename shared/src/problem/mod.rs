//! Errors over HTTP: RFC 9457 `application/problem+json`, with a JSON pointer (RFC 6901) for each bad field.

mod kind;

use serde::Serialize;

pub use kind::{About, Kind, PAGES};

/// What is wrong with one field of a request.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct FieldError {
    /// Where, as a JSON pointer into the request's body, or `/` and the name of a parameter.
    pub pointer: String,
    /// Stable, in snake case.
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

/// An error answer: a kind, and what makes it this very one. `detail` says what is wrong and the way out.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Problem {
    /// Gives status, `type` and title.
    pub kind: Kind,
    /// This very one.
    pub detail: String,
    /// The bad fields.
    pub errors: Vec<FieldError>,
    /// The id of the request, by which its log records are found; none outside of Lambda.
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem without fields.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), request_id: None }
    }

    /// 422 with the bad fields.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = errors.iter().map(|e| format!("{}: {}", e.pointer, e.detail)).collect::<Vec<_>>().join("; ");
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
        let mut body = serde_json::json!({
            "type": self.kind.uri(),
            "title": about.title,
            "status": about.status,
            "detail": self.detail,
        });
        if !self.errors.is_empty() {
            body["errors"] = serde_json::json!(self.errors);
        }
        if let Some(id) = &self.request_id {
            body["requestId"] = serde_json::json!(id);
        }
        body
    }
}
