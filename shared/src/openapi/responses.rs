//! Parts of the responses of several functions' calls: headers, the gateway's own responses, and problems.
//!
//! The problems that a call can return are responses of its operation: each status with its kinds, their meanings, and
//! an example of each. API Gateway returns its own responses instead of a function's, with a fixed body.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{Schema, Type};
use utoipa::openapi::{Content, ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, SchemaFormat};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::field_error::FieldError;
use crate::problem::{Kind, Problem, ProblemDocument};

/// Names a header's value, so that operations can refer to it as `inline(Name)`.
macro_rules! header {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                RefOr::T(Schema::Object($schema.build()))
            }
        }

        impl ToSchema for $name {}
    };
}

header!(
    /// A path of this API.
    OnePath,
    text().format(Some(SchemaFormat::Custom("uri-reference".to_owned())))
);
header!(
    /// An absolute URL.
    OneUrl,
    text().format(Some(SchemaFormat::Custom("uri".to_owned())))
);
header!(
    /// Seconds until the next poll; see `poll_interval` in `jobs-api`.
    RetryAfterSeconds,
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(30))
);
header!(
    /// Seconds after which a refused call can be retried: at most until the end of the day.
    RefusalRetryAfter,
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(86_400))
);
header!(
    /// A strong entity tag (RFC 9110).
    EntityTag,
    text().pattern(Some("^\"[!#-~]*\"$")).examples(["\"0f1e2d3c4b5a69788796a5b4\""])
);
header!(
    /// `Link` to the next page (RFC 8288).
    NextPage,
    text().pattern(Some("^<[^>]+>; rel=\"next\"$")).examples(["</api/jobs?limit=20&cursor=MTc4>; rel=\"next\""])
);
header!(
    /// The challenge that API Gateway sends with a 401.
    BearerChallenge,
    text().examples(["Bearer"])
);
header!(
    /// The response is not cached.
    CacheNoStore,
    text().enum_values(Some(["no-store"]))
);
header!(
    /// A browser may store the response, but must revalidate it before each use.
    CacheNoCache,
    text().enum_values(Some(["private, no-cache"]))
);
header!(
    /// Any cache may store the response for five minutes.
    CachePublic,
    text().enum_values(Some(["public, max-age=300"]))
);
header!(
    /// The response depends on `Accept`.
    VaryAccept,
    text().enum_values(Some(["accept"]))
);

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// `Idempotency-Key`, as parsed by `http::idempotency`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKeyHeader {
    /// Key that the client chooses for one request, for example a UUID. It is kept for 24 hours. Reuse for another
    /// request is refused with 422. Keys of jobs and of uploads are independent. A refused request does not use its
    /// key.
    #[param(
        rename = "Idempotency-Key",
        required = false,
        min_length = 1,
        max_length = 255,
        pattern = "^[!-~]([ -~]*[!-~])?$",
        example = "7f9c24e5-2f0c-4f6e-9d36-0d6f3e6b7a11"
    )]
    pub idempotency_key: String,
}

/// `cursor`, as encoded by `http::paging`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageCursor {
    /// The `nextCursor` of the previous page.
    #[param(required = false, min_length = 1, pattern = "^[A-Za-z0-9_-]+$")]
    pub cursor: String,
}

/// The error body of API Gateway, for a call that it refuses, or to which no function responds.
#[derive(Debug, ToSchema)]
pub struct GatewayError {
    /// The reason, in API Gateway's words.
    #[schema(examples("Unauthorized", "Forbidden", "Too Many Requests", "Service Unavailable"))]
    pub message: String,
}

/// Returns the responses with a status of their own, by the names that operations refer to.
pub(super) fn of_gateway() -> BTreeMap<String, RefOr<Response>> {
    let challenge = HeaderBuilder::new().schema(Some(BearerChallenge::schema())).build();
    let no_token =
        "The token is missing, malformed, expired, or of another issuer or audience. Returned by API Gateway itself.";
    let too_many = "More calls than the deployment allows. Returned by API Gateway itself; retry after a second.";
    let unavailable =
        "No function could be started, or none responded in time. Returned by API Gateway itself; retry the call.";
    [
        ("NoToken", gateway_response(no_token, "Unauthorized").header("WWW-Authenticate", challenge)),
        ("TooMany", gateway_response(too_many, "Too Many Requests")),
        ("Unavailable", gateway_response(unavailable, "Service Unavailable")),
    ]
    .map(|(name, response)| (name.to_owned(), RefOr::T(response.build())))
    .into()
}

fn gateway_response(description: &str, message: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(description).content("application/json", gateway_body(message))
}

/// Returns the gateway's body with this message.
fn gateway_body(message: &str) -> Content {
    let schema = Ref::from_schema_name(GatewayError::name());
    ContentBuilder::new().schema(Some(schema)).example(Some(json!({ "message": message }))).build()
}

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
    let has_wait = kinds.iter().any(|kind| matches!(kind, Kind::UploadIncomplete | Kind::UndoTooEarly));
    if matches!(status, 429 | 503) || has_wait {
        let retry_after = HeaderBuilder::new().schema(Some(RefusalRetryAfter::schema()));
        response = response.header("Retry-After", retry_after.description(Some("Seconds, with a problem.")).build());
    }
    let (description, response) = match gateway_message(status) {
        None => (meanings.join("\n\n"), response),
        Some(message) => {
            let description =
                format!("{}\n\nAs `application/json`, returned by API Gateway itself.", meanings.join("\n\n"));
            (description, response.content("application/json", gateway_body(message)))
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
