//! Calls of this function: the page's views, files and settings.

use std::sync::Arc;

use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use longshore::http;

use crate::settings::Settings;
use crate::{handlers, policy};

longshore::routes! {
    [] Arc<Settings>;
    GET "/"                    handlers::view,
    GET "/jobs"                handlers::view,
    GET "/jobs/{jobId}"        handlers::view,
    GET "/datasets"            handlers::view,
    GET "/datasets/{dataset}"  handlers::view,
    GET "/assets/{file}"       handlers::asset,
    GET "/config.json"         handlers::config,
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
