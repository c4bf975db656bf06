//! Invalid creates on the deployed stack: the response has the status, the `type` and the pointer of every error, and
//! no job is created.

use anyhow::{Context, Result, ensure};
use longshore::http::MAX_BODY;
use longshore_tests::harness::client::Answer;
use serde_json::Value;

use crate::shared::{Story, stack};

/// Body, status, problem type, and pointers with codes. `FILE` in a body is an existing upload, `MISSING` a missing
/// one.
type Case = (&'static str, u16, &'static str, &'static [&'static str]);

const INVALID: &str = "invalid-request";

#[rustfmt::skip]
const CASES: [Case; 47] = [
    // Not JSON, or not an object.
    ("", 400, "malformed-json", &[]),
    ("{", 400, "malformed-json", &[]),
    ("{\"jobType\":\"import\"", 400, "malformed-json", &[]),
    ("{'jobType':'import'}", 400, "malformed-json", &[]),
    ("{\"jobType\":\"import\",}", 400, "malformed-json", &[]),
    ("jobType=import", 400, "malformed-json", &[]),
    ("\u{feff}{}", 400, "malformed-json", &[]),
    ("{} {}", 400, "malformed-json", &[]),
    ("{\"timeoutSeconds\":NaN}", 400, "malformed-json", &[]),
    ("{\"jobType\":\"\\ud800\"}", 400, "malformed-json", &[]),
    ("null", 422, INVALID, &[" invalid_type"]),
    ("[]", 422, INVALID, &[" invalid_type"]),
    ("\"import\"", 422, INVALID, &[" invalid_type"]),
    ("7", 422, INVALID, &[" invalid_type"]),
    // The job type.
    ("{}", 422, INVALID, &["/jobType required"]),
    (r#"{"jobType":null}"#, 422, INVALID, &["/jobType unknown_job_type"]),
    (r#"{"jobType":"Import"}"#, 422, INVALID, &["/jobType unknown_job_type"]),
    (r#"{"jobType":["import"]}"#, 422, INVALID, &["/jobType unknown_job_type"]),
    (r#"{"jobtype":"import"}"#, 422, INVALID, &["/jobType required", "/jobtype unknown_field"]),
    (r#"{"jobType":"no","fileGuid":7,"x":1}"#, 422, INVALID, &["/fileGuid unknown_file", "/jobType unknown_job_type", "/x unknown_field"]),
    // The file.
    (r#"{"jobType":"import","options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/fileGuid file_required"]),
    (r#"{"jobType":"import","fileGuid":null,"options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/fileGuid file_required"]),
    (r#"{"jobType":"import","fileGuid":"","options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/fileGuid unknown_file"]),
    (r#"{"jobType":"import","fileGuid":{},"options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/fileGuid unknown_file"]),
    (r#"{"jobType":"import","fileGuid":"MISSING","options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/fileGuid unknown_file"]),
    (r#"{"jobType":"import","fileGuid":"MISSING","options":{"dataset":"d"}}"#, 422, INVALID, &["/fileGuid unknown_file", "/options/key required"]),
    (r#"{"jobType":"probe-once","fileGuid":"FILE","options":{"action":"ok"}}"#, 422, INVALID, &["/fileGuid file_not_allowed"]),
    // The timeout.
    (r#"{"jobType":"import","fileGuid":"FILE","timeoutSeconds":0,"options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/timeoutSeconds invalid_timeout"]),
    (r#"{"jobType":"import","fileGuid":"FILE","timeoutSeconds":-1,"options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/timeoutSeconds invalid_timeout"]),
    (r#"{"jobType":"import","fileGuid":"FILE","timeoutSeconds":1e300,"options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/timeoutSeconds invalid_timeout"]),
    (r#"{"jobType":"import","fileGuid":"FILE","timeoutSeconds":"60","options":{"dataset":"d","key":"id"}}"#, 422, INVALID, &["/timeoutSeconds invalid_timeout"]),
    // The options.
    (r#"{"jobType":"import","fileGuid":"FILE"}"#, 422, INVALID, &["/options/dataset required", "/options/key required"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":[]}"#, 422, INVALID, &["/options invalid_type"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":"dataset=d"}"#, 422, INVALID, &["/options invalid_type"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":5,"key":7}}"#, 422, INVALID, &["/options/dataset invalid_option", "/options/key invalid_option"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"a b","key":""}}"#, 422, INVALID, &["/options/dataset invalid_dataset", "/options/key invalid_key"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"","keys":"id"}}"#, 422, INVALID, &["/options/dataset invalid_dataset", "/options/key required", "/options/keys unknown_option"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","mode":"merge","maxFailed":-1}}"#, 422, INVALID, &["/options/maxFailed invalid_option", "/options/mode invalid_option"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","columns":{"a":"x","b":"x"},"pivotYear":50}}"#, 422, INVALID, &["/options/columns/b property_mapped_twice", "/options/pivotYear invalid_pivot_year"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","maxFailedPercent":101}}"#, 422, INVALID, &["/options/maxFailedPercent invalid_percent"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","a/b":1,"m~n":2}}"#, 422, INVALID, &["/options/a~1b unknown_option", "/options/m~0n unknown_option"]),
    // The schema.
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","schema":[]}}"#, 422, INVALID, &["/options/schema invalid_schema"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","schema":{"type":"strng"}}}"#, 422, INVALID, &["/options/schema/type invalid_schema"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","schema":{"properties":{"a":{"pattern":"("}}}}}"#, 422, INVALID, &["/options/schema/properties/a/pattern invalid_schema"]),
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id","schema":{"$ref":"https://example.com/x"}}}"#, 422, INVALID, &["/options/schema/$ref invalid_schema"]),
    // Unknown fields, and all errors at once.
    (r#"{"jobType":"import","fileGuid":"FILE","options":{"dataset":"d","key":"id"},"status":"completed","tenant":"x"}"#, 422, INVALID, &["/status unknown_field", "/tenant unknown_field"]),
    (r#"{"jobType":"import","fileGuid":"MISSING","timeoutSeconds":{},"options":{"dataset":"a b","mode":1,"x":1,"schema":1},"y":1}"#, 422, INVALID, &[
        "/fileGuid unknown_file", "/options/dataset invalid_dataset", "/options/key required", "/options/mode invalid_option",
        "/options/schema invalid_schema", "/options/x unknown_option", "/timeoutSeconds invalid_timeout", "/y unknown_field",
    ]),
];

#[test]
fn every_error_of_a_malformed_create_is_reported() -> Story {
    let client = &stack().client;
    let file = client.upload("file.csv", b"id\n1\n")?;
    for (body, status, kind, errors) in CASES {
        let request = body.replace("FILE", &file).replace("MISSING", "01890a5d-ac96-774b-bcce-b302099a8057");
        let json = [("content-type", "application/json")];
        let answer = client.call("POST", "/api/jobs", &json, request.as_bytes())?;
        check(&answer, status, kind, errors).with_context(|| format!("{body}: {}", answer.text()))?;
    }
    Ok(())
}

#[test]
fn a_create_that_is_not_json_or_too_long_is_refused() -> Story {
    let client = &stack().client;
    let body = br#"{"jobType":"import"}"#;
    for (content_type, body, status, kind) in [
        ("text/plain", &body[..], 415, "unsupported-media-type"),
        ("application/x-www-form-urlencoded", body, 415, "unsupported-media-type"),
        ("application/json", &[b' '; MAX_BODY + 1], 413, "body-too-large"),
        ("application/json", &[0xff, 0xfe, 0x00], 400, "malformed-json"),
        ("application/json", "[".repeat(100_000).as_bytes(), 400, "malformed-json"),
    ] {
        let answer = client.call("POST", "/api/jobs", &[("content-type", content_type)], body)?;
        check(&answer, status, kind, &[]).with_context(|| format!("{content_type}: {}", answer.text()))?;
    }
    Ok(())
}

fn check(answer: &Answer, status: u16, kind: &str, expected: &[&str]) -> Result<()> {
    let body = answer.json();
    ensure!(answer.status == status && body["status"] == status, "answered {}", answer.status);
    ensure!(answer.headers["content-type"] == "application/problem+json", "{:?}", answer.headers);
    ensure!(body["type"].as_str().is_some_and(|uri| uri.rsplit([':', '/']).next() == Some(kind)), "{}", body["type"]);
    ensure!(
        ["title", "detail", "requestId"].iter().all(|name| body[name].is_string()),
        "title, detail or requestId is missing"
    );
    let mut errors: Vec<_> = body["errors"].as_array().into_iter().flatten().map(describe).collect();
    errors.sort_unstable();
    ensure!(errors == expected, "{errors:?} instead of {expected:?}");
    Ok(())
}

fn describe(error: &Value) -> String {
    format!("{} {}", error["pointer"].as_str().unwrap_or("?"), error["code"].as_str().unwrap_or("?"))
}
