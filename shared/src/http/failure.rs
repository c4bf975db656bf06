//! Reasons why a call failed: the client's error, or ours.

use std::error::Error;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore_domain::ports::PortError;

use crate::problem::{Kind, Problem};
use crate::telemetry;

/// The media type of RFC 9457.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Seconds after which a client may repeat a call that found the store busy.
const AGAIN_S: u32 = 2;

/// The reason why a call failed. As a response it is always a problem document that no cache keeps.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The client can fix it.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// An error on our side: answered as 500 without the cause, which is logged here and nowhere else.
    #[error(transparent)]
    Ours(Box<dyn Error + Send + Sync>),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<PortError> for Failure {
    /// Returns 503 if the store had no capacity or met conflicting writes, so that the client may repeat the call;
    /// else 500.
    fn from(error: PortError) -> Self {
        if !error.is_busy() {
            return Self::Ours(Box::new(error));
        }
        tracing::warn!(error = telemetry::chain(&error), "a call found the store busy");
        let detail = "the store is too busy for this call at the moment; retry later";
        Self::Problem(Problem::new(Kind::Unavailable, detail).retry_after(AGAIN_S))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Ours(error) => {
                tracing::error!(error = telemetry::chain(error.as_ref()), "a call failed on our side");
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
        // The layer that knows the request writes its id into the body; see `trace`.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::ports::Busy;

    use super::*;

    #[test]
    fn a_write_that_others_were_in_the_way_of_is_answered_as_unavailable_and_any_other_failure_as_internal() {
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
