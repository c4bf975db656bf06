//! The shared parts of the HTTP API's document (OpenAPI 3.1).
//!
//! Each function describes its own calls beside their handlers (`#[utoipa::path]`, `#[derive(ToSchema)]`), and
//! [`document()`] merges the descriptions. This happens only on a developer's machine: `cargo xtask openapi` writes the
//! document to `docs/openapi.json`, and `jobs-api` serves that file. The descriptions are not linked into a function,
//! because no function uses them.

mod document;
mod responses;

pub use document::{TOKEN, document};
pub use responses::{
    BearerChallenge, CacheNoCache, CacheNoStore, CachePublic, EntityTag, GatewayError, IdempotencyKeyHeader, NextPage,
    OnePath, OneUrl, PageCursor, RefusalRetryAfter, Responses, RetryAfterSeconds, VaryAccept, refused,
    refused_publicly, refused_to_others,
};
