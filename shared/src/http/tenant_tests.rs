//! The tenant of a request, for every token that the gateway could accept.

use axum::body::Body;
use axum::http::Request;
use lambda_http::RequestExt;
use serde_json::{Value, json};

use super::*;

/// A call with these claims, as the gateway passes it on; without an authorizer if there are none.
fn call(claims: Option<Value>) -> Parts {
    let authorizer = claims.map(|claims| json!({"jwt": {"claims": claims, "scopes": null}}));
    let context = json!({
        "accountId": "1", "apiId": "a", "domainName": "d", "domainPrefix": "d", "requestId": "r", "stage": "$default",
        "routeKey": "GET /", "time": "t", "timeEpoch": 1, "authorizer": authorizer,
        "http": {"method": "GET", "path": "/", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "u"},
    });
    let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
    Request::new(Body::empty()).with_request_context(context).into_parts().0
}

async fn tenant(access: Option<Access>, mut parts: Parts) -> Result<String, (u16, &'static str, String)> {
    if let Some(access) = access {
        parts.extensions.insert(access);
    }
    match Tenant::from_request_parts(&mut parts, &()).await {
        Ok(Tenant(name)) => Ok(name.into()),
        Err(Failure::Problem(problem)) => Err((problem.status(), problem.kind.name(), problem.detail)),
        Err(Failure::Internal(error)) => Err((500, "internal", error.to_string())),
    }
}

fn signed_in(claim: &str) -> Option<Access> {
    Some(Access::SignedIn { tenant_claim: claim.into() })
}

#[tokio::test]
async fn the_tenant_is_the_named_claim_of_the_token() {
    let claims = json!({"sub": "u-1", "custom:tenant": "acme", "exp": "1"});
    assert_eq!(tenant(signed_in("sub"), call(Some(claims.clone()))).await, Ok("u-1".into()));
    assert_eq!(tenant(signed_in("custom:tenant"), call(Some(claims))).await, Ok("acme".into()));
}

#[tokio::test]
async fn a_caller_without_the_claim_is_refused_with_a_solution() {
    for parts in [call(Some(json!({"sub": "u-1"}))), call(None), Request::new(Body::empty()).into_parts().0] {
        let (status, kind, detail) = tenant(signed_in("custom:tenant"), parts).await.unwrap_err();
        assert_eq!((status, kind), (403, "no-tenant"));
        assert!(detail.contains("custom:tenant") && !detail.contains("u-1"), "{detail}");
    }
}

#[tokio::test]
async fn a_header_does_not_set_the_tenant() {
    let mut parts = call(None);
    for name in ["x-tenant", "sub", "authorization", "x-amzn-request-context"] {
        parts.headers.insert(name, "Bearer acme".parse().unwrap());
    }
    assert_eq!(tenant(signed_in("sub"), parts).await.unwrap_err().0, 403);
}

#[tokio::test]
async fn names_that_would_break_a_key_are_refused() {
    for good in ["a", "auth0|5f7c8ec7", "ann+x@example.com", "urn:tenant=7", "A-b_c.d", &"x".repeat(128)] {
        assert_eq!(tenant(signed_in("sub"), call(Some(json!({"sub": good})))).await, Ok(good.into()));
    }
    for bad in ["", " ", "a b", "a#b", "a/b", "..", ".a", "a\n", "a%2f", "[acme]", "[a b]", "ü", "a*", &"x".repeat(129)]
    {
        let refusal = tenant(signed_in("sub"), call(Some(json!({"sub": bad})))).await.unwrap_err();
        assert_eq!((refusal.0, refusal.1), (403, "no-tenant"), "{bad}");
    }
}

#[tokio::test]
async fn open_access_ignores_tokens_and_has_one_tenant() {
    for parts in [call(None), call(Some(json!({"sub": "acme"})))] {
        assert_eq!(tenant(Some(Access::Open), parts).await, Ok("default".into()));
    }
}

#[tokio::test]
async fn a_router_without_an_access_rule_refuses_every_caller() {
    assert_eq!(tenant(None, call(Some(json!({"sub": "acme"})))).await.unwrap_err().0, 500);
}
