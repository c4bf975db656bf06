//! The web page: its files, and the settings of this deployment.
//!
//! - **Trigger:** calls of the HTTP API for the page. They need no token: the page signs its user in, and then calls
//!   the API.
//! - **Reads and writes:** nothing. The files are in the binary, the settings in the environment. The function's role
//!   permits only logging.
//! - **Called twice:** answers twice.
//! - **If it fails:** it uses no service that can fail. A deployment without a required setting does not start.
//! - **Never:** sees a token, a row, or any other user's data.

mod answer;
mod file;
mod policy;
mod settings;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use longshore::http;
use longshore::problem::Problem;

pub use settings::{Settings, SignIn, Token};

/// Routes of this function: the page's views, files and settings.
pub const ROUTES: [(&str, &str); 7] = [
    ("GET", "/"),
    ("GET", "/jobs"),
    ("GET", "/jobs/{jobId}"),
    ("GET", "/datasets"),
    ("GET", "/datasets/{dataset}"),
    ("GET", "/assets/{file}"),
    ("GET", "/config.json"),
];

/// Returns the function as a router.
pub fn router(settings: Settings) -> Router {
    let policy = policy::headers(&settings);
    let router = Router::new()
        .route("/", get(view))
        .route("/jobs", get(view))
        .route("/jobs/{jobId}", get(view))
        .route("/datasets", get(view))
        .route("/datasets/{dataset}", get(view))
        .route("/assets/{file}", get(asset))
        .route("/config.json", get(config));
    let router = http::with_problems(router).with_state(Arc::new(settings));
    router.layer(map_response(move |mut response: Response| {
        response.headers_mut().extend(policy.clone());
        std::future::ready(response)
    }))
}

/// Returns the same document for every view; the page selects the view by its address.
async fn view(request: HeaderMap) -> Response {
    match file::find("index.html") {
        Some(file) => answer::file(&file, &request, "no-cache"),
        None => answer::not_built(),
    }
}

/// Returns a file whose name contains a hash of its contents, so it never changes.
async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    match file::find(&format!("assets/{name}")) {
        Some(file) => answer::file(&file, &request, "public, max-age=31536000, immutable"),
        None => Problem::not_found("file").into_response(),
    }
}

async fn config(State(settings): State<Arc<Settings>>) -> Response {
    let mut response = Json(&*settings).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve() -> Result<(), lambda_http::Error> {
    http::serve("web", router(Settings::from_env()?)).await
}
