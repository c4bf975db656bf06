//! The shared parts of the HTTP API's document (OpenAPI 3.1).
//!
//! Each function describes its own calls beside their handlers (`#[utoipa::path]`, `#[derive(ToSchema)]`), and
//! [`document`] joins the parts. This happens on a developer's machine only: `cargo xtask openapi` writes the
//! document to `docs/openapi.json`, and `jobs-api` serves those bytes. The describing code is not linked into a
//! function, because no function calls it.

mod document;
mod gateway;
mod headers;
mod refusals;

pub use document::{TOKEN, document};
pub use gateway::GatewayError;
pub use headers::{
    BearerChallenge, CacheNoCache, CacheNoStore, CachePublic, ComeAgainSeconds, EntityTag, IdempotencyKeyHeader,
    NextPage, OnePath, OneUrl, PageCursor, RetryAfterSeconds, VaryAccept,
};
pub use refusals::{Responses, refused, refused_publicly, refused_to_others};
