//! Queries of a deployed stack, with the AWS SDK.
//!
//! | module | content |
//! | --- | --- |
//! | [`session`] | region, credentials and endpoint, and a runtime for the calls |
//! | [`stack`] | status, outputs, functions and parameters of a stack; the account's quota of concurrent executions |
//! | [`pool`] | users of a user pool |
//! | `failure` | the message of a failed call |

mod failure;
pub mod pool;
pub mod session;
pub mod stack;

pub use failure::failed;
