//! Responses of the web function: the page's files with their policies, and the settings. The tests pass with and
//! without a built page; `web/page/tests` tests the built page in a browser.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use lambda_http::tower::ServiceExt;
use serde_json::{Value, json};
use web::{OperatorRule, ROUTES, Settings, SignIn, Token, router};

const BUCKET: &str = "https://bucket.s3.eu-central-1.amazonaws.com";

fn settings(sign_in: Option<SignIn>) -> Settings {
    Settings::new(sign_in, BUCKET.to_owned())
}

fn cognito() -> SignIn {
    SignIn {
        issuer: "https://cognito-idp.eu-central-1.amazonaws.com/pool".to_owned(),
        client_id: "page".to_owned(),
        scope: "openid email".to_owned(),
        token: Token::Access,
        hosted_page: Some("https://sign-in.example.com".to_owned()),
        operators: OperatorRule {
            claim: "cognito:groups".to_owned(),
            group: "operators".to_owned(),
            read_only_group: None,
        },
    }
}

async fn get(settings: Settings, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router(settings).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    (parts.status.as_u16(), parts.headers, body.to_vec())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn the_policies_allow_only_what_the_page_needs() {
    for path in ROUTES.map(|(_, path)| path).into_iter().chain(["/elsewhere"]) {
        let (_, headers, _) = get(settings(Some(cognito())), path, &[]).await;
        let policy = text(&headers, "content-security-policy");
        let connect = format!("connect-src 'self' {BUCKET} https://sign-in.example.com;");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{path}: {policy}");
        assert!(policy.contains(&connect) && !policy.contains("unsafe"), "{path}: {policy}");
        assert!(policy.contains("; img-src 'self' blob:;"), "{path}: {policy}");
        assert!(policy.ends_with("form-action 'none'; frame-ancestors 'none'; base-uri 'none'"), "{path}: {policy}");
        assert!(text(&headers, "strict-transport-security").starts_with("max-age="), "{path}");
        assert_eq!(text(&headers, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(text(&headers, "referrer-policy"), "no-referrer", "{path}");
    }
}

#[tokio::test]
async fn the_settings_contain_only_the_sign_in_and_the_runbook() {
    let url = "https://git.example.com/runbook.md";
    let settings_of_users = settings(Some(cognito())).with_runbook(url.to_owned());
    let (status, headers, body) = get(settings_of_users, "/config.json", &[]).await;
    let reported: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, text(&headers, "cache-control")), (200, "no-cache"));
    let sign_in = json!({
        "issuer": "https://cognito-idp.eu-central-1.amazonaws.com/pool", "clientId": "page", "scope": "openid email",
        "token": "access", "hostedPage": "https://sign-in.example.com",
        "operators": { "claim": "cognito:groups", "group": "operators", "readOnlyGroup": null }
    });
    assert_eq!(reported, json!({ "signIn": sign_in, "runbookUrl": url }));
    let (_, headers, body) = get(settings(None), "/config.json", &[]).await;
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), json!({ "signIn": null, "runbookUrl": null }));
    let policy = text(&headers, "content-security-policy");
    assert!(policy.contains(&format!("connect-src 'self' {BUCKET};")), "{policy}");
}

#[test]
fn the_runbook_is_left_out_unless_its_address_is_a_url_of_the_web() {
    let url = |address: &str| settings(None).with_runbook(address.to_owned()).runbook_url;
    for address in ["https://git.example.com/runbook.md", "http://wiki.local/runbook"] {
        assert_eq!(url(address).as_deref(), Some(address));
    }
    for address in ["docs/runbook.md", "javascript:alert(1)", "//git.example.com/runbook.md", ""] {
        assert_eq!(url(address), None, "{address}");
    }
}

/// If the binary contains the page, every view is its document. Otherwise a message explains how to build it.
#[tokio::test]
async fn every_view_is_the_same_document_or_a_message_that_the_page_is_not_built() {
    let (status, first, document) = get(settings(None), "/", &[]).await;
    let reported = String::from_utf8_lossy(&document).into_owned();
    if status == 503 {
        assert!(reported.contains("npm run build"), "{reported}");
        return;
    }
    assert_eq!((status, text(&first, "cache-control")), (200, "no-cache"));
    assert!(
        !reported.contains("<style") && !reported.contains("onload") && !reported.contains("https://"),
        "{reported}"
    );
    for path in [
        "/jobs",
        "/jobs/7",
        "/datasets",
        "/datasets/people",
        "/types",
        "/types/invite",
        "/webhooks",
        "/webhooks/7",
        "/schedules",
        "/schedules/7",
        "/operations",
        "/operations/failures",
    ] {
        assert_eq!(get(settings(None), path, &[]).await.2, document, "{path}");
    }
    let etag = text(&first, "etag");
    assert_eq!(get(settings(None), "/", &[("if-none-match", etag)]).await.0, 304);
    assert_eq!(get(settings(None), "/", &[("if-none-match", "\"other\"")]).await.0, 200);
}

#[tokio::test]
async fn a_file_of_the_page_is_immutable_and_compressed_if_the_client_accepts_it() {
    let (_, _, document) = get(settings(None), "/", &[]).await;
    let document = String::from_utf8(document).unwrap();
    let Some(script) = document.split('"').find(|word| word.starts_with("/assets/") && word.ends_with(".js")) else {
        return assert!(document.contains("npm run build"), "{document}");
    };
    let (status, headers, plain) = get(settings(None), script, &[]).await;
    assert_eq!((status, text(&headers, "content-type")), (200, "text/javascript; charset=utf-8"));
    assert_eq!(text(&headers, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(text(&headers, "content-encoding"), "");
    let (_, packed, gzip) = get(settings(None), script, &[("accept-encoding", "br, gzip;q=0.8")]).await;
    assert_eq!((text(&packed, "content-encoding"), text(&packed, "vary")), ("gzip", "accept-encoding"));
    assert!(gzip.len() * 2 < plain.len() && gzip.starts_with(b"\x1f\x8b"));
    assert_ne!(text(&packed, "etag"), text(&headers, "etag"));
    let (_, refused, _) = get(settings(None), script, &[("accept-encoding", "gzip;q=0")]).await;
    assert_eq!(text(&refused, "content-encoding"), "");
}

#[tokio::test]
async fn a_path_without_a_file_of_the_page_is_a_problem() {
    for path in ["/assets/other.js", "/assets/..%2findex.html", "/assets/index.html.gz"] {
        let (status, headers, _) = get(settings(None), path, &[]).await;
        assert_eq!((status, text(&headers, "content-type")), (404, "application/problem+json"), "{path}");
    }
}
