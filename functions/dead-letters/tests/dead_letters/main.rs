//! The HTTP API of dead letters, over in-memory services, and the template's alarms for dead letters.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod alarms;
mod list;
mod resolve;
mod world;
