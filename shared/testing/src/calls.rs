//! Calls of the API's functions.

#![allow(clippy::expect_used, reason = "a call that cannot be made fails the test")]

use axum::body::Body;
use axum::http::Request;
use lambda_http::request::RequestContext;
use lambda_http::{Context, RequestExt};
use serde_json::{Value, json};

/// Returns a call with a JSON body, as the gateway forwards it after it has accepted a token with these claims.
///
/// # Panics
/// If the method or the path is not valid.
pub fn signed_in_call(method: &str, path: &str, claims: &Value, body: &Value) -> Request<Body> {
    let context =
        json!({ "http": { "method": method }, "timeEpoch": 0, "authorizer": { "jwt": { "claims": claims } } });
    let context = serde_json::from_value(context).expect("a context of the gateway");
    let mut lambda = Context::default();
    lambda.request_id = "r-1".into();
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(Body::from(body.to_string())).expect("a request");
    request.with_lambda_context(lambda).with_request_context(RequestContext::ApiGatewayV2(context))
}
