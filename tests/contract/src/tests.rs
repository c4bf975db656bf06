//! Responses that the document allows, and responses that it does not allow.

use super::*;

fn check(method: &str, path: &str, status: u16, content_type: &str, body: &str) -> Result<(), String> {
    let headers = [("content-type".to_owned(), content_type.to_owned())];
    Answer { method, path, status, headers: &headers, body: body.as_bytes() }.check()
}

#[test]
fn only_documented_responses_pass() {
    let (json, problem) = ("application/json", "application/problem+json");
    let upload = "/api/uploads/4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";
    let not_found = r#"{"type": "/x", "title": "x", "status": 404, "detail": "x", "requestId": "r"}"#;
    for (method, path, status, content_type, body, expected) in [
        ("GET", upload, 404, problem, not_found, true),
        ("GET", upload, 404, json, not_found, false),
        ("GET", upload, 404, problem, r#"{"type": "/x"}"#, false),
        ("GET", upload, 418, problem, not_found, false),
        ("GET", upload, 401, json, r#"{"message": "Unauthorized"}"#, true),
        ("GET", upload, 401, json, "Unauthorized", false),
        ("GET", upload, 200, json, "{}", false),
        ("PUT", upload, 405, problem, not_found, true),
        ("PUT", upload, 200, problem, not_found, false),
        ("Get", upload, 405, problem, not_found, true),
        ("Get", upload, 200, json, "{}", false),
        ("GET", "/api/nothing", 404, problem, not_found, true),
        ("GET", "/api/nothing", 200, problem, not_found, false),
    ] {
        let result = check(method, path, status, content_type, body);
        assert_eq!(result.is_ok(), expected, "{result:?}");
    }
}

#[test]
fn only_documented_headers_with_valid_values_pass() {
    let path = "/api/jobs/4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b?redirect=output";
    let check = |name: &str, value: &str| {
        let headers = [(name.to_owned(), value.to_owned())];
        Answer { method: "GET", path, status: 304, headers: &headers, body: b"" }.check().is_ok()
    };
    assert!(check("etag", "\"a\"") && check("retry-after", "30") && check("traceparent", "x"));
    assert!(!check("etag", "a") && !check("retry-after", "31") && !check("retry-after", "x") && !check("link", "x"));
}
