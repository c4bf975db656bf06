//! The OpenAPI document: its common parts, merged with the descriptions of the functions.

use std::collections::BTreeMap;

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, OpenApi, RefOr};
use utoipa::{Modify, OpenApi as _};

use super::responses::{self, GatewayError};
use crate::field_error::FieldError;
use crate::problem::{Kind, ProblemDocument};

/// The security scheme of every call that needs a token.
pub const TOKEN: &str = "token";

/// Returns the whole document, merged from each function's description of its own calls.
pub fn document(parts: impl IntoIterator<Item = OpenApi>) -> OpenApi {
    parts.into_iter().fold(BaseDocument::openapi(), OpenApi::merge_from)
}

/// The common parts of the document.
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
        (name = "uploads", description = "Files that clients upload directly to S3."),
        (name = "jobs", description = "Processing of every row of a file, with exact progress."),
        (name = "events", description = "Starts, waits and ends of jobs, and webhooks that were disabled."),
        (name = "webhooks", description = "Endpoints that are called with events, and the deliveries to them."),
        (name = "schedules", description = "Jobs that are created repeatedly, or once at a set time."),
        (name = "records", description = "Records that imports have written."),
        (name = "job types", description = "Job types of handlers in any language, registered by operators."),
        (name = "operations", description = "Jobs, failures, queues and handlers of all tenants. For operators only."),
        (name = "dead letters", description = "Messages whose processing failed repeatedly. For operators only."),
        (name = "documents", description = "This document and its pages. They require no token."),
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
        components.responses = responses::of_gateway();
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
    let example = |kind: &Kind| (kind.name().to_owned(), RefOr::T(responses::example(*kind)));
    Kind::ALL.iter().map(example).collect()
}
