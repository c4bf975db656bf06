//! A worker and a remote handler: each kind of answer, with the counts, the report's entries and the calls that follow.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step fails the test")]

mod answers;
mod faults;
mod limits;
mod max_cost;
mod pauses;
mod scripted;
mod waits;
mod world;
