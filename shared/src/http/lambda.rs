//! Runs a router as a Lambda function behind an HTTP API.

use std::convert::Infallible;
use std::time::Instant;

use axum::Router;
use axum::response::Response;
use lambda_http::tower::ServiceExt;
use lambda_http::{Request, service_fn};
use tracing::field::Empty;
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
    let response = run(router, request).instrument(span).await;
    telemetry::record_invocation(function, started, &take_calls());
    response
}

/// Runs a request. Logs the end of one that can change something, because the trace of a job begins there.
async fn run(router: Router, request: Request) -> Result<Response, Infallible> {
    let only_reads = request.method().is_safe();
    let response = router.oneshot(request).await?;
    if !only_reads {
        tracing::info!(status = response.status().as_u16(), "a request is done");
    }
    Ok(response)
}

/// Fields of every log record of a call. The query string is never logged: it can contain a cursor or a token.
/// [`telemetry::record_job`] adds those of a job.
fn span(request: &Request) -> Span {
    let trace = trace::traceparent(request.headers()).and_then(|value| value.to_str().ok());
    tracing::error_span!(
        "request",
        request.id = trace::request_id(request),
        request.method = %request.method(),
        request.path = request.uri().path(),
        traceparent = trace,
        trace.id = trace::trace_id(request).map(display),
        job.id = Empty,
    )
}
