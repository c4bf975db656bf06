//! Runs a router as a Lambda function behind an HTTP API.

use std::convert::Infallible;
use std::time::Instant;

use axum::Router;
use axum::response::Response;
use lambda_http::tower::ServiceExt;
use lambda_http::{Request, service_fn};
use tracing::{Instrument, Span};

use super::trace;
use crate::config::take_calls;
use crate::telemetry;

/// Serves requests until the process ends. Logs the cost of each request.
///
/// # Errors
/// If the runtime's API fails.
pub async fn serve(function: &'static str, router: Router) -> Result<(), lambda_http::Error> {
    let router = &router;
    lambda_http::run(service_fn(move |request| answer(function, router.clone(), request))).await
}

async fn answer(function: &'static str, router: Router, request: Request) -> Result<Response, Infallible> {
    let started = Instant::now();
    let span = span(&request);
    let response = router.oneshot(request).instrument(span).await;
    telemetry::record_invocation(function, started, &take_calls());
    response
}

/// Fields of every log record of a call. The query string is never logged: it can contain a cursor or a token.
fn span(request: &Request) -> Span {
    let trace = trace::traceparent(request.headers()).and_then(|value| value.to_str().ok());
    tracing::error_span!(
        "request",
        request.id = trace::request_id(request),
        request.method = %request.method(),
        request.path = request.uri().path(),
        traceparent = trace,
    )
}
