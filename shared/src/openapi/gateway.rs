//! API Gateway's own responses: sent before or in place of a function, with a fixed body.

use std::collections::BTreeMap;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{PartialSchema, ToSchema};

use super::headers::BearerChallenge;

/// The error body of API Gateway if it does not pass a call on, or gets no response to it.
#[derive(Debug, ToSchema)]
pub struct GatewayError {
    /// The reason, as API Gateway words it.
    #[schema(examples("Unauthorized", "Forbidden", "Too Many Requests", "Service Unavailable"))]
    pub message: String,
}

/// Returns the responses with a status of their own, by the names that operations refer to.
pub(super) fn responses() -> BTreeMap<String, RefOr<Response>> {
    let challenge = HeaderBuilder::new().schema(Some(BearerChallenge::schema())).build();
    let no_token =
        "No token, or one that is malformed, expired, or of another issuer or audience. The gateway's own answer.";
    let too_many = "More calls than the deployment allows. The gateway's own answer; wait a second.";
    let unavailable = "No function could be started, or none answered in time. The gateway's own answer; ask again.";
    [
        ("NoToken", reported(no_token, "Unauthorized").header("WWW-Authenticate", challenge)),
        ("TooMany", reported(too_many, "Too Many Requests")),
        ("Unavailable", reported(unavailable, "Service Unavailable")),
    ]
    .map(|(name, response)| (name.to_owned(), RefOr::T(response.build())))
    .into()
}

fn reported(description: &str, message: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(description).content("application/json", body(message))
}

/// Returns the gateway's body with this message.
pub(super) fn body(message: &str) -> Content {
    let schema = Ref::from_schema_name(GatewayError::name());
    ContentBuilder::new().schema(Some(schema)).example(Some(serde_json::json!({ "message": message }))).build()
}
