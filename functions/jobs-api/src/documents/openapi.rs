//! `GET /api/openapi.json`.

use axum::http::HeaderMap;
use axum::response::Response;
use longshore::openapi::{CachePublic, EntityTag};

use super::answer::answer;
use crate::openapi::parameters::IfNoneMatchHeader;
use crate::openapi::refusals::DocumentRefusals;

/// The OpenAPI document that `cargo xtask openapi` generates from the code. A test checks that it is up to date.
const OPENAPI: &[u8] = include_bytes!("../../../../docs/openapi.json");

/// Returns the OpenAPI document as committed; 304 if the client has it already.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    operation_id = "getOpenApi",
    tag = "documents",
    summary = "Read this document.",
    params(IfNoneMatchHeader),
    responses(
        (
            status = 200,
            description = "The API, in OpenAPI 3.1.",
            body = Object,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        (
            status = 304,
            description = "The client has the current version.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        DocumentRefusals,
    ),
    security(()),
)]
pub(crate) async fn openapi(headers: HeaderMap) -> Response {
    answer(&headers, "application/json", OPENAPI)
}
