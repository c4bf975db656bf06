//! Shared parts of the HTTP functions: reading requests, returning problems, running a router on Lambda.
//!
//! Every error that a client sees is `application/problem+json`, including the framework's own: an unknown path, a
//! wrong method, a body, a header or a URI that is too long, malformed JSON. An internal error is logged once with its
//! cause, and the response does not contain the cause. Every problem contains the id of its request, and a valid
//! `traceparent` is returned unchanged. The log records of the request, and a job that it creates, belong to its trace.

mod body;
mod call_limit;
mod caller;
mod failure;
pub mod idempotency;
mod lambda;
mod large_member;
mod no_store;
mod operator;
pub mod paging;
mod parameters;
mod routes;
mod tenant;
mod trace;

pub use body::{Bad, Checked, Fields, JsonFields, OptionalFields, read_json};
pub use call_limit::{CallCost, CallLimit, count_work_call, rate_limited, with_call_limit};
pub use caller::Caller;
pub use failure::Failure;
pub use lambda::serve;
pub use large_member::split_large_member;
pub use no_store::no_store;
pub use operator::{Operator, Operators, Viewer, with_operators};
pub use parameters::{PathText, PathTexts, QueryText};
pub use routes::{MAX_BODY, with_problems};
pub use tenant::{Access, Tenant, with_access};
pub use trace::caller_trace;

/// The result of every handler.
pub type Answer = Result<axum::response::Response, Failure>;
