//! The HTTP API of operators, over in-memory services, and the template's alarms for dead letters.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod alarms;
mod failures;
mod jobs;
mod list;
mod log;
mod pauses;
mod read_only;
mod resolve;
mod retries;
mod states;
mod world;
