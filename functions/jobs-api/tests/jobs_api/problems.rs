//! The registry of problems matches the code: every problem has a page, and every page a problem.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::{Reply, World};
use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::problem::{CODES, Kind};
use sha2::{Digest, Sha256};

/// The source code that answers calls, without white space and without the registry.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    for folder in ["shared/src", "functions/jobs-api/src", "functions/upload/src", "functions/dead-letters/src"] {
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
        if path.ends_with("fields.rs") || path.to_string_lossy().contains("/import/kinds") {
            continue;
        }
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
