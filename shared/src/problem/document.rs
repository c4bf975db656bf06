//! A problem, and the body of its response.

use std::num::NonZeroU32;

use serde::Serialize;
use utoipa::ToSchema;

use super::kind::Kind;
use crate::field_error::FieldError;

/// Body of an error response (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub struct ProblemDocument<'a> {
    /// Stable path of a page that explains the problem and its solution.
    #[serde(rename = "type")]
    #[schema(format = "uri-reference", examples("/api/problems/invalid-request"))]
    pub of_type: String,
    /// Title of the problem type, the same for every occurrence.
    pub title: &'static str,
    /// HTTP status of the response.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// Explanation of this occurrence, and how to fix it.
    pub detail: &'a str,
    /// The invalid fields: at most the first hundred; `detail` gives the number of further ones.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<FieldError>)]
    pub errors: &'a [FieldError],
    /// Id of the request in the logs. Absent outside of Lambda.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, value_type = String)]
    pub request_id: Option<&'a str>,
}

/// Maximum number of invalid fields in a response. A body of 256 KiB can have so many that the response would exceed
/// Lambda's limit.
const MAX_ERRORS: usize = 100;

/// `Retry-After` while a tenant has too many active jobs, in seconds. Short, because jobs end often and a refused create
/// costs only a few reads.
const TOO_MANY_JOBS_S: u32 = 10;

/// An error response: a kind, and the details of this occurrence. `detail` explains the error and how to fix it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Problem {
    /// Kind of the problem: determines status, `type` and title.
    pub kind: Kind,
    /// Explanation of this occurrence.
    pub detail: String,
    /// The invalid fields.
    pub errors: Vec<FieldError>,
    /// Seconds after which a retry may succeed: the header `Retry-After`.
    pub retry_after_s: Option<NonZeroU32>,
    /// Id of the request in the logs; `None` outside of Lambda.
    pub request_id: Option<String>,
}

impl Problem {
    /// Creates a problem without fields.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), retry_after_s: None, request_id: None }
    }

    /// Sets the seconds after which a retry may succeed; 0 means none.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after_s: NonZeroU32::new(seconds), ..self }
    }

    /// Returns 422 with the invalid fields, up to the maximum number.
    pub fn invalid(mut errors: Vec<FieldError>) -> Self {
        let more = errors.len().saturating_sub(MAX_ERRORS);
        errors.truncate(MAX_ERRORS);
        let describe = |error: &FieldError| match error.pointer.as_str() {
            "" => error.detail.clone(),
            pointer => format!("{pointer}: {}", error.detail),
        };
        let mut detail = errors.iter().map(describe).collect::<Vec<_>>().join("; ");
        if more > 0 {
            detail.push_str(&format!("; and {more} more"));
        }
        Self { errors, ..Self::new(Kind::InvalidRequest, detail) }
    }

    /// Returns an error if there are errors of fields.
    ///
    /// # Errors
    /// 422 with the invalid fields.
    pub fn check(errors: Vec<FieldError>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self::invalid(errors)) }
    }

    /// Returns 404 for something that does not exist, or belongs to another tenant.
    pub fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, format!("{what} not found"))
    }

    /// Returns 429: the tenant has this number of active jobs, the maximum.
    pub fn too_many_jobs(active: u64) -> Self {
        let detail = format!(
            "the tenant has {active} active jobs, the maximum (deleted jobs count until they are removed); wait a few \
             minutes, or cancel a job"
        );
        Self::new(Kind::TooManyJobs, detail).retry_after(TOO_MANY_JOBS_S)
    }

    /// Returns 500; the cause is in the logs, never in the response.
    pub fn internal() -> Self {
        Self::new(Kind::Internal, "an unexpected error occurred; retry the call")
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.kind.about().status
    }

    /// Returns the response's body.
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
