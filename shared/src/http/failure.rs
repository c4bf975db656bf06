//! Reasons why a call failed: a client error or an internal error.

use std::error::Error;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore_domain::ports::PortError;

use crate::problem::{Kind, Problem};
use crate::telemetry;

/// The media type of RFC 9457.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// `Retry-After` in seconds of a call that failed because the store was busy.
const AGAIN_S: u32 = 2;

/// The reason why a call failed. Its response is always a problem document that is not cached.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A problem for the client.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// An internal error: 500 without the cause, which is logged when the response is created.
    #[error(transparent)]
    Internal(Box<dyn Error + Send + Sync>),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<PortError> for Failure {
    /// Returns 503 if the store had no capacity, or concurrent writes conflicted, so that the client can retry the
    /// call. Otherwise returns 500.
    fn from(error: PortError) -> Self {
        if !error.is_busy() {
            return Self::Internal(Box::new(error));
        }
        tracing::warn!(error = telemetry::chain(&error), "a call failed because the store is busy");
        let detail = "the store is too busy for this call at the moment; retry later";
        Self::Problem(Problem::new(Kind::Unavailable, detail).retry_after(AGAIN_S))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Internal(error) => {
                tracing::error!(error = telemetry::chain(error.as_ref()), "a call failed with an internal error");
                Problem::internal().into_response()
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.get()));
        }
        // A layer adds the request's id to the body; see `trace`.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::ports::Busy;

    use super::*;

    #[test]
    fn a_busy_store_is_answered_as_unavailable_and_any_other_error_as_internal() {
        let answer =
            |source| Failure::from(PortError { service: "store", operation: "create_job", source }).into_response();
        let busy = answer(Busy("conflict".into()).into());
        assert_eq!(busy.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(busy.headers()[header::RETRY_AFTER], "2");
        let broken = answer("broken".into());
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!broken.headers().contains_key(header::RETRY_AFTER));
    }
}
