//! The shared parts of the HTTP API's document (OpenAPI 3.1).
//!
//! Each function describes its own calls beside their handlers (`#[utoipa::path]`, `#[derive(ToSchema)]`), and
//! [`document`] joins the parts. This happens on a developer's machine only: `cargo xtask openapi` writes the
//! document to `docs/openapi.json`, and `jobs-api` serves those bytes. The describing code is not linked into a
//! function, because no function calls it.

mod gateway;
mod headers;
mod parameters;
mod refusals;

use std::collections::BTreeMap;

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, OpenApi, RefOr};
use utoipa::{Modify, OpenApi as _};

pub use gateway::GatewayError;
pub use headers::{
    BearerChallenge, CacheNoCache, CacheNoStore, CachePublic, ComeAgainSeconds, EntityTag, NextPage, OnePath, OneUrl,
    RetryAfterSeconds, VaryAccept,
};
pub use parameters::{IdempotencyKeyHeader, PageCursor};
pub use refusals::{Responses, refused, refused_publicly, refused_to_others};

use crate::problem::{FieldError, Kind, ProblemDocument};

/// The security scheme of every call that needs a token.
pub const TOKEN: &str = "token";

/// Returns the whole document, merged from each function's description of its own calls.
pub fn document(parts: impl IntoIterator<Item = OpenApi>) -> OpenApi {
    parts.into_iter().fold(BaseDocument::openapi(), OpenApi::merge_from)
}

/// The parts of the document that belong to no single function.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Longshore",
        description = include_str!("about.md"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/")),
    security(("token" = [])),
    tags(
        (name = "uploads", description = "Files, put by the client straight into S3."),
        (name = "jobs", description = "Work over every row of a file, with exact progress."),
        (name = "records", description = "What imports have written."),
        (name = "dead letters", description = "Messages that were received too often. For operators, who see all tenants'."),
        (name = "documents", description = "This document, and the pages about it. They need no token."),
    ),
    components(schemas(ProblemDocument, FieldError, GatewayError)),
    modifiers(&Shared),
)]
struct BaseDocument;

/// Adds the parts that the derive cannot express.
struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut OpenApi) {
        let components = document.components.get_or_insert_with(Components::new);
        components.add_security_scheme(TOKEN, token());
        components.examples = examples();
        components.responses = gateway::responses();
    }
}

fn token() -> SecurityScheme {
    let mut scheme = Http::new(HttpAuthScheme::Bearer);
    scheme.bearer_format = Some("JWT".to_owned());
    scheme.description = Some(include_str!("token.md").trim_end().to_owned());
    SecurityScheme::Http(scheme)
}

/// Returns one example problem of each kind.
fn examples() -> BTreeMap<String, RefOr<utoipa::openapi::example::Example>> {
    let example = |kind: &Kind| (kind.name().to_owned(), RefOr::T(refusals::example(*kind)));
    Kind::ALL.iter().map(example).collect()
}
