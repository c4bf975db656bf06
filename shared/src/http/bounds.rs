//! Size limits of a request, enforced before a handler reads it.
//!
//! API Gateway enforces its own limits (10,240 bytes of request line and headers, 10 MB of body). An emulator or
//! another gateway can accept larger requests, so the limits are enforced here on every route, including those that
//! read no body.

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::body::too_long;
use crate::problem::{Kind, Problem};

/// Bytes of path and query string: the longest path has an id of 36 characters and a dataset's name, the longest
/// cursor has a few hundred characters.
const MAX_TARGET: usize = 4 * 1024;

/// Bytes of all headers together: API Gateway's own limit, which includes the request line. The gateway adds a few
/// hundred bytes. Cookies do not count: no function reads them, and a browser on a developer's machine sends those of
/// every other local project.
const MAX_HEADERS: usize = 10 * 1024;

/// Bytes of a list of entity tags: more than a hundred tags. A client usually sends one or two.
const MAX_TAGS: usize = 4 * 1024;

/// Bytes of a `traceparent`: 55 today; a later version may be longer. It is repeated in the response and in the logs.
const MAX_TRACEPARENT: usize = 256;

/// Bytes of a body on any route: the largest body that a route reads. Routes that read none ignore a body up to this
/// size.
const MAX_BODY: usize = 256 * 1024;

/// Headers that handlers read without a limit of their own.
const BOUNDED: [(HeaderName, usize); 3] =
    [(header::IF_MATCH, MAX_TAGS), (header::IF_NONE_MATCH, MAX_TAGS), (super::trace::TRACEPARENT, MAX_TRACEPARENT)];

/// Refuses a request that is too large: 414, 431 or 413.
pub(super) async fn enforce(request: Request, next: Next) -> Response {
    match check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(request: &Request) -> Result<(), Problem> {
    check_target(request.uri())?;
    check_headers(request.headers())?;
    let bytes = request.body().size_hint().lower();
    if bytes > MAX_BODY as u64 { Err(too_long(MAX_BODY)) } else { Ok(()) }
}

fn check_target(uri: &Uri) -> Result<(), Problem> {
    let bytes = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if bytes <= MAX_TARGET {
        return Ok(());
    }
    let detail = format!("path and query string have {bytes} bytes in total; the maximum is {MAX_TARGET}");
    Err(Problem::new(Kind::UriTooLong, detail))
}

fn check_headers(headers: &HeaderMap) -> Result<(), Problem> {
    let counted = headers.iter().filter(|(name, _)| **name != header::COOKIE);
    let all = bytes_of(counted.map(|(name, value)| (name.as_str(), value.len())));
    if all > MAX_HEADERS {
        return Err(too_large("all headers together", MAX_HEADERS, all));
    }
    for (name, max) in &BOUNDED {
        let bytes = bytes_of(headers.get_all(name).iter().map(|value| ("", value.len())));
        if bytes > *max {
            return Err(too_large(&format!("the header {name}"), *max, bytes));
        }
    }
    Ok(())
}

fn bytes_of<'a>(fields: impl Iterator<Item = (&'a str, usize)>) -> usize {
    fields.map(|(name, bytes)| name.len() + bytes).sum()
}

/// Returns 431 (RFC 6585, section 5), for one header or for all headers together.
fn too_large(what: &str, max: usize, bytes: usize) -> Problem {
    let detail = format!("{what} may have up to {max} bytes; the request has {bytes}");
    Problem::new(Kind::HeadersTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use axum::routing::get;
    use lambda_http::tower::ServiceExt;
    use serde_json::Value;

    use super::*;
    use crate::http::with_problems;

    /// Returns the status, and the end of the problem's type.
    async fn call(request: Request<Body>) -> (u16, String) {
        let router: Router = with_problems(Router::new().route("/there", get(async || "here")));
        let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let problem: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let is_problem = parts.headers.get("content-type").is_some_and(|value| value == "application/problem+json");
        assert_eq!(is_problem, parts.status.is_client_error());
        let kind = problem["type"].as_str().and_then(|kind| kind.rsplit('/').next()).unwrap_or_default();
        (parts.status.as_u16(), kind.to_owned())
    }

    fn ok() -> (u16, String) {
        (200, String::new())
    }

    #[tokio::test]
    async fn path_and_query_string_may_have_four_kibibytes() {
        let request = |bytes: usize| {
            let uri = format!("/there?{}", "x".repeat(bytes - "/there?".len()));
            Request::get(uri).body(Body::empty()).unwrap()
        };
        assert_eq!(call(request(MAX_TARGET)).await, ok());
        assert_eq!(call(request(MAX_TARGET + 1)).await, (414, "uri-too-long".into()));
        let elsewhere = Request::get(format!("/{}", "x".repeat(MAX_TARGET))).body(Body::empty()).unwrap();
        assert_eq!(call(elsewhere).await, (414, "uri-too-long".into()), "also for a path without a route");
    }

    #[tokio::test]
    async fn all_headers_together_and_single_headers_have_limits() {
        let request = |name: &str, values: &[usize]| {
            let mut request = Request::get("/there");
            for bytes in values {
                request = request.header(name, "x".repeat(*bytes));
            }
            request.body(Body::empty()).unwrap()
        };
        let too_large = (431, "headers-too-large".to_owned());
        for (name, values, expected) in [
            ("x-any", vec![MAX_HEADERS - 5], ok()),
            ("x-any", vec![MAX_HEADERS - 4], too_large.clone()),
            ("x-any", vec![0; MAX_HEADERS / 5 + 1], too_large.clone()),
            ("cookie", vec![2 * MAX_HEADERS], ok()),
            ("if-match", vec![MAX_TAGS], ok()),
            ("if-match", vec![MAX_TAGS, 1], too_large.clone()),
            ("if-none-match", vec![MAX_TAGS], ok()),
            ("if-none-match", vec![MAX_TAGS + 1], too_large.clone()),
            ("traceparent", vec![MAX_TRACEPARENT], ok()),
            ("traceparent", vec![MAX_TRACEPARENT + 1], too_large.clone()),
        ] {
            assert_eq!(call(request(name, &values)).await, expected, "{name} {}", values[0]);
        }
    }

    #[tokio::test]
    async fn a_route_that_reads_no_body_ignores_a_small_one_and_refuses_a_large_one() {
        let request = |bytes: usize| Request::get("/there").body(Body::from("x".repeat(bytes))).unwrap();
        assert_eq!(call(request(MAX_BODY)).await, ok());
        assert_eq!(call(request(MAX_BODY + 1)).await, (413, "body-too-large".into()));
    }
}
