//! The problems that a call can return, as the responses of its operation: each status with its kinds, their
//! meanings, and an example of each.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{PartialSchema, ToSchema};

use super::gateway;
use super::headers::RefusalRetryAfter;
use crate::field_error::FieldError;
use crate::problem::{Kind, Problem, ProblemDocument};

/// Responses by status.
pub type Responses = BTreeMap<String, RefOr<Response>>;

/// Defines the problems of a call, in addition to those of every call (`NoTenant`, `Internal`, `Unavailable`, sizes
/// that are too large, and the gateway's responses). Usage: `refusals!(Refusals: NotFound, JobEnded);`, and then
/// `responses(Refusals, …)`. With `public`, the call needs no token; with `operator`, the call is for operators.
#[macro_export]
macro_rules! refusals {
    ($(#[$doc:meta])* public $name:ident: $($kind:ident),*) => {
        $crate::refusals!(@impl [$(#[$doc])*] $name refused_publicly [$($kind),*]);
    };
    ($(#[$doc:meta])* operator $name:ident: $($kind:ident),*) => {
        $crate::refusals!(@impl [$(#[$doc])*] $name refused_to_others [$($kind),*]);
    };
    ($(#[$doc:meta])* $name:ident: $($kind:ident),*) => {
        $crate::refusals!(@impl [$(#[$doc])*] $name refused [$($kind),*]);
    };
    (@impl [$(#[$doc:meta])*] $name:ident $of:ident [$($kind:ident),*]) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl utoipa::IntoResponses for $name {
            fn responses() -> $crate::openapi::Responses {
                $crate::openapi::$of(&[$($crate::problem::Kind::$kind),*])
            }
        }
    };
}

/// Returns the refusals of a call that needs a token: these kinds, `no-tenant`, `rate-limited`, `internal`, and the
/// gateway's responses.
pub fn refused(kinds: &[Kind]) -> Responses {
    with_token(&[kinds, &[Kind::NoTenant, Kind::RateLimited]].concat())
}

/// Returns the refusals of a call for operators: these kinds, `not-an-operator`, `internal`, and the gateway's
/// responses.
pub fn refused_to_others(kinds: &[Kind]) -> Responses {
    with_token(&[kinds, &[Kind::NotAnOperator]].concat())
}

fn with_token(kinds: &[Kind]) -> Responses {
    let mut all = refused_publicly(kinds);
    all.insert("401".to_owned(), Ref::from_response_name("NoToken").into());
    all
}

/// Returns the refusals of a call that needs no token.
pub fn refused_publicly(kinds: &[Kind]) -> Responses {
    let mut by_status = BTreeMap::<u16, Vec<Kind>>::new();
    let of_every_call =
        [Kind::BodyTooLarge, Kind::HeadersTooLarge, Kind::Internal, Kind::Unavailable, Kind::UriTooLong];
    let others = of_every_call.into_iter().filter(|kind| !kinds.contains(kind));
    for kind in kinds.iter().copied().chain(others) {
        by_status.entry(kind.about().status).or_default().push(kind);
    }
    let problems = by_status.into_iter().map(|(status, kinds)| (status.to_string(), response(status, &kinds).into()));
    let gateway = [("429", "TooMany"), ("503", "Unavailable")];
    let gateway = gateway.map(|(status, name)| (status.to_owned(), Ref::from_response_name(name).into()));
    // Problems with a status of the gateway replace the gateway's response, and describe it too.
    gateway.into_iter().chain(problems).collect()
}

fn response(status: u16, kinds: &[Kind]) -> Response {
    let meanings: Vec<_> = kinds.iter().map(|kind| format!("`{}`: {}", kind.name(), kind.about().meaning)).collect();
    let mut response = ResponseBuilder::new().content("application/problem+json", problem(kinds));
    if matches!(status, 429 | 503) || kinds.contains(&Kind::UploadIncomplete) {
        let retry_after = HeaderBuilder::new().schema(Some(RefusalRetryAfter::schema()));
        response = response.header("Retry-After", retry_after.description(Some("Seconds, with a problem.")).build());
    }
    let (description, response) = match gateway_message(status) {
        None => (meanings.join("\n\n"), response),
        Some(message) => {
            let description =
                format!("{}\n\nAs `application/json`, returned by API Gateway itself.", meanings.join("\n\n"));
            (description, response.content("application/json", gateway::body(message)))
        }
    };
    response.description(description).build()
}

/// Returns the gateway's message for a status that both the gateway and functions return.
fn gateway_message(status: u16) -> Option<&'static str> {
    match status {
        403 => Some("Forbidden"),
        413 => Some("Request Entity Too Large"),
        429 => Some("Too Many Requests"),
        500 => Some("Internal Server Error"),
        503 => Some("Service Unavailable"),
        _ => None,
    }
}

fn problem(kinds: &[Kind]) -> Content {
    let examples = kinds.iter().map(|kind| {
        let to = format!("#/components/examples/{}", kind.name());
        (kind.name().to_owned(), RefOr::Ref(Ref::new(to)))
    });
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ProblemDocument::name())))
        .examples_from_iter::<_, String, RefOr<Example>>(examples)
        .build()
}

/// Returns an example problem of a kind.
pub(super) fn example(kind: Kind) -> Example {
    let about = kind.about();
    let problem = match kind {
        Kind::InvalidRequest => Problem::invalid(vec![bad_limit()]),
        _ => Problem::new(kind, about.meaning),
    };
    ExampleBuilder::new().summary(about.title).value(Some(body(problem))).build()
}

fn bad_limit() -> FieldError {
    FieldError::new("/limit", "invalid_limit", "limit must be a whole number from 1 to 100")
}

fn body(problem: Problem) -> Value {
    let request_id = Some("8f7c0f6e-3f0e-4c57-9b1f-6a0c2f1d9e55".to_owned());
    json!(Problem { request_id, ..problem }.to_json())
}
