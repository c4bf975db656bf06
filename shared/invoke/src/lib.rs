//! Invocations of Lambda functions that are handlers of job types. An invocation is sent at most once.
//!
//! | module | contents |
//! | --- | --- |
//! | `functions` | the client of each region, and an invocation |
//! | `invoked` | what came back from an invocation |
//! | `answer_limit` | the limit of an answer's size, while it is read |

mod answer_limit;
mod functions;
mod invoked;

pub use functions::{Functions, Invocation};
pub use invoked::{Invoked, Refused};
