//! The HTTP API of operators, over in-memory services, and the template's alarms for dead letters.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod alarms;
mod dead_letters;
mod failures;
mod handlers;
mod jobs;
mod log;
mod pauses;
mod queues;
mod read_only;
mod retries;
mod webhooks;
mod world;
