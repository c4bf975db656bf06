//! Fuzz target for HTTP requests: for any request, the response is one that the API document allows, and never a server
//! error.
//!
//! The input is written like a request: a line with method and path, lines of headers, a blank line, the body. The HTTP
//! functions run on in-memory services, with an upload, a job with failed rows, a waiting job, a validation and a
//! dataset. Their ids are constant, so that an input can name them.

mod world;

use std::cell::RefCell;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceExt;
use lambda_http::{Context, RequestExt};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use self::world::{TENANT, World};

/// The id of every request.
const REQUEST_ID: &str = "r-1";

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

pub(crate) fn check(input: &[u8]) {
    let Some(request) = request(input) else { return };
    RUNTIME.with_borrow_mut(|runtime| {
        let runtime = runtime.get_or_insert_with(|| {
            Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"))
        });
        runtime.block_on(answer(request));
    });
}

/// Parses the request; `None` if no client could have sent it.
fn request(input: &[u8]) -> Option<Request<Body>> {
    let end = input.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = end.map_or((input, &[][..]), |at| (&input[..at], &input[at + 2..]));
    let mut lines = std::str::from_utf8(head).ok()?.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(path);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    let request = request.body(Body::from(body.to_vec())).ok()?;
    request.uri().path().starts_with('/').then_some(request)
}

/// Signs the request in, as the gateway does after it has accepted the caller's token.
fn signed_in(request: Request<Body>) -> Request<Body> {
    let claims = json!({ "sub": TENANT.as_str(), "cognito:groups": "operators" });
    let context = json!({ "http": { "method": "GET" }, "timeEpoch": 0, "authorizer": { "jwt": { "claims": claims } } });
    let context = serde_json::from_value(context).unwrap_or_else(|error| panic!("{error}"));
    let mut lambda = Context::default();
    lambda.request_id = REQUEST_ID.to_owned();
    request.with_lambda_context(lambda).with_request_context(RequestContext::ApiGatewayV2(context))
}

async fn answer(request: Request<Body>) {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let world = World::with_fixtures().await.unwrap_or_else(|error| panic!("{error}"));
    let answer = world.router(&path).oneshot(signed_in(request)).await.unwrap_or_else(|error| match error {});
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_else(|error| panic!("{error}"));
    let status = parts.status.as_u16();
    let text = |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<_> = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    assert!(status < 500, "{method} {path} answered {status}: {}", String::from_utf8_lossy(&body));
    let answer = contract::Answer { method: &method, path: &path, status, headers: &headers, body: &body };
    answer.check().unwrap_or_else(|error| panic!("{error}"));
    if status >= 400 && method != "HEAD" {
        problem(status, &body);
    }
}

/// Checks a problem document: kind, title, detail, errors and request id, whichever layer responds.
fn problem(status: u16, body: &[u8]) {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_text = |name: &str| problem[name].as_str().is_some_and(|text| !text.trim().is_empty());
    assert!(is_text("title") && is_text("detail"), "{problem}");
    assert!(problem["type"].as_str().is_some_and(|kind| kind.starts_with("/api/problems/")), "{problem}");
    assert!(problem["status"] == status && problem["requestId"] == REQUEST_ID, "{status}: {problem}");
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_complete = |error: &Value| {
        error["pointer"].is_string()
            && error["code"].is_string()
            && error["detail"].as_str().is_some_and(|d| !d.is_empty())
    };
    assert!(errors.iter().all(is_complete), "{problem}");
    assert!(status != 422 || !errors.is_empty(), "the problem has no errors: {problem}");
}
