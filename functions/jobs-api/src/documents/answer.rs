//! Answers with a document that changes only with a deployment.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};

use crate::etag;

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
