//! The HTTP API of dead letters, on fakes, and the template's alarms for dead letters.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod alarms;
mod list;
mod replay;
mod resolve;
mod world;
