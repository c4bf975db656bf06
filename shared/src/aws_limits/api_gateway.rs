//! Limits of API Gateway's HTTP APIs.

super::limit::limits! {
    "API Gateway";
    /// Time in which an integration must answer; then the caller gets 503.
    INTEGRATION_SECONDS = 30, "s", "https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html";
    /// Size of a payload.
    PAYLOAD_BYTES = 10 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html";
    /// Size of request line and header values together.
    HEADER_BYTES = 10_240, "bytes", "https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html";
}
