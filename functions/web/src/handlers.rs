//! The calls: views, files and settings.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use longshore::problem::Problem;

use crate::settings::Settings;
use crate::{answer, file};

/// Returns the same document for every view; the page selects the view by its address.
pub(crate) async fn view(request: HeaderMap) -> Response {
    match file::find("index.html") {
        Some(file) => answer::file(&file, &request, "no-cache"),
        None => answer::not_built(),
    }
}

/// Returns a file whose name contains a hash of its contents, so it never changes.
pub(crate) async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    match file::find(&format!("assets/{name}")) {
        Some(file) => answer::file(&file, &request, "public, max-age=31536000, immutable"),
        None => Problem::not_found("file").into_response(),
    }
}

/// Returns the settings of this deployment.
pub(crate) async fn config(State(settings): State<Arc<Settings>>) -> Response {
    let mut response = Json(&*settings).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
