//! API Gateway's own responses, returned instead of a function's, with a fixed body.

use std::collections::BTreeMap;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{PartialSchema, ToSchema};

use super::headers::BearerChallenge;

/// The error body of API Gateway, for a call that it refuses, or to which no function responds.
#[derive(Debug, ToSchema)]
pub struct GatewayError {
    /// The reason, in API Gateway's words.
    #[schema(examples("Unauthorized", "Forbidden", "Too Many Requests", "Service Unavailable"))]
    pub message: String,
}

/// Returns the responses with a status of their own, by the names that operations refer to.
pub(super) fn responses() -> BTreeMap<String, RefOr<Response>> {
    let challenge = HeaderBuilder::new().schema(Some(BearerChallenge::schema())).build();
    let no_token =
        "The token is missing, malformed, expired, or of another issuer or audience. Returned by API Gateway itself.";
    let too_many = "More calls than the deployment allows. Returned by API Gateway itself; retry after a second.";
    let unavailable =
        "No function could be started, or none responded in time. Returned by API Gateway itself; retry the call.";
    [
        ("NoToken", response(no_token, "Unauthorized").header("WWW-Authenticate", challenge)),
        ("TooMany", response(too_many, "Too Many Requests")),
        ("Unavailable", response(unavailable, "Service Unavailable")),
    ]
    .map(|(name, response)| (name.to_owned(), RefOr::T(response.build())))
    .into()
}

fn response(description: &str, message: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(description).content("application/json", body(message))
}

/// Returns the gateway's body with this message.
pub(super) fn body(message: &str) -> Content {
    let schema = Ref::from_schema_name(GatewayError::name());
    ContentBuilder::new().schema(Some(schema)).example(Some(serde_json::json!({ "message": message }))).build()
}
