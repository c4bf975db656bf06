//! `GET /api/problems` and `GET /api/problems/{kind}`: the meaning of each problem, and how to fix it.

use axum::http::HeaderMap;
use axum::response::Response;
use longshore::http::{Answer, PathText};
use longshore::openapi::{CachePublic, EntityTag};
use longshore::problem::{CODES, Kind, PAGES, Problem};
use maud::{Markup, html};

use super::page::page;
use crate::openapi::parameters::{IfNoneMatchHeader, KindInPath};
use crate::openapi::refusals::{DocumentRefusals, KindRefusals};

/// Returns the list of all kinds of problems.
#[utoipa::path(
    get,
    path = "/api/problems",
    operation_id = "listProblems",
    tag = "documents",
    summary = "List the kinds of problems.",
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
            description = "The client has the current version.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        DocumentRefusals,
    ),
    security(()),
)]
pub(crate) async fn kinds(headers: HeaderMap) -> Response {
    let rows = Kind::ALL.iter().map(|kind| (kind, kind.about()));
    let contents = html! {
        h1 { "Problems" }
        p {
            "Every error is " code { "application/problem+json" } " (RFC 9457). Its " code { "type" }
            " is one of the following, and links to its page."
        }
        table {
            thead { tr { th { "type" } th { "status" } th { "title" } } }
            tbody {
                @for (kind, about) in rows {
                    tr { td { a href=(kind.uri()) { code { (kind.uri()) } } } td { (about.status) } td { (about.title) } }
                }
            }
        }
        p { a href="/api/docs" { "All calls" } }
    };
    page(&headers, "Problems", &contents)
}

/// Describes one kind of problem; 404 if the kind does not exist.
#[utoipa::path(
    get,
    path = "/api/problems/{kind}",
    operation_id = "getProblem",
    tag = "documents",
    summary = "Read the meaning and the solution of a problem.",
    description = "The `type` of a problem is the path of its page.",
    params(KindInPath, IfNoneMatchHeader),
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
            description = "The client has the current version.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CachePublic))),
        ),
        KindRefusals,
    ),
    security(()),
)]
pub(crate) async fn kind(PathText(name): PathText, headers: HeaderMap) -> Answer {
    let kind = Kind::named(&name).ok_or_else(|| Problem::not_found("kind of problem"))?;
    let about = kind.about();
    let contents = html! {
        h1 { (about.title) }
        p { span.status { (about.status) } " " code { (kind.uri()) } }
        h2 { "Meaning" }
        p { (about.meaning) }
        h2 { "Solution" }
        p { (about.advice) }
        @if kind == Kind::InvalidRequest { (codes()) }
        p { a href=(PAGES) { "All problems" } " · " a href="/api/docs" { "All calls" } }
    };
    Ok(page(&headers, about.title, &contents))
}

/// Renders the table of error codes in `errors`.
fn codes() -> Markup {
    html! {
        h2 { "Codes" }
        p { "Each error in " code { "errors" } " has a stable code. A custom job type can have further codes." }
        table {
            thead { tr { th { "code" } th { "meaning" } } }
            tbody {
                @for (code, meaning) in CODES { tr { td { code { (code) } } td { (meaning) } } }
            }
        }
    }
}
