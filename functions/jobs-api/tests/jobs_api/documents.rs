//! The documents about the API match the code.
//!
//! The calls of the OpenAPI document are those of the routers and the template, and its examples match its schemas.
//! Every test also validates each response against it; see `contract`. In the registry of problems, every problem has a
//! page, and every page a problem.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::DOCUMENT;
use longshore::openapi::document;
use longshore::problem::{CODES, Kind};
use longshore_domain::ids::JobId;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::world::{Reply, World};

const TEMPLATE: &str = include_str!("../../../../template.yaml");
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[test]
fn the_committed_document_matches_the_code() {
    let generated = document([upload::openapi(), inspect::openapi(), jobs_api::openapi(), operations::openapi()]);
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
    let uploads = &owned(&upload::ROUTES) | &owned(&inspect::ROUTES);
    let functions = &(&owned(&jobs_api::ROUTES) | &uploads) | &owned(&operations::ROUTES);
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

/// The source code that answers calls, without white space and without the registry.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    for folder in [
        "shared/src",
        "functions/jobs-api/src",
        "functions/upload/src",
        "functions/inspect/src",
        "functions/operations/src",
    ] {
        collect(&root.join(folder), &mut sources);
    }
    assert!(sources.len() > 50);
    sources
}

fn collect(folder: &Path, sources: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, sources);
        } else if name.ends_with(".rs") && !["kind.rs", "codes.rs"].contains(&name.as_str()) {
            let text: String = fs::read_to_string(&path).unwrap().split_whitespace().collect();
            sources.push((path, text));
        }
    }
}

#[test]
fn every_problem_kind_is_used() {
    let sources = sources();
    for kind in Kind::ALL {
        let calls = [format!("Problem::new(Kind::{kind:?},"), format!("Self::new(Kind::{kind:?},")];
        let is_used = sources.iter().any(|(_, text)| calls.iter().any(|call| text.contains(call)));
        assert!(is_used, "{kind:?} is in the registry and not used");
    }
}

/// Returns the first quoted text within the first two arguments of a call.
fn code_of(arguments: &str) -> Option<&str> {
    let mut quoted = arguments.get(..200).unwrap_or(arguments).split('"').skip(1).step_by(2).take(2);
    let is_code = |text: &&str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    quoted.find(|text| is_code(text) && (text.contains('_') || *text == "required"))
}

#[test]
fn the_codes_of_invalid_fields_match_the_rows_of_their_page() {
    let sources = sources();
    for (path, text) in &sources {
        for call in ["FieldError::new(", "Bad::new("] {
            for arguments in text.split(call).skip(1) {
                let Some(code) = code_of(arguments) else { continue };
                assert!(CODES.iter().any(|(known, _)| *known == code), "{code} of {} has no row", path.display());
            }
        }
    }
    for (code, _) in CODES {
        let quoted = format!("\"{code}\"");
        assert!(sources.iter().any(|(_, text)| text.contains(&quoted)), "{code} has a row and is not used");
    }
}

#[tokio::test]
async fn the_type_of_every_problem_links_to_its_page() {
    let world = World::default();
    for kind in Kind::ALL {
        let reply = world.without_token(Request::get(kind.uri()).body(Body::empty()).unwrap()).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "text/html; charset=utf-8"), "{kind:?}");
        let about = kind.about();
        for text in [about.title, about.name, &about.status.to_string()] {
            assert!(reply.text.contains(text), "{kind:?}: {text}");
        }
        assert_eq!(reply.text.contains("invalid_cursor"), *kind == Kind::InvalidRequest);
    }
    let index = world.without_token(Request::get("/api/problems").body(Body::empty()).unwrap()).await;
    assert!(Kind::ALL.iter().all(|kind| index.text.contains(&format!("href=\"{}\"", kind.uri()))));
    world.get("/api/problems/no-such-kind").await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_page_allows_only_its_own_style() {
    for path in ["/api/problems", "/api/problems/not-found", "/api/docs"] {
        let page = World::default().without_token(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        assert_strict_policy(&page);
    }
}

fn assert_strict_policy(page: &Reply) {
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    // The policy names the style of the page by its hash: any other style would be blocked.
    let style = page.text.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    assert!(policy.contains(&format!("'sha256-{hash}'")), "{policy}");
    for foreign in ["<script", "<link", "<img", "src=", "style=", "href=\"http", "@import", "url("] {
        assert!(!page.text.contains(foreign), "{foreign}");
    }
}
