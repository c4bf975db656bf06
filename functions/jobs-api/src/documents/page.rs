//! The frame of every HTML page: one style for light and dark mode, and a policy that blocks all other content.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::answer::answer;

/// Shared with the page that `cargo xtask openapi` generates.
const STYLE: &str = include_str!("../../../../docs/api/style.css");

/// Renders a page with this title and contents.
pub(super) fn page(headers: &HeaderMap, title: &str, contents: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - Longshore" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (contents) } }
        }
    };
    framed(headers, page.into_string().as_bytes())
}

/// Answers with a complete page, and the headers of a page.
pub(super) fn framed(headers: &HeaderMap, page: &[u8]) -> Response {
    let mut response = answer(headers, "text/html; charset=utf-8", page);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(STYLE))
    );
    // The policy is always ASCII. If it were not, the page would lose its style rather than its policy.
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let about: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    response.headers_mut().extend(about);
    response
}
