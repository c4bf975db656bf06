//! Responses that are not cached.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Returns 200 with a document, which is not cached.
pub fn no_store(document: impl Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response()
}
