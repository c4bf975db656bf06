//! Deliveries, checks and replays over the store in memory.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod attempts;
mod checks;
mod endpoints;
mod world;
