//! Correlates a response with its request: returns the caller's `traceparent`, and adds the request's id, which is also
//! in the logs, to a problem. Finds the trace to which the log records of a request belong.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use lambda_http::RequestExt;
use longshore_domain::ids::FileGuid;
use longshore_domain::trace::TraceId;

use crate::problem::Problem;

pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Bytes of a `traceparent` of version 00, and the minimum of any later version.
const BYTES: usize = 55;

/// Runs the request, then adds the trace and the request's id to the response.
pub(super) async fn correlate(request: Request, next: Next) -> Response {
    let id = request_id(&request).map(str::to_owned);
    let trace = traceparent(request.headers()).cloned();
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let problem = Problem { request_id: id, ..problem };
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(problem.to_json().to_string());
    }
    // A browser must never render JSON or CSV as a page.
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(trace) = trace {
        response.headers_mut().insert(TRACEPARENT, trace);
    }
    response
}

/// Returns the id under which Lambda runs the request; `None` outside of Lambda.
pub(super) fn request_id<B>(request: &axum::http::Request<B>) -> Option<&str> {
    request.lambda_context_ref().map(|context| context.request_id.as_str())
}

/// Returns the caller's `traceparent` (W3C Trace Context), if there is exactly one and it is valid.
pub(super) fn traceparent(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let value = values.next().filter(|value| is_traceparent(value.as_bytes()))?;
    values.next().is_none().then_some(value)
}

/// Returns the trace of the caller's `traceparent`, if it is valid.
pub fn caller_trace(headers: &HeaderMap) -> Option<TraceId> {
    TraceId::parse(traceparent(headers)?.to_str().ok()?.split('-').nth(1)?)
}

/// Returns the trace of a request: the caller's, or that of the upload in the path. A handler records that of a job.
pub(super) fn trace_id<B>(request: &axum::http::Request<B>) -> Option<TraceId> {
    let upload = || FileGuid::parse(request.uri().path().strip_prefix("/api/uploads/")?.split('/').next()?);
    caller_trace(request.headers()).or_else(|| upload().map(TraceId::from))
}

/// Checks `version-trace-parent-flags` in lower-case hexadecimal, neither id all zeros. A later version may be
/// longer.
fn is_traceparent(text: &[u8]) -> bool {
    let Some((known, more)) = text.split_at_checked(BYTES) else { return false };
    let mut parts = known.split(|b| *b == b'-');
    let mut part = |bytes: usize| {
        let part = parts.next().unwrap_or_default();
        let hex = part.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (part.len() == bytes && hex).then_some(part)
    };
    let (version, trace, parent, flags) = (part(2), part(32), part(16), part(2));
    let named = |id: Option<&[u8]>| id.is_some_and(|id| id.iter().any(|b| *b != b'0'));
    let complete = match version {
        Some(b"00") => more.is_empty(),
        Some(b"ff") | None => false,
        Some(_) => more.is_empty() || more.starts_with(b"-"),
    };
    complete && named(trace) && named(parent) && flags.is_some()
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::{is_traceparent, trace_id};

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_traceparent_follows_w3c_trace_context() {
        let later = GOOD.replacen("00", "cc", 1);
        for (text, expected) in [
            (GOOD.to_owned(), true),
            (later.clone(), true),
            (format!("{later}-more"), true),
            (format!("{later}more"), false),
            (format!("{GOOD}-more"), false),
            (GOOD.replacen("00", "ff", 1), false),
            (GOOD.to_uppercase(), false),
            (GOOD.replace("b7ad6b7169203331", "0000000000000000"), false),
            (GOOD.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)), false),
            (GOOD.replace('-', "_"), false),
            (GOOD[..54].to_owned(), false),
            (format!("{GOOD},{GOOD}"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_traceparent(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_trace_of_a_request_is_that_of_its_caller_or_of_its_upload() {
        let upload = "/api/uploads/5b3d3f5e-7d0c-4e34-9c6c-000000000003";
        let complete = format!("{upload}/complete");
        let (of_caller, of_upload) = ("0af7651916cd43dd8448eb211c80319c", "5b3d3f5e7d0c4e349c6c000000000003");
        for (path, traceparent, expected) in [
            ("/api/jobs", GOOD, Some(of_caller)),
            ("/api/jobs", "x", None),
            (upload, GOOD, Some(of_caller)),
            (upload, "x", Some(of_upload)),
            (complete.as_str(), "", Some(of_upload)),
            ("/api/uploads", "", None),
            ("/api/uploads/5b3d3f5e", "", None),
        ] {
            let request = Request::builder().uri(path).header("traceparent", traceparent).body(()).unwrap();
            assert_eq!(trace_id(&request).map(|id| id.to_string()).as_deref(), expected, "{path} {traceparent}");
        }
    }
}
