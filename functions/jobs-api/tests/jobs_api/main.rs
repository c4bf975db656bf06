//! The HTTP API of jobs through its router, on fakes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test's own step that fails ends the test")]

mod create;
mod openapi;
mod read;
mod retry;
mod tenants;
mod unsent;
mod world;
