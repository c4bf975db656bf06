//! Processes one chunk of a registered job type: calls a Lambda function or an HTTPS endpoint with its items.
//!
//! - **Trigger:** the queue of chunks of registered types, filled like that of `process-item`.
//! - **Reads and writes:** those of `process-item`, and the state that all workers of a type share: circuit breaker,
//!   rate limit and lowered concurrency.
//! - **Delivered twice:** the second delivery finds that the cursor has moved and adds nothing. Items after the last
//!   commit are sent to the handler again, under the same keys.
//! - **Never:** counts what the handler has not said; begins a call that could outlast the function; calls a handler
//!   later than three seconds after it last read a closed breaker.
//!
//! The processing itself is [`longshore::chunk`], which `process-item` shares.
