//! The whole document: the parts that belong to no single function, and the merge with those of the functions.

use std::collections::BTreeMap;

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, OpenApi, RefOr};
use utoipa::{Modify, OpenApi as _};

use super::gateway::{self, GatewayError};
use super::refusals;
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
