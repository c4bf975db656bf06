//! Requests at each size limit and one byte over it.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::routing::get;
use lambda_http::tower::ServiceExt;
use serde_json::Value;

use super::*;
use crate::http::with_problems;

/// Returns the status, and the end of the problem's type.
async fn answered(request: Request<Body>) -> (u16, String) {
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
async fn a_target_has_four_kibibytes() {
    let request = |bytes: usize| {
        let uri = format!("/there?{}", "x".repeat(bytes - "/there?".len()));
        Request::get(uri).body(Body::empty()).unwrap()
    };
    assert_eq!(answered(request(MAX_TARGET)).await, ok());
    assert_eq!(answered(request(MAX_TARGET + 1)).await, (414, "uri-too-long".into()));
    let elsewhere = Request::get(format!("/{}", "x".repeat(MAX_TARGET))).body(Body::empty()).unwrap();
    assert_eq!(answered(elsewhere).await, (414, "uri-too-long".into()), "where no route is, too");
}

#[tokio::test]
async fn headers_have_a_limit_together_and_those_that_are_read_one_each() {
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
        assert_eq!(answered(request(name, &values)).await, expected, "{name} {}", values[0]);
    }
}

#[tokio::test]
async fn a_route_that_reads_no_body_ignores_a_small_one_and_refuses_a_large_one() {
    let request = |bytes: usize| Request::get("/there").body(Body::from("x".repeat(bytes))).unwrap();
    assert_eq!(answered(request(MAX_BODY)).await, ok());
    assert_eq!(answered(request(MAX_BODY + 1)).await, (413, "body-too-large".into()));
}
