//! Every problem has a page, and every page a problem: the registry is compared with the code.

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
    let mut found = Vec::new();
    for folder in ["shared/src", "functions/jobs-api/src", "functions/upload/src", "functions/dead-letters/src"] {
        collect(&root.join(folder), &mut found);
    }
    assert!(found.len() > 50);
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, found);
        } else if name.ends_with(".rs") && !["kind.rs", "codes.rs"].contains(&name.as_str()) {
            let text: String = fs::read_to_string(&path).unwrap().split_whitespace().collect();
            found.push((path, text));
        }
    }
}

#[test]
fn every_kind_is_answered_somewhere() {
    let sources = sources();
    for kind in Kind::ALL {
        let made = [format!("Problem::new(Kind::{kind:?},"), format!("Self::new(Kind::{kind:?},")];
        let is_made = sources.iter().any(|(_, text)| made.iter().any(|made| text.contains(made)));
        assert!(is_made, "{kind:?} is in the registry, and nothing answers it");
    }
}

/// Returns the first quoted text within the first two arguments of a call.
fn code_of(arguments: &str) -> Option<&str> {
    let mut quoted = arguments.get(..200).unwrap_or(arguments).split('"').skip(1).step_by(2).take(2);
    let is_code = |text: &&str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    quoted.find(|text| is_code(text) && (text.contains('_') || *text == "required"))
}

#[test]
fn every_code_of_a_bad_field_has_a_row_on_its_page_and_every_row_a_code() {
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
        assert!(sources.iter().any(|(_, text)| text.contains(&quoted)), "{code} has a row, and nothing answers it");
    }
}

#[tokio::test]
async fn the_type_of_every_problem_leads_to_its_page() {
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
    let all = world.without_token(Request::get("/api/problems").body(Body::empty()).unwrap()).await;
    assert!(Kind::ALL.iter().all(|kind| all.text.contains(&format!("href=\"{}\"", kind.uri()))));
    world.get("/api/problems/no-such-kind").await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_page_lets_nothing_in_but_its_own_style() {
    for path in ["/api/problems", "/api/problems/not-found", "/api/docs"] {
        let page = World::default().without_token(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        is_closed(&page);
    }
}

fn is_closed(page: &Reply) {
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
