//! The reply to a call.

use axum::http::HeaderMap;
use serde_json::Value;

/// A reply.
pub(crate) struct Reply {
    /// Status.
    pub(crate) status: u16,
    /// Headers.
    pub(crate) headers: HeaderMap,
    /// The body, if it is JSON.
    pub(crate) body: Value,
    /// The body as text.
    pub(crate) text: String,
}

impl Reply {
    /// Returns a header's text; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the path of the next page; `None` on the last one.
    pub(crate) fn next_path(&self) -> Option<&str> {
        self.header("link").strip_prefix('<')?.strip_suffix(">; rel=\"next\"")
    }

    /// Asserts that this is a problem document of a kind.
    pub(crate) fn is_problem(&self, status: u16, kind: &str) {
        assert_eq!((self.status, self.header("content-type")), (status, "application/problem+json"), "{}", self.body);
        assert_eq!(self.body["type"], format!("/api/problems/{kind}"));
        assert_eq!(self.body["status"], status);
        assert!(self.body["title"].is_string() && self.body["detail"].is_string());
        assert_eq!(self.body["requestId"], "r-1");
    }

    /// Returns pointer and code of each bad field.
    pub(crate) fn field_errors(&self) -> Vec<(&str, &str)> {
        let errors = self.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        errors.iter().map(|e| (e["pointer"].as_str().unwrap(), e["code"].as_str().unwrap())).collect()
    }
}
