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
