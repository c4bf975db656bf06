//! The router of a function: the table of its calls, the size limits of its requests, and the common parts of all
//! responses.
//!
//! API Gateway enforces its own limits (10,240 bytes of request line and headers, 10 MB of body). An emulator or
//! another gateway can accept larger requests, so the limits are enforced here on every route, before a handler reads
//! the request, including those that read no body. Calls without a handler get a problem.

use axum::Router;
use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};

use super::body::too_long;
use super::trace::{TRACEPARENT, correlate};
use crate::problem::{Kind, Problem};

/// Declares the calls of a function, one row per call: method, path, handler with its type arguments.
///
/// The table becomes:
/// - `ROUTES`: method and path of each call. `PUBLIC_ROUTES`: those marked `[public]`, which need no token.
/// - `routes()`: the router. For an unsupported method, it returns 405 with `Allow`, which lists the methods in the
///   order of the rows. A call `costs` one token of the tenant's rate limit ([`CallCost`](super::CallCost)) unless its
///   row has another number.
/// - `openapi()`, if the table begins with `openapi(…)`: the calls in the order of the rows, with these schemas.
///
/// ```ignore
/// routes! {
///     openapi(ImportOptions);
///     [B: Backend] Arc<Api<B>>;
///     POST "/api/jobs"          create::create<B> costs 0,
///     GET  "/api/jobs/{jobId}"  get::get<B>,
///     GET  "/api/docs"          documents::docs [public],
/// }
/// ```
#[macro_export]
macro_rules! routes {
    (openapi($($component:ident),*); $($table:tt)+) => {
        $crate::routes!($($table)+);
        $crate::routes!(@openapi [$($component),*] $($table)+);
    };
    (@openapi [$($component:ident),*] [$($generics:tt)*] $state:ty; $(
        $method:ident $path:literal $($segment:ident)::+ $(<$($argument:ident),+>)? $(costs $cost:literal)? $([$public:ident])?,
    )+) => {
        /// Returns this function's part of the OpenAPI document.
        pub fn openapi() -> utoipa::openapi::OpenApi {
            <Calls as utoipa::OpenApi>::openapi()
        }

        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($($segment)::+),+), components(schemas($($component),*)))]
        struct Calls;
    };
    ([$($generics:tt)*] $state:ty; $(
        $method:ident $path:literal $($segment:ident)::+ $(<$($argument:ident),+>)? $(costs $cost:literal)? $([$public:ident])?,
    )+) => {
        /// Calls of this function: method and path.
        pub const ROUTES: [(&str, &str); [$($path),+].len()] = [$((stringify!($method), $path)),+];

        /// Calls that need no token: method and path.
        #[allow(dead_code, reason = "not every function has such calls")]
        pub const PUBLIC_ROUTES: &[(&str, &str)] =
            &[$($({ let _ = stringify!($public); (stringify!($method), $path) },)?)+];

        fn routes<$($generics)*>() -> axum::Router<$state> {
            axum::Router::new()$(.route(
                $path,
                axum::routing::on(axum::routing::MethodFilter::$method, $($segment)::+ $(::<$($argument),+>)?)
                    $(.layer(axum::Extension($crate::http::CallCost($cost))))?,
            ))+
        }
    };
}

/// Adds problems for unknown paths (404), wrong methods (405, with `Allow`) and requests that are too large (413, 414,
/// 431), and adds the request's id and trace to every response. Call it last: it covers only the routes that exist.
pub fn with_problems<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(enforce_bounds))
        .layer(from_fn(correlate))
}

async fn not_found(uri: Uri) -> Problem {
    Problem::new(Kind::NotFound, format!("the path {} does not exist", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{} does not support {method}; the header Allow lists the supported methods", uri.path());
    Problem::new(Kind::MethodNotAllowed, detail)
}

/// Bytes of path and query string: the longest path has an id of 36 characters and a dataset's name, the longest
/// cursor has a few hundred characters, the longest filter by metadata 3 KiB, and the longest reason of an operator's
/// action 6,000 bytes: 500 characters of 12 each.
const MAX_TARGET: usize = 7 * 1024;

/// Bytes of all headers together: API Gateway's own limit, which includes the request line. The gateway adds a few
/// hundred bytes. Cookies do not count: no function reads them, and a browser on a developer's machine sends those of
/// every other local project.
const MAX_HEADERS: usize = 10 * 1024;

/// Bytes of a list of entity tags: more than a hundred tags. A client usually sends one or two.
const MAX_TAGS: usize = 4 * 1024;

/// Bytes of a `traceparent`: 55 today; a later version may be longer. It is repeated in the response and in the logs.
const MAX_TRACEPARENT: usize = 256;

/// Bytes of a body on any route: the largest body that a route reads, 2 MiB of items and 256 KiB of other fields.
/// Routes that read none ignore a body up to this size. The event of a call, in which quotes are escaped, is less than
/// twice as long: within the 6 MB of Lambda.
pub const MAX_BODY: usize = (2 * 1024 + 256) * 1024;

/// Headers that handlers read without a limit of their own.
const BOUNDED: [(HeaderName, usize); 3] =
    [(header::IF_MATCH, MAX_TAGS), (header::IF_NONE_MATCH, MAX_TAGS), (TRACEPARENT, MAX_TRACEPARENT)];

/// Refuses a request that is too large: 414, 431 or 413.
async fn enforce_bounds(request: Request, next: Next) -> Response {
    match check_bounds(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check_bounds(request: &Request) -> Result<(), Problem> {
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
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use axum::routing::get;
    use lambda_http::tower::ServiceExt;
    use lambda_http::{Context, RequestExt};
    use serde_json::Value;

    use super::*;

    async fn call(method: &str, path: &str) -> (u16, Option<String>, String) {
        let router: Router = with_problems(Router::new().route("/there", get(async || "here")));
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let text = |name| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), text(header::ALLOW), text(header::CONTENT_TYPE).unwrap_or_default())
    }

    #[tokio::test]
    async fn unknown_paths_and_wrong_methods_are_problems() {
        let json = "application/problem+json";
        assert_eq!(call("GET", "/elsewhere").await, (404, None, json.into()));
        assert_eq!(call("POST", "/there").await, (405, Some("GET,HEAD".into()), json.into()));
        assert_eq!(call("GET", "/there").await.0, 200);
    }

    #[tokio::test]
    async fn a_response_contains_the_request_id_and_the_trace() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for (path, sent, expected) in
            [("/there", trace, Some(trace)), ("/elsewhere", trace, Some(trace)), ("/there", "x", None)]
        {
            let router: Router = with_problems(Router::new().route("/there", get(async || "here")));
            let request = Request::builder().uri(path).header("traceparent", sent).body(Body::empty()).unwrap();
            let mut context = Context::default();
            context.request_id = "r-1".into();
            let response = router.oneshot(request.with_lambda_context(context)).await.unwrap();
            assert_eq!(
                response.headers().get("traceparent").map(|value| value.to_str().unwrap()),
                expected,
                "{path} {sent}"
            );
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            assert_eq!(body["requestId"].as_str(), (path == "/elsewhere").then_some("r-1"), "{body}");
        }
    }

    /// Returns the status, and the end of the problem's type.
    async fn send(request: Request<Body>) -> (u16, String) {
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
    async fn path_and_query_string_may_have_seven_kibibytes() {
        let request = |bytes: usize| {
            let uri = format!("/there?{}", "x".repeat(bytes - "/there?".len()));
            Request::get(uri).body(Body::empty()).unwrap()
        };
        assert_eq!(send(request(MAX_TARGET)).await, ok());
        assert_eq!(send(request(MAX_TARGET + 1)).await, (414, "uri-too-long".into()));
        let elsewhere = Request::get(format!("/{}", "x".repeat(MAX_TARGET))).body(Body::empty()).unwrap();
        assert_eq!(send(elsewhere).await, (414, "uri-too-long".into()), "also for a path without a route");
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
            assert_eq!(send(request(name, &values)).await, expected, "{name} {}", values[0]);
        }
    }

    #[tokio::test]
    async fn a_route_that_reads_no_body_ignores_a_small_one_and_refuses_a_large_one() {
        let request = |bytes: usize| Request::get("/there").body(Body::from("x".repeat(bytes))).unwrap();
        assert_eq!(send(request(MAX_BODY)).await, ok());
        assert_eq!(send(request(MAX_BODY + 1)).await, (413, "body-too-large".into()));
    }
}
