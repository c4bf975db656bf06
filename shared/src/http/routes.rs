//! The table of a function's calls, responses for calls without a handler, and the common parts of all responses.

use axum::Router;
use axum::http::{Method, Uri};
use axum::middleware::from_fn;

use super::{bounds, trace};
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
        .layer(from_fn(bounds::enforce))
        .layer(from_fn(trace::correlate))
}

async fn not_found(uri: Uri) -> Problem {
    Problem::new(Kind::NotFound, format!("the path {} does not exist", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{} does not support {method}; the header Allow lists the supported methods", uri.path());
    Problem::new(Kind::MethodNotAllowed, detail)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, header};
    use axum::routing::get;
    use lambda_http::tower::ServiceExt;
    use lambda_http::{Context, RequestExt};

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
            let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            assert_eq!(body["requestId"].as_str(), (path == "/elsewhere").then_some("r-1"), "{body}");
        }
    }
}
