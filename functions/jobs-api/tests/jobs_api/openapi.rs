//! The OpenAPI document matches the code: its calls are those of the routers and the template, and its examples match
//! its schemas. Every test also validates each response against it; see `contract`.

use std::collections::BTreeSet;

use crate::world::World;
use axum::body::Body;
use axum::http::Request;
use contract::DOCUMENT;
use longshore::openapi::document;
use longshore_domain::ids::JobId;
use serde_json::Value;

const TEMPLATE: &str = include_str!("../../../../template.yaml");
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[test]
fn the_committed_document_matches_the_code() {
    let generated = document([upload::openapi(), jobs_api::openapi(), dead_letters::openapi()]);
    let generated = serde_json::to_value(&generated).unwrap();
    let changes: Vec<_> = breaking::changes(&DOCUMENT, &generated).iter().map(ToString::to_string).collect();
    assert!(
        generated == *DOCUMENT,
        "docs/openapi.json is out of date; run `cargo xtask openapi`.\nChanges for clients: {}",
        if changes.is_empty() { "descriptions only".to_owned() } else { changes.join("\n") }
    );
}

/// Every operation with its method and path.
fn operations() -> Vec<(String, String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    let calls = paths.flat_map(|(path, item)| {
        let of_path = move |(method, call): (&String, &'static Value)| (method.to_uppercase(), path.clone(), call);
        item.as_object().unwrap().iter().map(of_path)
    });
    calls.collect()
}

fn documented() -> BTreeSet<(String, String)> {
    operations().into_iter().map(|(method, path, _)| (method, path)).collect()
}

fn owned(routes: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    routes.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect()
}

#[test]
fn the_documented_calls_match_the_functions_and_the_template() {
    let functions = &(&owned(&jobs_api::ROUTES) | &owned(&upload::ROUTES)) | &owned(&dead_letters::ROUTES);
    assert_eq!(documented(), functions);
    let keys = TEMPLATE.lines().filter_map(|line| line.trim().strip_prefix("RouteKey: "));
    let routed: Vec<_> = keys.filter_map(|key| key.split_once(' ')).collect();
    // The routes of the web page are not part of the API.
    assert_eq!(owned(&routed), &functions | &owned(&web::ROUTES));
}

#[test]
fn every_route_requires_a_token_except_documents_and_the_page() {
    let public = owned(jobs_api::PUBLIC_ROUTES);
    assert!(public.is_subset(&owned(&jobs_api::ROUTES)));
    let page = owned(&web::ROUTES);
    for (method, path, call) in operations() {
        let is_public = call["security"]
            .as_array()
            .is_some_and(|schemes| schemes.iter().all(|scheme| *scheme == serde_json::json!({})));
        assert_eq!(is_public, public.contains(&(method.clone(), path.clone())), "{method} {path}");
    }
    let routes: Vec<_> = TEMPLATE.split("Type: AWS::ApiGatewayV2::Route\n").skip(1).collect();
    assert!(routes.len() > jobs_api::ROUTES.len());
    for route in routes {
        let route = route.split("\n\n").next().unwrap_or_default();
        let key = route.lines().find_map(|line| line.trim().strip_prefix("RouteKey: ")).unwrap();
        let key_parts = key.split_once(' ').map(|(method, path)| (method.to_owned(), path.to_owned()));
        let is_public = key_parts.is_some_and(|parts| public.contains(&parts) || page.contains(&parts));
        let checked = route.contains("AuthorizationType: !If [IsOpen, NONE, JWT]")
            && route.contains("AuthorizerId: !If [IsOpen, !Ref AWS::NoValue, !Ref TokenCheck]");
        let open = route.contains("AuthorizationType: NONE\n") && !route.contains("AuthorizerId");
        let open = open || (route.ends_with("AuthorizationType: NONE") && !route.contains("AuthorizerId"));
        assert_eq!((checked, open), (!is_public, is_public), "{key}");
    }
}

#[tokio::test]
async fn the_router_accepts_only_the_documented_calls() {
    let (world, documented) = (World::default(), documented());
    for (_, path) in owned(&jobs_api::ROUTES) {
        for method in METHODS {
            let to = path.replace("{jobId}", &JobId::generate().to_string()).replace("{dataset}", "people");
            let to = to.replace("{kind}", "not-found");
            let reply = world.send(Request::builder().method(method).uri(to).body(Body::empty()).unwrap()).await;
            let is_accepted = reply.status != 405;
            assert_eq!(is_accepted, documented.contains(&(method.to_owned(), path.clone())), "{method} {path}");
        }
    }
}

#[test]
fn every_call_has_valid_examples_of_request_and_response() {
    for (method, path, call) in operations() {
        let mut contents: Vec<_> = call["requestBody"]["content"].as_object().into_iter().flatten().collect();
        for (status, answer) in call["responses"].as_object().unwrap() {
            if status.starts_with('2') {
                contents.extend(answer["content"].as_object().into_iter().flatten());
            }
        }
        for (media_type, content) in contents {
            let of_documents = call["tags"] == serde_json::json!(["documents"]);
            let named = content["examples"]
                .as_object()
                .into_iter()
                .flat_map(|examples| examples.values().map(|example| &example["value"]));
            let examples: Vec<_> = named.chain(content.get("example")).collect();
            assert!(of_documents || !examples.is_empty(), "{method} {path} has no example of {media_type}");
            for example in examples.into_iter().filter(|example| example.is_object()) {
                let validator = contract::validator(&content["schema"]);
                let errors: Vec<_> = validator.iter_errors(example).map(|e| e.to_string()).collect();
                assert!(errors.is_empty(), "{method} {path}: {errors:?}");
            }
        }
    }
    let validator = contract::validator(&DOCUMENT["components"]["schemas"]["Problem"]);
    for (name, example) in DOCUMENT["components"]["examples"].as_object().unwrap() {
        assert!(validator.is_valid(&example["value"]), "{name}");
    }
}

#[tokio::test]
async fn the_committed_document_is_public() {
    let world = World::default();
    let get = |tag: &str| {
        let request = Request::get("/api/openapi.json").header("if-none-match", tag).body(Body::empty());
        world.without_token(request.unwrap())
    };
    let reply = get("\"other\"").await;
    assert_eq!((reply.status, reply.header("content-type"), &reply.body), (200, "application/json", &*DOCUMENT));
    assert_eq!(reply.header("cache-control"), "public, max-age=300");
    let repeated = get(reply.header("etag")).await;
    assert_eq!((repeated.status, repeated.header("etag"), &repeated.body), (304, reply.header("etag"), &Value::Null));
}
