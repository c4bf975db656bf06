//! Answers with a document that changes only with a deployment, and the frame of every HTML page: one style for light
//! and dark mode, and a policy that blocks all other content.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::etag;

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

/// Long enough for tools that poll, short enough that a new deployment is visible soon.
const CACHE: &str = "public, max-age=300";

/// Returns the document, or 304 if the client has it already.
pub(super) fn answer(headers: &HeaderMap, content_type: &'static str, body: &[u8]) -> Response {
    let tag = etag::for_bytes(body);
    let known = etag::is_known(headers, &tag);
    let about = AppendHeaders([(header::CACHE_CONTROL, CACHE.to_owned()), (header::ETAG, tag)]);
    if known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, [(header::CONTENT_TYPE, content_type)], body.to_vec()).into_response()
}
