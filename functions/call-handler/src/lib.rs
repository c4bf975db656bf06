//! Processes one chunk of a registered job type: calls a Lambda function or an HTTPS endpoint with its items. It also
//! sends the ping of a job type that was registered.
//!
//! - **Trigger:** the queue of chunks of registered types, filled like that of `process-item`, and of the pings that a
//!   registration asks for.
//! - **Reads and writes:** those of `process-item`, and the state that all workers of a type share: circuit breaker,
//!   rate limit and lowered concurrency. A ping reads the job type, and records its result.
//! - **Calls:** a target if and only if the stack's lists have it at that moment. Each call is sent at most once.
//! - **Delivered twice:** the second delivery finds that the cursor has moved and adds nothing. Items after the last
//!   commit are sent to the handler again, under the same keys. A ping counts for the version that asked for it.
//! - **If it fails:** as in `process-item`. A call that this stack cannot make, for example because its root secret
//!   cannot be read, fails the message and says nothing about the handler.
//! - **Paused:** as in `process-item`, and no call begins. Items without an answer spend no try.
//! - **Never:** counts what the handler has not said; begins a call that could outlast the function; calls a handler
//!   later than three seconds after it last read a closed breaker.
//!
//! The processing itself is [`longshore::chunk`], which `process-item` shares.
//!
//! | module | contents |
//! | --- | --- |
//! | `function`, `registration_ping` | the function; the ping of a registration |
//! | [`handlers`] | calls of either kind of target |
//! | `lambda`, [`endpoints`] | calls of Lambda functions; calls of HTTPS endpoints |
//! | `trace` | the trace of a call |

pub mod endpoints;
mod function;
pub mod handlers;
mod lambda;
mod registration_ping;
mod trace;

pub use function::{CallHandler, HandlerMessage, serve};
pub use registration_ping::{PingError, PingedRegistration, ping_registration};
