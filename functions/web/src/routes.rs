//! Calls of this function: the page's views, files and settings.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use longshore::http;
use longshore::problem::Problem;

use crate::settings::Settings;
use crate::{answer, policy};

longshore::routes! {
    [] Arc<Settings>;
    GET "/"                    view,
    GET "/jobs"                view,
    GET "/jobs/{jobId}"        view,
    GET "/datasets"            view,
    GET "/datasets/{dataset}"  view,
    GET "/types"               view,
    GET "/types/{name}"        view,
    GET "/schedules"           view,
    GET "/schedules/{scheduleId}" view,
    GET "/webhooks"            view,
    GET "/webhooks/{webhookId}" view,
    GET "/operations"          view,
    GET "/operations/{part}"   view,
    GET "/assets/{file}"       asset,
    GET "/config.json"         config,
}

/// Returns the function as a router.
pub fn router(settings: Settings) -> Router {
    let policy = policy::headers(&settings);
    let router = http::with_problems(routes()).with_state(Arc::new(settings));
    router.layer(map_response(move |mut response: Response| {
        response.headers_mut().extend(policy.clone());
        std::future::ready(response)
    }))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve() -> Result<(), lambda_http::Error> {
    http::serve("web", router(Settings::from_env()?)).await
}

/// Returns the same document for every view; the page selects the view by its address.
pub(crate) async fn view(request: HeaderMap) -> Response {
    match answer::find("index.html") {
        Some(file) => answer::file(&file, &request, "no-cache"),
        None => answer::not_built(),
    }
}

/// Returns a file whose name contains a hash of its contents, so it never changes.
pub(crate) async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    match answer::find(&format!("assets/{name}")) {
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
