//! Limits of the AWS services, each with its source, and checks that refuse the same calls as the services.
//!
//! The adapters keep their calls within these limits. The in-memory services and the proxy in front of the local
//! emulator use the same checks, so that a call beyond a limit fails in tests as it fails on AWS.
//! `docs/aws-limits.md` shows the same table as a page.

pub mod dynamodb;
mod limit;
pub mod s3;
pub mod sqs;
mod table;

pub use limit::{Limit, Refusal};
pub use table::table;

pub mod api_gateway {
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
}

pub mod lambda {
    //! Limits of Lambda.

    super::limit::limits! {
        "Lambda";
        /// Size of the answer of a synchronous invocation; its request has the same limit.
        ANSWER_BYTES = 6 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html";
        /// Size of the payload of an asynchronous invocation.
        ASYNC_PAYLOAD_BYTES = 1024 * 1024, "bytes", "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html";
        /// Time that an invocation may take.
        TIMEOUT_SECONDS = 900, "s", "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html";
        /// Calls of one function in one chain of requests through SQS before Lambda stops the chain, unless `RecursiveLoop` is `Allow`. AWS says "approximately".
        RECURSIVE_CALLS = 16, "calls", "https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html";
    }
}
