//! The body of a PUT of a job type: every error with its pointer, hostile schemas, targets.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::job_types::{FUNCTION, content, operated};
use crate::world::World;

/// A valid body with some members replaced.
fn with(members: Value) -> Value {
    let mut body = content(1);
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}

/// Registers, and asserts that the only error is this one, that nothing is stored, and that no ping is asked for.
async fn refuses(world: &World, body: &Value, pointer: &str, code: &str) {
    let reply = world.register("invite", body).await;
    reply.is_problem(422, "invalid-request");
    assert_eq!(reply.field_errors(), [(pointer, code)], "{body}: {}", reply.body["errors"]);
    world.get("/api/job-types/invite").await.is_problem(404, "not-found");
    assert!(world.queues.take_pings().is_empty());
}

#[tokio::test]
async fn every_error_of_a_body_is_reported_at_once() {
    let world = operated();
    let body = json!({
        "target": { "url": "http://api.example.com", "port": 1 }, "description": 7, "input": "stream",
        "optionsSchema": { "type": "text" }, "itemSchema": [], "outputSchema": { "$ref": "https://example.com" },
        "batch": { "items": 0, "bytes": 4_194_305, "timeoutSeconds": "9", "rows": 1 }, "concurrency": 1001,
        "itemsPerSecond": 0.09, "tries": 2.5, "maxOutageSeconds": 59, "colour": "red",
    });
    let reply = world.register("In", &body).await;
    reply.is_problem(422, "invalid-request");
    let mut errors = reply.field_errors();
    errors.sort_unstable();
    let expected = [
        ("/batch/bytes", "out_of_range"),
        ("/batch/items", "out_of_range"),
        ("/batch/rows", "unknown_field"),
        ("/batch/timeoutSeconds", "invalid_type"),
        ("/colour", "unknown_field"),
        ("/concurrency", "out_of_range"),
        ("/description", "invalid_type"),
        ("/input", "invalid_input"),
        ("/itemSchema", "invalid_type"),
        ("/itemsPerSecond", "out_of_range"),
        ("/maxOutageSeconds", "out_of_range"),
        ("/name", "invalid_job_type_name"),
        ("/optionsSchema/type", "invalid_schema"),
        ("/outputSchema/$ref", "invalid_schema"),
        ("/target/port", "unknown_field"),
        ("/target/url", "invalid_target"),
        ("/tries", "out_of_range"),
    ];
    assert_eq!(errors, expected);
    assert!(reply.body["errors"].as_array().unwrap().iter().all(|error| error["detail"].as_str().unwrap().len() > 20));
}

#[tokio::test]
async fn numbers_and_texts_have_exact_bounds() {
    let world = operated();
    let batch = |member: &str, value: Value| json!({ "batch": { member: value } });
    for (member, least, most, below, above) in [
        ("concurrency", json!(1), json!(1_000), json!(0), json!(1_001)),
        ("itemsPerSecond", json!(0.1), json!(100_000), json!(0.099), json!(100_000.1)),
        ("tries", json!(1), json!(20), json!(0), json!(21)),
        ("maxOutageSeconds", json!(60), json!(86_400), json!(59), json!(86_401)),
    ] {
        for refused in [below, above, json!(-1), json!(1e300)] {
            refuses(&world, &with(json!({ member: refused })), &format!("/{member}"), "out_of_range").await;
        }
        for accepted in [least, most, Value::Null] {
            assert_eq!(world.register("other", &with(json!({ member: accepted }))).await.status, 202, "{member}");
        }
        world.queues.take_pings();
    }
    for (member, most) in [("items", 1_000), ("bytes", 4 << 20), ("timeoutSeconds", 110)] {
        for refused in [0, most + 1] {
            refuses(&world, &with(batch(member, json!(refused))), &format!("/batch/{member}"), "out_of_range").await;
        }
        for accepted in [1, most] {
            assert_eq!(world.register("other", &with(batch(member, json!(accepted)))).await.status, 202, "{member}");
        }
        world.queues.take_pings();
    }
    refuses(&world, &with(json!({ "batch": 7 })), "/batch", "invalid_type").await;
    for refused in ["\u{fc}".repeat(501), "a\tb".into(), "a\u{0}".into()] {
        refuses(&world, &with(json!({ "description": refused })), "/description", "invalid_description").await;
    }
    assert_eq!(world.register("other", &with(json!({ "description": "\u{fc}\n".repeat(250) }))).await.status, 202);
}

#[tokio::test]
async fn built_in_names_are_refused_and_so_are_other_forms() {
    let world = operated();
    for name in ["import", "export", "undo", "delete-dataset", "ping"] {
        let reply = world.register(name, &content(1)).await;
        assert_eq!((reply.status, reply.field_errors()), (422, vec![("/name", "reserved_job_type_name")]), "{name}");
    }
    for name in ["Import", "a_b", "7", "-", "a.b", "%20", "a%2Fb", "a".repeat(41).as_str(), "%C3%BC"] {
        let reply = world.register(name, &content(1)).await;
        assert_eq!((reply.status, reply.field_errors()), (422, vec![("/name", "invalid_job_type_name")]), "{name}");
    }
    assert_eq!(world.register(&"a".repeat(40), &content(1)).await.status, 202);
}

#[tokio::test]
async fn only_targets_that_the_owner_allows_are_accepted() {
    let world = operated();
    for (target, pointer, code) in [
        (json!({}), "/target", "invalid_target"),
        (json!({ "function": null }), "/target", "invalid_target"),
        (json!({ "function": FUNCTION, "url": "https://api.example.com" }), "/target", "invalid_target"),
        (json!("arn"), "/target", "invalid_type"),
        (json!({ "function": 7 }), "/target/function", "invalid_type"),
        (json!({ "function": "invite" }), "/target/function", "invalid_target"),
        (json!({ "function": FUNCTION.replace(":live", "") }), "/target/function", "invalid_target"),
        (json!({ "function": FUNCTION.replace("live", "$LATEST") }), "/target/function", "invalid_target"),
        (json!({ "function": FUNCTION.replace("live", "12") }), "/target/function", "invalid_target"),
        (json!({ "function": FUNCTION.replace("live", "test") }), "/target/function", "target_not_allowed"),
        (
            json!({ "function": FUNCTION.replace("123456789012", "210987654321") }),
            "/target/function",
            "target_not_allowed",
        ),
        (json!({ "function": FUNCTION.replace("invite", "prod-jobs-api") }), "/target/function", "target_not_allowed"),
        (json!({ "url": true }), "/target/url", "invalid_type"),
        (json!({ "url": "http://api.example.com" }), "/target/url", "invalid_target"),
        (json!({ "url": "https://user@api.example.com" }), "/target/url", "invalid_target"),
        (json!({ "url": "https://169.254.169.254/latest" }), "/target/url", "invalid_target"),
        (json!({ "url": "https://2852039166/" }), "/target/url", "invalid_target"),
        (json!({ "url": "https://localhost/" }), "/target/url", "target_not_allowed"),
        (json!({ "url": "https://api.example.com.evil.test/" }), "/target/url", "target_not_allowed"),
        (json!({ "url": "https://api.example.com:22/" }), "/target/url", "target_not_allowed"),
    ] {
        refuses(&world, &with(json!({ "target": target })), pointer, code).await;
    }
    for target in [json!({ "url": "https://api.example.com:8443/a?b=c" }), json!({ "function": FUNCTION, "url": null })]
    {
        assert_eq!(world.register("other", &with(json!({ "target": target }))).await.status, 202, "{target}");
    }
    let reply = world.register("invite", &json!({})).await;
    assert_eq!(reply.field_errors(), [("/target", "required")]);
}

#[tokio::test]
async fn without_lists_no_target_is_accepted() {
    let world = operated();
    let mut api = world.api::<crate::world::InMemory>(world.queues.clone());
    api.job_types.targets = longshore_targets::AllowedTargets::default();
    let router = jobs_api::router(api);
    for target in [json!({ "function": FUNCTION }), json!({ "url": "https://api.example.com" })] {
        let body = json!({ "target": target });
        let reply = world.send_put(router.clone(), "/api/job-types/invite", &body).await;
        assert_eq!((reply.status, reply.field_errors()[0].1), (422, "target_not_allowed"));
    }
}

#[tokio::test]
async fn the_worst_schemas_are_refused_in_time() {
    let world = operated();
    let nested = (0..64).fold(json!({}), |inner, _| json!({ "not": inner }));
    let wide: Map<_, _> = (0..2_000).map(|n| (format!("p{n}"), json!({}))).collect();
    let mut doubling: Map<_, _> = (0..40)
        .map(|n| (format!("d{n}"), json!({ "allOf": [{ "$ref": format!("#/$defs/d{}", n + 1) }, { "$ref": format!("#/$defs/d{}", n + 1) }] })))
        .collect();
    doubling.insert("d40".into(), json!({}));
    for (schema, pointer, code) in [
        (json!({ "pattern": "((a{1000}){1000}){1000}" }), "", "schema_too_complex"),
        (json!({ "pattern": "(" }), "/pattern", "invalid_schema"),
        (json!({ "$ref": "#" }), "", "schema_too_complex"),
        (
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
            "/$defs/a",
            "schema_too_complex",
        ),
        (json!({ "$defs": doubling, "$ref": "#/$defs/d0" }), "", "schema_too_complex"),
        (json!({ "$ref": "http://169.254.169.254/latest/meta-data/" }), "/$ref", "invalid_schema"),
        (json!({ "$ref": "file:///proc/self/environ" }), "/$ref", "invalid_schema"),
        (json!({ "$dynamicRef": "https://example.com/#a" }), "/$dynamicRef", "invalid_schema"),
        (nested, "", "schema_too_complex"),
        (json!({ "properties": wide }), "", "schema_too_large"),
        (json!({ "title": "x".repeat(16 << 10) }), "", "schema_too_large"),
        (json!(true), "", "invalid_type"),
    ] {
        for member in ["optionsSchema", "itemSchema", "outputSchema"] {
            let started = Instant::now();
            refuses(&world, &with(json!({ member: schema })), &format!("/{member}{pointer}"), code).await;
            assert!(started.elapsed() < Duration::from_secs(2), "{schema}");
        }
    }
}

#[tokio::test]
async fn deeply_nested_and_large_bodies_are_refused_before_they_are_read() {
    let world = operated();
    let headers = [("content-type", "application/json")];
    let deep = format!("{{\"itemSchema\":{{\"enum\":{}{}}}}}", "[".repeat(10_000), "]".repeat(10_000));
    let put = async |body: String| world.call_with("PUT", "/api/job-types/invite", &headers, body).await;
    put(deep).await.is_problem(400, "malformed-json");
    put("{".into()).await.is_problem(400, "malformed-json");
    put(format!("{{}}{}", " ".repeat(128 << 10))).await.is_problem(413, "body-too-large");
    assert_eq!(put("[]".into()).await.field_errors(), [("", "invalid_type")]);
    let untyped = world.call_with("PUT", "/api/job-types/invite", &[], "{}".into()).await;
    untyped.is_problem(415, "unsupported-media-type");
}

#[tokio::test]
async fn the_largest_and_deepest_valid_schemas_are_stored_and_read_back() {
    let world = operated();
    let deep = (0..63).fold(json!({}), |inner, _| json!({ "not": inner }));
    let large = json!({ "description": "x".repeat((16 << 10) - "{\"description\":\"\"}".len()) });
    let body = with(json!({ "optionsSchema": large, "itemSchema": deep, "outputSchema": large }));
    for name in ["invite", "other"] {
        let reply = world.register(name, &body).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
        assert_eq!((&reply.body["itemSchema"], &reply.body["outputSchema"]), (&body["itemSchema"], &large));
    }
    let page = world.get("/api/job-types").await;
    assert_eq!(page.body["jobTypes"].as_array().unwrap().len(), 2);
}
