//! The contract with remote handlers: job types in any language, as a Lambda function or an HTTPS endpoint.
//!
//! A worker sends a batch of items as JSON and gets an answer as JSON. Silence is never success: only what the answer
//! says about a key is counted. Everything here is a pure function; the JSON Schemas and the description for authors of
//! handlers are in `docs/contract`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`request`], [`batch`], [`limits`] | the request, built within limits of items and bytes |
//! | [`answer`], [`answer_reader`], [`bad_answer`] | the answer, its reader, and the defects that refuse it |
//! | [`call_result`], [`call_outcome`], [`fault`] | results of calls, and what follows from them |
//! | [`bisection`] | the search for the item that makes a batch fail |
//! | [`ping`] | the ping that proves ownership and contract |
//! | [`handler_state`] | what the workers of a type share |
//! | [`breaker`], [`rate_limit`], [`adaptive_limit`] | its parts: circuit breaker, rate limit, concurrency limit |
//! | [`waiting`] | what a job waits for |
//! | [`wait`], [`excerpt`] | waits that a handler asks for; the first characters of a bad response |

pub mod adaptive_limit;
pub mod answer;
pub mod answer_reader;
pub mod bad_answer;
pub mod batch;
pub mod bisection;
pub mod breaker;
pub mod call_outcome;
pub mod call_result;
pub mod excerpt;
pub mod fault;
pub mod handler_state;
mod json;
pub mod limits;
mod object;
pub mod ping;
pub mod rate_limit;
pub mod request;
pub mod wait;
pub mod waiting;

pub use answer::{Answer, AnsweredItems, ItemOutcome};
pub use answer_reader::read_answer;
pub use bad_answer::{BadAnswer, BadAnswerReason};
pub use batch::{Batch, BatchBuilder, Pushed};
pub use bisection::{AfterFault, BatchCounts, Bisection};
pub use breaker::{Breaker, ChunkOfJob, OpenReason, PingResult};
pub use call_outcome::CallOutcome;
pub use call_result::{Backpressure, CallResult, Reply};
pub use excerpt::Excerpt;
pub use fault::{Attempts, ConnectionError, Fault, FaultCause, HANDLER_FAILED};
pub use handler_state::{HandlerState, ReadState};
pub use json::{JsonError, Kind};
pub use limits::BatchLimits;
pub use ping::{BadPing, Ping, PingOutcome};
pub use rate_limit::{ItemsPerSecond, RateRequest, Reservation, ReservedUntil};
pub use request::{Mode, RequestBatch, RequestHead, RequestItem, RequestJob};
pub use waiting::{FirstParked, WaitReason, Waiting};
