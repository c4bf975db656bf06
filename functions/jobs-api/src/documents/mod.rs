//! Documents about the API, for people and for tools: the OpenAPI document, the page made of it, and a page for each kind
//! of problem, to which the `type` of a problem leads.
//!
//! They are public: a browser follows a link without a token. They say nothing of anybody.

mod page;
pub(crate) mod problems;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::openapi::{CachePublic, EntityTag};

use crate::etag;
use crate::openapi::parameters::IfNoneMatchHeader;
use crate::openapi::refusals::DocumentRefusals;

/// What `cargo xtask openapi` makes of the code. A test holds that it is up to date.
const OPENAPI: &[u8] = include_bytes!("../../../../docs/openapi.json");

/// The page of it, made by the same command.
const PAGE: &[u8] = include_bytes!("../../../../docs/api/page.html");

/// Good for tools that ask often, short enough that a new deployment is seen soon.
const CACHE: &str = "public, max-age=300";

/// The API's own document, as it is committed; 304 if the client has it already.
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
            description = "The client has it.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        DocumentRefusals,
    ),
    security(()),
)]
pub(crate) async fn openapi(headers: HeaderMap) -> Response {
    answer(&headers, "application/json", OPENAPI)
}

/// The document as a page for people.
#[utoipa::path(
    get,
    path = "/api/docs",
    operation_id = "getDocs",
    tag = "documents",
    summary = "Read about all calls.",
    description = "A page for people, without scripts.",
    params(IfNoneMatchHeader),
    responses(
        (
            status = 200,
            description = "A page.",
            body = String,
            content_type = "text/html",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        (
            status = 304,
            description = "The client has it.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        DocumentRefusals,
    ),
    security(()),
)]
pub(crate) async fn docs(headers: HeaderMap) -> Response {
    page::framed(&headers, PAGE)
}

/// A document that changes with a deployment only.
fn answer(headers: &HeaderMap, content_type: &'static str, body: &[u8]) -> Response {
    let tag = etag::for_bytes(body);
    let known = etag::is_known(headers, &tag);
    let about = AppendHeaders([(header::CACHE_CONTROL, CACHE.to_owned()), (header::ETAG, tag)]);
    if known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, [(header::CONTENT_TYPE, content_type)], body.to_vec()).into_response()
}
