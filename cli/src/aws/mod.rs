//! Queries of a deployed stack, with the AWS SDK.
//!
//! | module | content |
//! | --- | --- |
//! | [`session`] | session with an account; quota of the account |
//! | [`inventory`] | a stack with its status, parameters, outputs and resources |
//! | [`target`] | the options that name a stack, and its look-up |
//! | [`pool`] | users of a user pool |
//! | [`tables`] | indexes of a stack's tables |
//! | `failure` | the message of a failed call |

mod failure;
pub mod inventory;
pub mod pool;
pub mod session;
pub mod tables;
pub mod target;

pub use failure::failed;
pub(crate) use failure::with_advice;
