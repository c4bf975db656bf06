//! Longshore runs long web jobs - imports, exports, any work over many items - on AWS Lambda with exact progress.
//!
//! This crate is everything that knows AWS, HTTP or the environment, and the trait that a team implements to add a
//! job type of its own ([`handler::JobType`]). The rules without I/O are in `longshore-domain`.

pub mod handler;
pub mod problem;
