//! Queries of a deployed stack, with the AWS SDK.
//!
//! | module | content |
//! | --- | --- |
//! | [`stack`] | session with an account; status, outputs, functions, parameters of a stack; quota of the account |
//! | [`pool`] | users of a user pool |
//! | `failure` | the message of a failed call |

mod failure;
pub mod pool;
pub mod stack;

pub use failure::failed;
pub(crate) use failure::with_advice;
